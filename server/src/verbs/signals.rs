//! Signals that end a program or make it read its files again.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// An interrupt from the terminal, or a request to end from a service manager.
#[derive(Debug)]
pub struct Ending {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

/// Starts to listen. Call this within a tokio runtime.
pub fn interrupt() -> io::Result<Ending> {
    Ok(Ending {
        #[cfg(unix)]
        interrupt: signal(SignalKind::interrupt())?,
        #[cfg(unix)]
        terminate: signal(SignalKind::terminate())?,
    })
}

/// A hang-up signal, a request to read files again.
#[derive(Debug)]
pub struct HangUp {
    #[cfg(unix)]
    signal: Signal,
}

/// Starts to listen: a hang-up no longer ends the program. Call this within a tokio runtime.
pub fn hang_up() -> io::Result<HangUp> {
    Ok(HangUp {
        #[cfg(unix)]
        signal: signal(SignalKind::hangup())?,
    })
}

impl HangUp {
    /// Waits for the signal. Waits forever on systems without it.
    pub async fn came(&mut self) {
        #[cfg(unix)]
        self.signal.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}

impl Ending {
    /// Waits for the signal.
    pub async fn came(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
