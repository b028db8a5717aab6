//! Limits on slow clients: on the time from the first byte of a head to its last, and on silence between requests.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// How long a closed connection is still read from, so that the last answer is not lost by a reset.
const LINGER: Duration = Duration::from_millis(500);
/// How many bytes are read meanwhile.
const MOST_UNREAD: usize = 1024 * 1024;
/// How often the time of a client is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte of a head to its last one.
    pub head: Duration,
    /// Silence, before the client has made a request that was accepted.
    pub unknown: Duration,
    /// Silence afterwards.
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

/// The state of a connection, which its stream and its requests report.
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a head is complete.
    pub fn asked(&self) {
        self.state().phase = Phase::Request;
    }

    /// Notes that an answer is made, and whether the client may ask for numbers.
    pub fn answered(&self, known: bool, now: Instant) {
        let mut state = self.state();
        state.known |= known;
        (state.phase, state.since) = (Phase::Silence, now);
    }

    /// Notes that bytes came.
    fn came(&self, now: Instant) {
        let mut state = self.state();
        if state.phase == Phase::Silence {
            (state.phase, state.since) = (Phase::Head, now);
        }
    }

    /// Notes that the client took bytes of an answer. Bytes of the next head have waited meanwhile.
    fn wrote(&self, now: Instant) {
        self.state().since = now;
    }

    /// Returns when the client was too slow.
    pub async fn over(&self) {
        loop {
            let now = Instant::now();
            match self.deadline() {
                Some(deadline) if deadline <= now => return,
                // It changes with each request: one look a second is cheaper than a timer for each.
                deadline => sleep_until(deadline.map_or(now + LOOK, |deadline| deadline.min(now + LOOK))).await,
            }
        }
    }

    /// Returns when more bytes are due. A request under way has another limit.
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

/// A stream that reports its bytes, and that is closed without a reset.
pub struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
    closing: Option<Closing>,
}

/// The end of a stream that was shut down.
struct Closing {
    unread: usize,
    over: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    pub fn new(stream: S, pace: Arc<Pace>) -> Self {
        Self { stream, pace, closing: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut this.stream).poll_read(cx, buffer));
        if buffer.filled().len() > before {
            this.pace.came(Instant::now());
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
        let closing = this.closing.get_or_insert_with(|| Closing { unread: 0, over: Box::pin(sleep(LINGER)) });
        // Closed with input unread, the connection would be reset, and the answer could be lost.
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
    fn bytes_now_and_then_do_not_prolong_a_head() {
        let begun = Instant::now();
        let pace = pace(begun);
        assert_eq!(pace.deadline(), Some(begun + seconds(5)));
        for late in 1..9 {
            pace.came(begun + seconds(late));
            assert_eq!(pace.deadline(), Some(begun + seconds(11)));
        }
        pace.asked();
        assert_eq!(pace.deadline(), None, "a request under way is not hurried");
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
