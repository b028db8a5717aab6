//! Connections: accepts them up to a limit, encrypts them with TLS, and waits for them when the server ends.

mod door;
mod places;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;

use self::door::Arrived;
pub use self::door::{Door, Reserve};
use self::places::Places;
pub use self::places::{AllPlaces, Limits, Seat};
use crate::metrics::Counts;

/// How long a handshake may take, and how long an answer waits for its reader.
pub const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take for its first byte if more than half of the places are taken, and on a reserved connection for a
/// handshake and for the head of its request.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an ending server waits for open connections.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two checks of the line of silent clients.
const SILENCE_INTERVAL: Duration = Duration::from_millis(500);
/// The least time between two warnings of a kind.
const WARNING_INTERVAL: Duration = Duration::from_mins(1);

/// Becomes true when the server ends.
pub type Ending = watch::Receiver<bool>;

/// Returns when the server ends.
pub async fn over(mut ending: Ending) {
    // A dropped sender counts as the end too.
    drop(ending.wait_for(|ending| *ending).await);
}

/// How a connection counts against the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Within `--max-connections`.
    Open,
    /// Above the limit: reserved for `/healthz` and `/readyz`.
    Reserved,
}

/// A protocol that a port serves.
pub trait Protocol: Send + Sync + 'static {
    /// The answer to a client above all limits.
    const FULL: &'static [u8];
    /// How many connections above the limit are allowed, as [`Place::Reserved`].
    const RESERVED: usize;

    /// Returns the counts of this protocol.
    fn counts(&self) -> &Counts;

    /// Returns how long a client may be silent before its first byte.
    fn silence(&self) -> Duration;

    /// Serves one connection to its end.
    fn serve<S>(self: Arc<Self>, stream: S, ending: Ending, seat: Arc<Seat>) -> impl Future<Output = ()> + Send
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static;
}

/// An open port.
pub struct Port {
    pub door: Door,
    pub tls: Option<TlsAcceptor>,
    pub limits: Limits,
    /// The places of this port and the others.
    pub all: AllPlaces,
}

impl Port {
    /// Returns the address of the port.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.door.address()
    }

    /// Returns how many files the port may need: for its listener, a reserve, and connections above the limit that are closing.
    pub fn most_files(&self) -> u64 {
        const CLOSING_CONNECTIONS: u64 = 40;
        self.limits.most as u64 + CLOSING_CONNECTIONS
    }

    /// Accepts and serves clients until the server ends. Then waits up to 10 s for open connections.
    pub async fn serve<P: Protocol>(self, protocol: Arc<P>, ending: Ending) {
        let counts = protocol.counts();
        let open = Places::new(Place::Open, self.limits, counts);
        let reserved = Limits { most: P::RESERVED, most_of_address: P::RESERVED };
        let reserved = Places::new(Place::Reserved, reserved, counts);
        self.all.add(&open);
        self.all.add(&reserved);
        let make_room = || self.all.displace_oldest();
        let mut door = self.door;
        let mut crowd = Crowd::new(counts);
        let mut tasks = JoinSet::new();
        let mut looks = interval(SILENCE_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut over = std::pin::pin!(over(ending.clone()));
        loop {
            let Arrived { stream, from, is_in_reserve } = tokio::select! {
                arrived = door.accept(make_room) => arrived,
                _ = tasks.join_next(), if !tasks.is_empty() => continue,
                _ = looks.tick() => {
                    let now = Instant::now();
                    open.hurry(now);
                    door.look(now);
                    crowd.report(now);
                    continue;
                }
                () = over.as_mut() => break,
            };
            let seat = Some(&open).filter(|_| !is_in_reserve).and_then(|open| open.take(from));
            let seat = seat.or_else(|| {
                counts.refused.inc();
                reserved.take(from)
            });
            let Some(seat) = seat.map(Arc::new) else {
                refuse::<P>(stream);
                continue;
            };
            let serving = speak(Arc::clone(&protocol), stream, self.tls.clone(), ending.clone(), Arc::clone(&seat));
            seat.is_served_by(tasks.spawn(serving));
        }
        drop(door);
        let all = async { while tasks.join_next().await.is_some() {} };
        if timeout(DRAIN_TIMEOUT, all).await.is_err() {
            tracing::warn!("some connections were cut off");
        }
    }
}

/// A warning that the log has at most once a minute.
#[derive(Debug, Default)]
struct WarningLimit(Option<Instant>);

impl WarningLimit {
    /// Returns whether the warning may be logged now. Then the next one may follow a minute later.
    fn is_due(&mut self, now: Instant) -> bool {
        let due = self.0.is_none_or(|last| last + WARNING_INTERVAL <= now);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

/// The connections that a port has refused or closed because of its limits.
struct Crowd<'a> {
    counts: &'a Counts,
    reported: (u64, u64),
    warned: WarningLimit,
}

impl<'a> Crowd<'a> {
    fn new(counts: &'a Counts) -> Self {
        Self { counts, reported: (counts.refused.get(), counts.displaced.get()), warned: WarningLimit::default() }
    }

    /// Logs what happened since the last line, at most once a minute.
    fn report(&mut self, now: Instant) {
        let seen = (self.counts.refused.get(), self.counts.displaced.get());
        if seen != self.reported && self.warned.is_due(now) {
            let (refused, silent) = (seen.0 - self.reported.0, seen.1 - self.reported.1);
            self.reported = seen;
            tracing::warn!(
                protocol = self.counts.protocol,
                refused,
                silent,
                "too many connections: silent clients were closed and others refused (--max-connections, \
                 --max-connections-per-address)"
            );
        }
    }
}

async fn speak<P: Protocol>(
    protocol: Arc<P>,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    ending: Ending,
    seat: Arc<Seat>,
) {
    // Answers are small and must not wait for more bytes.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let reserved = seat.place() == Place::Reserved;
    let silence = if reserved { FIRST_BYTE_TIMEOUT } else { protocol.silence() };
    let mut byte = [0];
    let began = tokio::select! {
        biased;
        // Unlike `readable`, it never returns without a byte, an end or an error.
        peeked = timeout(silence, stream.peek(&mut byte)) => peeked.is_ok(),
        () = over(ending.clone()) => false,
    };
    if began {
        seat.began();
    } else if tls.is_some() {
        return;
    }
    // Without TLS the protocol may have a last word for a silent client.
    match tls {
        None => protocol.serve(stream, ending, seat).await,
        Some(tls) => {
            match timeout(if reserved { FIRST_BYTE_TIMEOUT } else { CLIENT_TIMEOUT }, tls.accept(stream)).await {
                Ok(Ok(stream)) => protocol.serve(stream, ending, seat).await,
                Ok(Err(error)) => tracing::debug!(%error, "no handshake"),
                Err(_) => tracing::debug!("no handshake in time"),
            }
        }
    }
}

fn refuse<P: Protocol>(mut stream: TcpStream) {
    drop(tokio::spawn(async move {
        // The client may be gone.
        let _ = timeout(Duration::from_secs(1), stream.write_all(P::FULL)).await;
    }));
}
