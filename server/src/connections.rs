//! Connections: accepts them up to a limit, encrypts them with TLS, and waits for them when the server ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::metrics::Counts;

/// How long a handshake may take, and how long an answer waits for its reader.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client on a reserved connection may take for a handshake, and for the head of its request.
pub const HURRY: Duration = Duration::from_secs(2);
/// How long an ending server waits for open connections.
const GRACE: Duration = Duration::from_secs(10);

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

    /// Serves one connection to its end.
    fn serve<S>(self: Arc<Self>, stream: S, ending: Ending, place: Place) -> impl Future<Output = ()> + Send
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static;
}

/// An open port. `most` is the limit of connections.
pub struct Port {
    pub listener: TcpListener,
    pub tls: Option<TlsAcceptor>,
    pub most: usize,
}

impl Port {
    /// Returns the address of the port.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts and serves clients until the server ends. Then waits up to 10 s for open connections.
    pub async fn serve<P: Protocol>(self, protocol: Arc<P>, ending: Ending) {
        let places = Arc::new(Semaphore::new(self.most));
        let reserved = Arc::new(Semaphore::new(P::RESERVED));
        let mut over = std::pin::pin!(over(ending.clone()));
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = over.as_mut() => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // The usual cause is too many open files, which passes.
                    tracing::warn!(%error, "a connection was not accepted");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (place, held) = if let Ok(held) = Arc::clone(&places).try_acquire_owned() {
                (Place::Open, held)
            } else {
                protocol.counts().refused.inc();
                let Ok(held) = Arc::clone(&reserved).try_acquire_owned() else {
                    refuse::<P>(stream);
                    continue;
                };
                (Place::Reserved, held)
            };
            let (protocol, tls, ending) = (Arc::clone(&protocol), self.tls.clone(), ending.clone());
            drop(tokio::spawn(async move {
                let _held = held;
                let connections = protocol.counts().connections.clone();
                connections.inc();
                speak(protocol, stream, tls, ending, place).await;
                connections.dec();
            }));
        }
        drop(self.listener);
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        if timeout(GRACE, places.acquire_many(all)).await.is_err() {
            tracing::warn!("some connections were cut off");
        }
    }
}

async fn speak<P: Protocol>(
    protocol: Arc<P>,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    ending: Ending,
    place: Place,
) {
    // Answers are small and must not wait for more bytes.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    match tls {
        None => protocol.serve(stream, ending, place).await,
        Some(tls) => match timeout(if place == Place::Open { PATIENCE } else { HURRY }, tls.accept(stream)).await {
            Ok(Ok(stream)) => protocol.serve(stream, ending, place).await,
            Ok(Err(error)) => tracing::debug!(%error, "no handshake"),
            Err(_) => tracing::debug!("no handshake in time"),
        },
    }
}

fn refuse<P: Protocol>(mut stream: TcpStream) {
    drop(tokio::spawn(async move {
        // The client may be gone.
        let _ = timeout(Duration::from_secs(1), stream.write_all(P::FULL)).await;
    }));
}
