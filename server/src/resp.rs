//! The Redis protocol: RESP2, and RESP3 after `HELLO 3`.

mod command;
mod frame;
mod info;
mod reply;

use std::future::poll_fn;
use std::io;
use std::ops::Range;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, Sleep, sleep, timeout};

use self::command::Session;
use self::reply::Reply;
pub use crate::arguments::serve::Get;
use crate::auth::Tokens;
use crate::connections::{CLIENT_TIMEOUT, Ending, Protocol, Seat, over};
use crate::metrics::{Counts, Metrics};
use crate::service::Service;

/// The limit of a command, in bytes.
const MAX_COMMAND_BYTES: usize = 64 * 1024;
/// How long the server still reads after a refusal: a reset could destroy the last answer.
const UNREAD_TIMEOUT: Duration = Duration::from_millis(500);
/// How many bytes one read takes.
const READ_BYTES: usize = 8 * 1024;
/// When this many bytes of replies wait, the server writes them before the next command.
const MAX_REPLY_BYTES: usize = 16 * 1024;

/// The state that all connections share.
pub struct Resp {
    pub service: Arc<Service>,
    pub tokens: Tokens,
    pub metrics: Arc<Metrics>,
    /// How long a client may stay silent.
    pub idle: Duration,
    /// The answer to `GET`.
    pub get: Get,
}

impl Protocol for Resp {
    const FULL: &'static [u8] = b"-ERR max number of clients reached\r\n";
    const RESERVED: usize = 0;

    fn counts(&self) -> &Counts {
        &self.metrics.redis
    }

    fn silence(&self) -> Duration {
        self.silence_of(!self.tokens.are_set())
    }

    async fn serve<S>(self: Arc<Self>, stream: S, ending: Ending, seat: Arc<Seat>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        if let Err(error) = converse(&self, stream, ending, &seat).await {
            tracing::debug!(%error, "a connection of the Redis protocol ended");
        }
    }
}

impl Resp {
    /// Returns how long a client may be silent, which may take numbers or not.
    fn silence_of(&self, known: bool) -> Duration {
        if known { self.idle } else { CLIENT_TIMEOUT.min(self.idle) }
    }
}

async fn converse<S>(shared: &Resp, mut stream: S, ending: Ending, seat: &Seat) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut session = Session::new(shared);
    let (mut input, mut output) = (BytesMut::with_capacity(READ_BYTES), BytesMut::new());
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut watch = Watch::new(shared.idle);
    // The silence before the first byte counts.
    let mut since = Some(seat.since());
    let mut over = pin!(over(ending));
    // Whether the input begins with a part of an earlier read.
    let mut begun = false;
    loop {
        // Answers all complete commands before the next read, so that a client that does not read cannot send more.
        loop {
            let length = match frame::read(&input, &mut words) {
                Ok(Some(length)) => length,
                Ok(None) if input.len() < MAX_COMMAND_BYTES => break,
                Ok(None) => return refuse(&mut stream, output, frame::TOO_LONG).await,
                Err(why) => return refuse(&mut stream, output, why).await,
            };
            if !words.is_empty() {
                seat.asked();
                session.answer(&input[..length], &words, &mut output).await;
                seat.answered(session.is_known());
            }
            input.advance(length);
            begun = false;
            if session.over {
                return write(&mut stream, &mut output).await;
            }
            if output.len() >= MAX_REPLY_BYTES {
                write(&mut stream, &mut output).await?;
            }
        }
        if !output.is_empty() {
            write(&mut stream, &mut output).await?;
        }
        input.reserve(READ_BYTES);
        // The limit is for a whole command, not for each of its pieces.
        if !begun {
            let limit = if input.is_empty() { shared.silence_of(session.is_known()) } else { CLIENT_TIMEOUT };
            watch.begin(limit, since.take());
        }
        begun = !input.is_empty();
        let read = tokio::select! {
            biased;
            read = stream.read_buf(&mut input) => read?,
            () = watch.expired() => return refuse(&mut stream, output, "no complete command arrived in time").await,
            () = over.as_mut() => return Ok(()),
        };
        if read == 0 {
            return Ok(());
        }
    }
}

/// Writes a last error to a client that breaks the protocol or is too slow, and closes the connection.
async fn refuse(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), mut output: BytesMut, why: &str) -> io::Result<()> {
    Reply::Error(format!("ERR Protocol error: {why}")).write(&mut output, false);
    write(stream, &mut output).await?;
    stream.shutdown().await?;
    // A close with unread input would reset the connection, and the client could lose the error.
    let unread = async {
        for _ in 0..MAX_COMMAND_BYTES / READ_BYTES {
            output.clear();
            if stream.read_buf(&mut output).await? == 0 {
                break;
            }
        }
        io::Result::Ok(())
    };
    timeout(UNREAD_TIMEOUT, unread).await.unwrap_or(Ok(()))
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), output: &mut BytesMut) -> io::Result<()> {
    let mut writing = pin!(async {
        stream.write_all(output).await?;
        stream.flush().await
    });
    // Nearly always the socket takes all at once, which needs no timer.
    match poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await {
        Poll::Ready(written) => written,
        Poll::Pending => timeout(CLIENT_TIMEOUT, writing)
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the client does not read"))?,
    }?;
    output.clear();
    Ok(())
}

/// The deadline of the next command. The timer is set again only when it fires, not for each read.
struct Watch {
    /// When the wait for the command began; `None` until it begins.
    since: Option<Instant>,
    limit: Duration,
    timer: Pin<Box<Sleep>>,
}

impl Watch {
    fn new(limit: Duration) -> Self {
        Self { since: None, limit, timer: Box::pin(sleep(limit.min(CLIENT_TIMEOUT))) }
    }

    /// Sets a new limit, for a wait that began at that time, or that has not begun.
    fn begin(&mut self, limit: Duration, since: Option<Instant>) {
        (self.since, self.limit) = (since, limit);
    }

    /// Waits until the limit is over.
    async fn expired(&mut self) {
        let mut now = Instant::now();
        let end = *self.since.get_or_insert(now) + self.limit;
        while now < end {
            self.timer.as_mut().await;
            now = Instant::now();
            self.timer.as_mut().reset(end.min(now + CLIENT_TIMEOUT));
        }
    }
}
