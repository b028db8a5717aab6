//! A node held over a store: its renewal and release.

use std::sync::Arc;

use snowmint_core::lease::{Record, Renewal, RenewalStep};
use snowmint_core::store::Reply;
use snowmint_core::{ErrorKind, SystemHost, Window};

use super::Namespace;
use crate::error::Error;
use crate::process::Owner;
use crate::store::ask::ask;
use crate::store::{RecordStore, Version};

/// The outcome of a renewal.
#[derive(Debug)]
pub enum Outcome {
    /// The window is durable.
    Window {
        /// The window.
        window: Window,
        /// How far this machine's clock is ahead of the store's, in ms, if the store has a clock.
        skew_ms: Option<i64>,
        /// The writes that a failover of the store could lose.
        standby_risk: Option<Error>,
    },
    /// The store did not answer, or a clock is wrong. The window stays; a later renewal may succeed.
    Later(Error),
    /// Another holder has the node.
    Lost(Error),
}

/// A node held over a store.
#[derive(Debug)]
pub struct StoreLease {
    pub(super) store: Arc<dyn RecordStore>,
    pub(super) renewal: Renewal,
    /// The key of the node's record.
    pub(super) key: String,
    pub(super) owner: &'static Owner,
    /// How far this machine's clock is ahead of the store's, in ms, if the store has a clock.
    pub skew_ms: Option<i64>,
    /// Keys whose value is not a valid record.
    pub skipped: Vec<String>,
}

impl StoreLease {
    /// Continues a lease whose record was read, for a holder that has shown its nonce.
    #[cfg(feature = "engines")]
    pub(super) fn resume(
        store: Arc<dyn RecordStore>,
        key: String,
        node: u32,
        (record, version): (Record, Version),
    ) -> Self {
        let renewal = Renewal::resume(node, record, version, true);
        Self { store, renewal, key, owner: Owner::this(), skew_ms: None, skipped: Vec::new() }
    }

    /// Goes on with a node that the store has granted to a directory of this machine, which has kept its record.
    ///
    /// # Errors
    /// `InvalidNode`, if the namespace has no key.
    pub fn reserved(
        store: Arc<dyn RecordStore>,
        namespace: &Namespace,
        node: u32,
        (record, version): (Record, Version),
        system_clock: bool,
    ) -> Result<Self, Error> {
        let key = format!("{}{node}", namespace.nodes_prefix()?);
        let renewal = Renewal::resume(node, record, version, system_clock);
        Ok(Self { store, renewal, key, owner: Owner::this(), skew_ms: None, skipped: Vec::new() })
    }

    /// Returns the record that the store is known to have, and its version.
    pub const fn saved(&self) -> (Record, Version) {
        self.renewal.saved()
    }

    /// Returns the node.
    pub const fn node(&self) -> u32 {
        self.renewal.node()
    }

    /// Returns the durable window.
    pub const fn window(&self) -> Window {
        self.renewal.window()
    }

    /// Returns the writes that a failover of the store could lose, as of its last check.
    pub fn standby_risk(&self) -> Option<Error> {
        self.store.standby_risk()
    }

    /// Extends the window to `reach_ms` past `now_ms` or past `last_ms`, the start of the first unused tick (Unix ms).
    pub async fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Outcome {
        let first = self.renewal.renew(now_ms, last_ms, reach_ms);
        self.go_on(first).await
    }

    /// Releases the node; no ID at or past `end_ms` (Unix ms) was taken. If the write fails, the window runs out by itself.
    pub async fn release(&mut self, end_ms: i64) -> Outcome {
        let first = self.renewal.release(end_ms);
        self.go_on(first).await
    }

    async fn go_on(&mut self, mut step: RenewalStep) -> Outcome {
        let Self { store, renewal, key, owner, .. } = self;
        let store = &**store;
        let window = |window, skew_ms| Outcome::Window { window, skew_ms, standby_risk: store.standby_risk() };
        let mut no_answer = None;
        loop {
            if let Err(forked) = owner.refuse_child() {
                return Outcome::Later(forked);
            }
            step = match step {
                RenewalStep::ReadClock => match store.clock_ms().await {
                    Ok(store_ms) => renewal.clock(store_ms, SystemHost::unix_ms()),
                    Err(error) if error.kind() == ErrorKind::StoreUnavailable => {
                        no_answer = Some(error);
                        renewal.reply(Reply::Unknown)
                    }
                    Err(error) => return Outcome::Later(error),
                },
                RenewalStep::Ask(asked) => match ask::<Record>(store, key, asked).await {
                    Ok((reply, error)) => {
                        no_answer = error;
                        renewal.reply(reply)
                    }
                    Err(error) => return Outcome::Later(error),
                },
                RenewalStep::Window(extended, skew_ms) => return window(extended, skew_ms),
                RenewalStep::Released => return window(renewal.window(), None),
                RenewalStep::Later(error) => {
                    let why = error.map(|error| Error::unavailable(store.name(), error)).or(no_answer);
                    return Outcome::Later(why.unwrap_or_else(|| Error::unavailable(store.name(), "no answer")));
                }
                RenewalStep::Lost(error) => return Outcome::Lost(Error::unavailable(store.name(), error)),
            };
        }
    }
}
