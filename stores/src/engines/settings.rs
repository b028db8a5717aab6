//! What the looks at a store's settings have found, for whoever reports it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use snowmint_core::ErrorKind;

use crate::error::Error;

/// What the last look at the settings found.
#[derive(Debug)]
pub(super) struct Settings {
    /// Whether a failover is followed by a fence, so that claims need not refuse a standby.
    allow_standby: bool,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// Why nothing is granted.
    refused: Option<Error>,
    /// What a failover could lose.
    risk: Option<Error>,
}

impl Settings {
    pub(super) fn new(allow_standby: bool) -> Self {
        Self { allow_standby, last: Mutex::default() }
    }

    /// Takes in what a look found: what a failover could lose, or why nothing is granted. The log tells each once.
    pub(super) fn note(&self, looked: &Result<Option<Error>, Error>) {
        let mut last = self.lock();
        match looked {
            Ok(risk) => {
                if last.refused.take().is_some() {
                    tracing::info!("the store keeps what it confirms again");
                }
                match risk {
                    Some(risk) if last.risk.as_ref() != Some(risk) => {
                        tracing::warn!(%risk, "a failover of the store can lose confirmed writes; leases go on");
                    }
                    None if last.risk.is_some() => tracing::info!("a failover of the store can lose nothing any more"),
                    _ => {}
                }
                last.risk.clone_from(risk);
            }
            Err(error) if error.kind() == ErrorKind::UnsafeStore => {
                if last.refused.as_ref() != Some(error) {
                    tracing::warn!(%error, "the store can lose confirmed writes; nothing new is granted");
                }
                last.refused = Some(error.clone());
            }
            Err(_) => {}
        }
    }

    /// Whether the last look refused the server.
    #[cfg(feature = "redis")]
    pub(super) fn is_refused(&self) -> bool {
        self.lock().refused.is_some()
    }

    /// What a failover could lose.
    pub(super) fn risk(&self) -> Option<Error> {
        self.lock().risk.clone()
    }

    /// Refuses a claim that a failover could lose.
    pub(super) fn refuse_standby(&self) -> Result<(), Error> {
        self.risk().filter(|_| !self.allow_standby).map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
