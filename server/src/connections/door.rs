//! Accepts connections, also when the process may open no more files.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

use super::Seldom;

/// The pause after a failure that nothing here can cure.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause in which a closed connection frees its descriptor.
const MOMENT: Duration = Duration::from_millis(1);

/// A listener that keeps one descriptor in reserve: when the process may open no more files, this descriptor serves a health
/// check.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    reserve: Option<File>,
    failed: u64,
    error: Option<io::Error>,
    warned: Seldom,
}

/// A new connection.
#[derive(Debug)]
pub struct Arrived {
    pub stream: TcpStream,
    pub from: IpAddr,
    /// Whether it has the descriptor in reserve.
    pub has_reserve: bool,
}

impl Door {
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, reserve: None, failed: 0, error: None, warned: Seldom::default() }
    }

    /// Waits for a connection. When the process may open no more files, `make_room` closes a silent client and returns whether
    /// there was one; without one the connection gets the descriptor in reserve.
    pub async fn accept(&mut self, make_room: impl Fn() -> bool) -> Arrived {
        let mut has_reserve = false;
        loop {
            if !has_reserve && self.reserve.is_none() {
                self.reserve = reserve().inspect_err(|error| self.error = Some(error.kind().into())).ok();
                if self.reserve.is_none() {
                    // Another connection has it, and ends soon.
                    sleep(if make_room() { MOMENT } else { PAUSE }).await;
                    continue;
                }
            }
            match self.listener.accept().await {
                Ok((stream, from)) => return Arrived { stream, from: from.ip(), has_reserve },
                Err(error) if is_of_client(&error) => {}
                Err(error) => {
                    self.failed += 1;
                    self.error = Some(error);
                    self.report(Instant::now());
                    if make_room() {
                        sleep(MOMENT).await;
                    } else if self.reserve.take().is_some() {
                        has_reserve = true;
                    } else {
                        has_reserve = false;
                        sleep(PAUSE).await;
                    }
                }
            }
        }
    }

    /// Logs the failures since the last line, at most once a minute.
    pub fn report(&mut self, now: Instant) {
        if self.failed > 0 && self.warned.is_due(now) {
            let (failed, error) = (std::mem::take(&mut self.failed), self.error.take());
            let error = error.map(tracing::field::display);
            tracing::warn!(
                failed,
                error,
                "connections were not accepted: raise the limit of open files (LimitNOFILE, ulimit -n), or lower \
                 --max-connections"
            );
        }
    }
}

/// Returns whether the connection failed before it was accepted, which concerns its client alone.
fn is_of_client(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Opens a file that every machine has.
fn reserve() -> io::Result<File> {
    File::open(if cfg!(windows) { "NUL" } else { "/dev/null" })
}
