//! Accepts connections, also when the process may open no more files.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_stores::host::lock;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

use super::WarningLimit;

/// The pause after a failure that nothing here can cure.
const FAILURE_PAUSE: Duration = Duration::from_millis(50);
/// The pause in which a closed connection frees its descriptor.
const CLOSE_PAUSE: Duration = Duration::from_millis(1);
/// How many descriptors are in reserve: one for each port, and one more.
const RESERVED_FILES: usize = 4;

/// Descriptors for health checks when the process may open no more files. All ports share them.
///
/// A connection that arrives while the reserve is not full may use a reserved descriptor. Such connections are short,
/// so the reserve becomes full again.
#[derive(Clone, Debug)]
pub struct Reserve(Arc<Mutex<Vec<File>>>);

impl Reserve {
    pub fn new() -> Self {
        let reserve = Self(Arc::default());
        reserve.fill();
        reserve
    }

    /// Opens the missing descriptors. Returns whether all are there.
    pub fn fill(&self) -> bool {
        let mut files = lock(&self.0);
        while files.len() < RESERVED_FILES {
            // A file that every machine has.
            let Ok(file) = File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }) else { return false };
            files.push(file);
        }
        true
    }

    /// Closes a reserved descriptor. Returns `false` if the reserve is empty.
    fn give(&self) -> bool {
        lock(&self.0).pop().is_some()
    }
}

/// The listener of a port.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    reserve: Reserve,
    failed: u64,
    error: Option<io::Error>,
    warned: WarningLimit,
}

/// A new connection.
#[derive(Debug)]
pub struct Arrived {
    pub stream: TcpStream,
    pub from: IpAddr,
    /// Whether it may have a descriptor of the reserve: then it must be short.
    pub is_in_reserve: bool,
}

impl Door {
    pub fn new(listener: TcpListener, reserve: Reserve) -> Self {
        Self { listener, reserve, failed: 0, error: None, warned: WarningLimit::default() }
    }

    /// Returns the address of the port.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for a connection. When the process may open no more files, calls `make_room`, which closes a silent
    /// client. If it returns `false`, frees a descriptor of the reserve for the connection.
    pub async fn accept(&mut self, make_room: impl Fn() -> bool) -> Arrived {
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    return Arrived { stream, from: from.ip(), is_in_reserve: !self.reserve.fill() };
                }
                Err(error) if is_of_client(&error) => {}
                Err(error) => {
                    self.failed += 1;
                    self.error = Some(error);
                    self.report(Instant::now());
                    if make_room() {
                        sleep(CLOSE_PAUSE).await;
                    } else if !self.reserve.give() {
                        sleep(FAILURE_PAUSE).await;
                        self.reserve.fill();
                    }
                }
            }
        }
    }

    /// Looks after the reserve, and logs the failures since the last line, at most once a minute.
    pub fn look(&mut self, now: Instant) {
        self.reserve.fill();
        self.report(now);
    }

    fn report(&mut self, now: Instant) {
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
