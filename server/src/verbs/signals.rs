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

/// A hang-up, which asks to read files again.
#[derive(Debug)]
pub struct HangUp {
    #[cfg(unix)]
    signal: Signal,
}

/// Begins to listen; within a runtime. From then on a hang-up does not end the program.
pub fn hang_up() -> io::Result<HangUp> {
    Ok(HangUp {
        #[cfg(unix)]
        signal: signal(SignalKind::hangup())?,
    })
}

impl HangUp {
    /// Returns when one comes; never, where there are none.
    pub async fn came(&mut self) {
        #[cfg(unix)]
        self.signal.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
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
