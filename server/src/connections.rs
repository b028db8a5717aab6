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
/// How long the end waits for what is under way.
const GRACE: Duration = Duration::from_secs(10);

/// Becomes true when the server ends.
pub type Ending = watch::Receiver<bool>;

/// Returns when the server ends.
pub async fn over(mut ending: Ending) {
    // Without a sender it ends too.
    drop(ending.wait_for(|ending| *ending).await);
}

/// What is spoken on a connection.
pub trait Protocol: Send + Sync + 'static {
    /// What a client is told that is one too many.
    const FULL: &'static [u8];

    /// The counts of this protocol.
    fn counts(&self) -> &Counts;

    /// Serves one connection to its end.
    fn serve<S>(self: Arc<Self>, stream: S, ending: Ending) -> impl Future<Output = ()> + Send
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
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                protocol.counts().refused.inc();
                refuse::<P>(stream);
                continue;
            };
            let (protocol, tls, ending) = (Arc::clone(&protocol), self.tls.clone(), ending.clone());
            drop(tokio::spawn(async move {
                let _place = place;
                let connections = protocol.counts().connections.clone();
                connections.inc();
                speak(protocol, stream, tls, ending).await;
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

async fn speak<P: Protocol>(protocol: Arc<P>, stream: TcpStream, tls: Option<TlsAcceptor>, ending: Ending) {
    // Answers are small, and wait for nothing.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    match tls {
        None => protocol.serve(stream, ending).await,
        Some(tls) => match timeout(PATIENCE, tls.accept(stream)).await {
            Ok(Ok(stream)) => protocol.serve(stream, ending).await,
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
