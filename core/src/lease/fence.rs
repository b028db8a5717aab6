//! The time of a fence.

use super::{NamespaceRecord, Record};
use crate::error::{Error, What};
use crate::mutant;

/// Decides from which time on nodes are granted again in a store that lost records: the time of `snowmint fence`.
///
/// All holders are stopped, but the store no longer knows all their windows. A window that it lost was granted before now, so it
/// ends at most `reach_ms` after now. A window that it still has may end later, if a clock was ahead.
///
/// # Examples
/// ```
/// use snowmint_core::Window;
/// use snowmint_core::bytes::label;
/// use snowmint_core::lease::{FenceTime, Record};
/// let now_ms = 1_772_323_200_000;
/// let mut time = FenceTime::new(now_ms, Window::MAX_MS);
/// let window = Window { start_ms: 0, end_ms: now_ms - 1 };
/// let ended = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
/// time.see(5, &ended)?;
/// // A lost window may be an hour long.
/// assert_eq!(time.until(None)?, now_ms + 3_600_000);
/// // The operator knows that no window was longer than 3 s.
/// assert_eq!(time.until(Some(now_ms + 3000))?, now_ms + 3000);
/// assert!(time.until(Some(now_ms - 3000)).is_err(), "in the past");
/// // This window is not over, and its holder may renew it.
/// let held = Record { window: Window { end_ms: now_ms + 1, ..window }, ..ended };
/// assert!(time.see(6, &held).is_err());
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_field_names, reason = "a name ends in its unit")]
pub struct FenceTime {
    now_ms: i64,
    reach_ms: u64,
    newest_end_ms: i64,
}

impl FenceTime {
    /// Begins at `now_ms` (Unix ms), the later one of this machine's and the store's clock. `reach_ms` is the upper limit of
    /// `window_ms` plus `max_ahead_ms` of all holders.
    pub const fn new(now_ms: i64, reach_ms: u64) -> Self {
        Self { now_ms, reach_ms, newest_end_ms: i64::MIN }
    }

    /// Returns the refusal of a store without any record: `StoreUnavailable`.
    pub const fn empty() -> Error {
        Error::plain(What::FenceEmpty)
    }

    /// Takes the record of a namespace: windows that the store lost may be as long as the longest reservation there.
    pub fn see_namespace(&mut self, namespace: &NamespaceRecord) {
        self.reach_ms = self.reach_ms.max(namespace.reserve_ms);
    }

    /// Takes the record of a node.
    ///
    /// # Errors
    /// `InvalidNode`, if the node may have a live holder.
    pub fn see(&mut self, node: u32, record: &Record) -> Result<(), Error> {
        self.see_end(record.window.end_ms);
        if !record.released && record.window.end_ms > self.now_ms {
            return Err(Error::new(What::FenceHeld, 0, u64::from(node), record.window.end_ms.cast_unsigned()));
        }
        Ok(())
    }

    /// Takes the end of a window whose holder is known to be dead, Unix ms.
    pub fn see_end(&mut self, end_ms: i64) {
        self.newest_end_ms = self.newest_end_ms.max(end_ms);
    }

    /// Returns the time of the fence, Unix ms: `wanted_ms`, or without it the latest time that an ID can have.
    ///
    /// # Errors
    /// `InvalidId`, if the store has IDs after `wanted_ms`, or `wanted_ms` is over.
    pub fn until(&self, wanted_ms: Option<i64>) -> Result<i64, Error> {
        let least_ms = self.now_ms.max(self.newest_end_ms);
        match wanted_ms {
            Some(wanted_ms) if wanted_ms >= least_ms || mutant::removes("early") => Ok(wanted_ms),
            Some(wanted_ms) => {
                Err(Error::new(What::FenceEarly, 0, wanted_ms.cast_unsigned(), least_ms.cast_unsigned()))
            }
            None => Ok(self.newest_end_ms.max(self.now_ms.saturating_add_unsigned(self.reach_ms))),
        }
    }
}
