//! What tells a program to end.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// An interrupt or a request to end, from the terminal or from whoever runs this.
#[derive(Debug)]
pub struct Ending {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

/// Begins to listen; within a runtime.
pub fn interrupt() -> io::Result<Ending> {
    Ok(Ending {
        #[cfg(unix)]
        interrupt: signal(SignalKind::interrupt())?,
        #[cfg(unix)]
        terminate: signal(SignalKind::terminate())?,
    })
}

impl Ending {
    /// Returns when it comes.
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
