//! Checks of a server's settings, and the last result for claims, status and log.

use std::collections::HashMap;
use std::sync::Mutex;

use snowmint_core::ErrorKind;
use snowmint_core::durability::Engine;

use crate::error::Error;
use crate::process::lock;
use crate::store::ServerSettings;

/// Refuses settings that can lose confirmed writes. Returns a setting by which a failover could lose them.
///
/// `value` gives the value of a setting, if it is known.
pub(super) fn check<'a>(
    store: &str,
    engine: Engine,
    value: impl Fn(&str) -> Option<&'a str>,
) -> Result<Option<Error>, Error> {
    Error::refuse_unsafe(store, engine, &value)?;
    Ok(Error::standby_risk(store, engine, &value))
}

/// Returns the settings that matter, by name.
pub(super) fn of_server(engine: Engine, settings: HashMap<String, String>) -> ServerSettings {
    let matters = |name: &str| engine.settings().any(|known| known.eq_ignore_ascii_case(name));
    let mut values: Vec<_> = settings.into_iter().filter(|(name, _)| matters(name)).collect();
    values.sort_unstable();
    ServerSettings { engine, values }
}

/// The settings of a store's server, as last seen.
#[derive(Debug)]
pub(super) struct Settings {
    /// Whether a fence follows every failover, so that claims accept a standby.
    allow_standby: bool,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// The setting that stops all grants.
    refused: Option<Error>,
    /// The setting by which a failover could lose confirmed writes.
    risk: Option<Error>,
}

impl Settings {
    pub(super) fn new(allow_standby: bool) -> Self {
        Self { allow_standby, last: Mutex::default() }
    }

    /// Records the outcome of a check: a risk at failover, or the error that stops all grants. A change is logged once.
    pub(super) fn note(&self, checked: &Result<Option<Error>, Error>) {
        let mut last = lock(&self.last);
        match checked {
            Ok(risk) => {
                if last.refused.take().is_some() {
                    tracing::info!("the store keeps confirmed writes again");
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

    /// Returns the setting by which a failover could lose confirmed writes.
    pub(super) fn risk(&self) -> Option<Error> {
        lock(&self.last).risk.clone()
    }

    /// Refuses a claim that a failover could lose.
    pub(super) fn refuse_standby(&self) -> Result<(), Error> {
        self.risk().filter(|_| !self.allow_standby).map_or(Ok(()), Err)
    }
}
