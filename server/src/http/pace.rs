//! Limits on slow clients: on the time from the first byte of a head to its last, and on silence between requests.
//!
//! The `header_read_timeout` of hyper is one limit for both, and the same for every client.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use snowmint_stores::host::lock;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy, sink};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::io::{InspectReader, InspectWriter};

/// The limit of bytes that are read after the end of a connection.
const MAX_UNREAD_BYTES: u64 = 1024 * 1024;
/// The pause between two checks of a client's deadline.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// From the first byte of a head to the last one.
    pub head: Duration,
    /// Silence before the first accepted request of the client.
    pub unknown: Duration,
    /// Silence after it.
    pub idle: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Silence,
    Head,
    Request,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    since: Instant,
    known: bool,
}

/// The state of a connection. Its stream and its requests report to it.
#[derive(Debug)]
pub struct Pace {
    limits: TimeLimits,
    state: Mutex<State>,
}

impl Pace {
    pub fn new(limits: TimeLimits, now: Instant) -> Arc<Self> {
        let state = State { phase: Phase::Silence, since: now, known: false };
        Arc::new(Self { limits, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Notes that a head is complete.
    pub fn asked(&self) {
        self.state().phase = Phase::Request;
    }

    /// Notes that an answer is ready, and whether the client may take numbers.
    pub fn answered(&self, known: bool, now: Instant) {
        let mut state = self.state();
        state.known |= known;
        (state.phase, state.since) = (Phase::Silence, now);
    }

    /// Notes that bytes arrived.
    fn arrived(&self, now: Instant) {
        let mut state = self.state();
        if state.phase == Phase::Silence {
            (state.phase, state.since) = (Phase::Head, now);
        }
    }

    /// Notes that the client took bytes of an answer. Meanwhile bytes of the next head had to wait.
    fn wrote(&self, now: Instant) {
        self.state().since = now;
    }

    /// Waits until the client is too slow.
    pub async fn over(&self) {
        loop {
            let now = Instant::now();
            match self.deadline() {
                Some(deadline) if deadline <= now => return,
                // The deadline changes with each request: a check each second is cheaper than a timer for each request.
                deadline => {
                    let check = now + CHECK_INTERVAL;
                    sleep_until(deadline.map_or(check, |deadline| deadline.min(check))).await;
                }
            }
        }
    }

    /// Returns the time when more bytes are due, or `None` during a request, which has its own limit.
    fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        let limit = match state.phase {
            Phase::Request => return None,
            Phase::Head => self.limits.head,
            Phase::Silence if state.known => self.limits.idle,
            Phase::Silence => self.limits.unknown,
        };
        Some(state.since + limit)
    }
}

/// Returns a stream that reports its bytes.
pub fn paced<S>(stream: S, pace: &Arc<Pace>) -> impl AsyncRead + AsyncWrite + Unpin + use<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (reading, writing) = (Arc::clone(pace), Arc::clone(pace));
    let stream = InspectWriter::new(stream, move |_| writing.wrote(Instant::now()));
    InspectReader::new(stream, move |bytes| {
        if !bytes.is_empty() {
            reading.arrived(Instant::now());
        }
    })
}

/// Closes a stream, and reads unread input for some time: a close with unread input would reset the connection, and the client
/// could lose the last answer.
pub async fn close(mut stream: impl AsyncRead + AsyncWrite + Unpin, linger: Duration) {
    // The client may be gone.
    if stream.shutdown().await.is_ok() {
        drop(timeout(linger, copy(&mut stream.take(MAX_UNREAD_BYTES), &mut sink())).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn pace(begun: Instant) -> Arc<Pace> {
        Pace::new(TimeLimits { head: seconds(10), unknown: seconds(5), idle: seconds(600) }, begun)
    }

    #[test]
    fn a_slow_head_gets_no_extra_time() {
        let begun = Instant::now();
        let pace = pace(begun);
        assert_eq!(pace.deadline(), Some(begun + seconds(5)));
        for late in 1..9 {
            pace.arrived(begun + seconds(late));
            assert_eq!(pace.deadline(), Some(begun + seconds(11)));
        }
        pace.asked();
        assert_eq!(pace.deadline(), None, "a running request has no deadline here");
    }

    #[test]
    fn only_an_accepted_request_allows_a_long_silence() {
        let begun = Instant::now();
        let pace = pace(begun);
        for (known, limit) in [(false, 5), (true, 600), (false, 600)] {
            pace.asked();
            pace.answered(known, begun + seconds(1));
            assert_eq!(pace.deadline(), Some(begun + seconds(1 + limit)));
        }
        pace.wrote(begun + seconds(2));
        assert_eq!(pace.deadline(), Some(begun + seconds(602)));
    }

    #[tokio::test]
    async fn input_on_its_way_is_read_after_the_end() {
        let (stream, mut client) = tokio::io::duplex(64);
        let sending = async move { client.write_all(&[0; 4096]).await };
        let ((), sent) = tokio::join!(close(stream, seconds(60)), sending);
        assert!(sent.is_ok(), "{sent:?}");
    }
}
