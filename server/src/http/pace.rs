//! Limits on slow clients: on the time from the first byte of a head to its last, and on silence between requests.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use snowmint_stores::process::lock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// The limit of bytes read meanwhile.
const MOST_UNREAD: usize = 1024 * 1024;
/// The pause between two checks of a client's deadline.
const LOOK: Duration = Duration::from_secs(1);

/// The limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
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
    limits: Limits,
    state: Mutex<State>,
}

impl Pace {
    pub fn new(limits: Limits, now: Instant) -> Arc<Self> {
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
                deadline => sleep_until(deadline.map_or(now + LOOK, |deadline| deadline.min(now + LOOK))).await,
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

/// A stream that reports its bytes and closes without a reset.
pub struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
    linger: Duration,
    closing: Option<Closing>,
}

/// The end of a stream that was shut down.
struct Closing {
    unread: usize,
    over: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    /// Wraps a stream. Once it is closed, the server still reads for the time of `linger`: a reset could destroy the last answer.
    pub fn new(stream: S, pace: Arc<Pace>, linger: Duration) -> Self {
        Self { stream, pace, linger, closing: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut this.stream).poll_read(cx, buffer));
        if buffer.filled().len() > before {
            this.pace.arrived(Instant::now());
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes));
        this.pace.wrote(Instant::now());
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, pieces));
        this.pace.wrote(Instant::now());
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
        }
        let linger = this.linger;
        let closing = this.closing.get_or_insert_with(|| Closing { unread: 0, over: Box::pin(sleep(linger)) });
        // A close with unread input would reset the connection, and the client could lose the answer.
        let mut piece = [0; 4096];
        while closing.unread < MOST_UNREAD {
            let mut buffer = ReadBuf::new(&mut piece);
            let read = Pin::new(&mut this.stream).poll_read(cx, &mut buffer);
            match (read, buffer.filled().len()) {
                (Poll::Ready(Ok(())), more @ 1..) => closing.unread += more,
                (Poll::Ready(_), _) => return Poll::Ready(Ok(())),
                (Poll::Pending, _) => return closing.over.as_mut().poll(cx).map(Ok),
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn pace(begun: Instant) -> Arc<Pace> {
        Pace::new(Limits { head: seconds(10), unknown: seconds(5), idle: seconds(600) }, begun)
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
}
