//! Connections: how many, encrypted or not, and until when.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::metrics::Counts;

/// How long a handshake, or an answer that nobody reads, may take.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client on a kept place may take for a handshake, and for the head of its request.
pub const HURRY: Duration = Duration::from_secs(2);
/// How long the end waits for what is under way.
const GRACE: Duration = Duration::from_secs(10);

/// Becomes true when the server ends.
pub type Ending = watch::Receiver<bool>;

/// Returns when the server ends.
pub async fn over(mut ending: Ending) {
    // Without a sender it ends too.
    drop(ending.wait_for(|ending| *ending).await);
}

/// Which place a connection takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One of `--max-connections`.
    Open,
    /// One beyond, kept for `/healthz` and `/readyz`.
    Kept,
}

/// What is spoken on a connection.
pub trait Protocol: Send + Sync + 'static {
    /// What a client is told that is one too many.
    const FULL: &'static [u8];
    /// How many connections there may be beyond the most, as [`Place::Kept`].
    const KEPT: usize;

    /// The counts of this protocol.
    fn counts(&self) -> &Counts;

    /// Serves one connection to its end.
    fn serve<S>(self: Arc<Self>, stream: S, ending: Ending, place: Place) -> impl Future<Output = ()> + Send
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static;
}

/// A port that is open.
pub struct Port {
    pub listener: TcpListener,
    pub tls: Option<TlsAcceptor>,
    pub most: usize,
}

impl Port {
    /// The address.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves whoever comes, until the server ends, and then whoever is there, for a while.
    pub async fn serve<P: Protocol>(self, protocol: Arc<P>, ending: Ending) {
        let places = Arc::new(Semaphore::new(self.most));
        let kept = Arc::new(Semaphore::new(P::KEPT));
        let mut over = std::pin::pin!(over(ending.clone()));
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = over.as_mut() => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Mostly too many open files: it passes.
                    tracing::warn!(%error, "a connection was not accepted");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (place, held) = if let Ok(held) = Arc::clone(&places).try_acquire_owned() {
                (Place::Open, held)
            } else {
                protocol.counts().refused.inc();
                let Ok(held) = Arc::clone(&kept).try_acquire_owned() else {
                    refuse::<P>(stream);
                    continue;
                };
                (Place::Kept, held)
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
    // Answers are small, and wait for nothing.
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
        // Best effort.
        let _ = timeout(Duration::from_secs(1), stream.write_all(P::FULL)).await;
    }));
}
