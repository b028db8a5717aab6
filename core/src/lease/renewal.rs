//! From window to window, and the release.

use super::{Record, far_end};
use crate::error::{Error, What};
use crate::store::{Ask, Reply, Version};
use crate::window::Window;

/// A granted node: extends its window, and releases it.
///
/// | call | when |
/// | --- | --- |
/// | [`renew`](Self::renew), [`release`](Self::release) | begins an extension or the release |
/// | [`clock`](Self::clock) | after [`RenewalStep::ReadClock`] |
/// | [`reply`](Self::reply) | after [`RenewalStep::Ask`] |
#[derive(Clone, Copy, Debug)]
pub struct Renewal {
    node: u32,
    system_clock: bool,
    /// How far past the clock a window ends, in ms.
    reach_ms: u64,
    /// The record that the store is known to have, and its version.
    record: Record,
    version: Version,
    /// The record to write or written last, until the store confirms it.
    pending: Option<Record>,
    /// How far this machine's clock was ahead of the store's, in ms.
    skew_ms: Option<i64>,
}

/// The next step of a renewal or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewalStep {
    /// Read the store's clock, then call [`Renewal::clock`].
    ReadClock,
    /// Send this request for the node's record, then call [`Renewal::reply`].
    Ask(Ask<Record>),
    /// Done: the window is durable, and the generator may mint up to its end. The number is how far this machine's clock is
    /// ahead of the store's, in ms.
    Window(Window, Option<i64>),
    /// The store did not answer, or this machine's clock is wrong: the window stays, and the caller tries again later.
    Later(Option<Error>),
    /// Another holder has the node, or its record has vanished: the caller closes the generator.
    Lost(Error),
    /// Done: the node is released.
    Released,
}

impl Renewal {
    /// Continues a lease whose record and version are known, such as a saved one.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{Record, Renewal};
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let renewal = Renewal::resume(5, record, 1, false);
    /// assert_eq!((renewal.node(), renewal.window(), renewal.saved()), (5, window, (record, 1)));
    /// ```
    pub const fn resume(node: u32, record: Record, version: Version, system_clock: bool) -> Self {
        Self { node, system_clock, reach_ms: 0, record, version, pending: None, skew_ms: None }
    }

    /// Returns whether the holder reads its system's clock.
    pub const fn system_clock(&self) -> bool {
        self.system_clock
    }

    /// Returns the record that the store is known to have, and its version.
    pub const fn saved(&self) -> (Record, Version) {
        (self.record, self.version)
    }

    /// Returns the node.
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// Returns the durable window.
    pub const fn window(&self) -> Window {
        self.record.window
    }

    /// Extends the window to `reach_ms` past `now_ms` or past `last_ms`, the start of the generator's first unused tick.
    ///
    /// `now_ms` and `last_ms` are Unix ms; `reach_ms` is `max_ahead_ms` and `window_ms` together.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{Record, Renewal, RenewalStep};
    /// use snowmint_core::store::{Ask, Reply};
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let mut renewal = Renewal::resume(5, record, 1, false);
    /// // Halfway through the window: write a later end, and mint up to it once the store has confirmed it.
    /// let RenewalStep::Ask(Ask::Write(written, 1)) = renewal.renew(1500, 1499, 3000) else { panic!("a write") };
    /// assert_eq!(written.window.end_ms, 4500);
    /// assert_eq!(renewal.reply(Reply::Written(2)), RenewalStep::Window(written.window, None));
    /// ```
    pub fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> RenewalStep {
        self.reach_ms = reach_ms;
        let end_ms = self.record.window.renewed_end_ms(now_ms, last_ms, reach_ms);
        let ask = self.write(Record { window: Window { end_ms, ..self.record.window }, ..self.record });
        if self.system_clock { RenewalStep::ReadClock } else { ask }
    }

    /// Takes the store's clock, if it has one, and this machine's clock at that time, both Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{Record, Renewal, RenewalStep};
    /// use snowmint_core::store::{Ask, Reply};
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let mut renewal = Renewal::resume(5, record, 1, true);
    /// // A holder that reads the system's clock compares it with the store's.
    /// assert_eq!(renewal.renew(1500, 1499, 3000), RenewalStep::ReadClock);
    /// let RenewalStep::Ask(Ask::Write(written, 1)) = renewal.clock(Some(1400), 1500) else { panic!("a write") };
    /// // This machine's clock is 100 ms ahead.
    /// assert_eq!(renewal.reply(Reply::Written(2)), RenewalStep::Window(written.window, Some(100)));
    /// ```
    pub fn clock(&mut self, store_ms: Option<i64>, own_ms: i64) -> RenewalStep {
        let Some(record) = self.pending else { return RenewalStep::Later(None) };
        if let Some(error) = far_end(record.window.end_ms, self.reach_ms, store_ms) {
            self.pending = None;
            return RenewalStep::Later(Some(error));
        }
        self.skew_ms = store_ms.map(|store_ms| own_ms.saturating_sub(store_ms));
        RenewalStep::Ask(Ask::Write(record, self.version))
    }

    /// Releases the node. Its generators are closed, and took no ID at or past `end_ms` (Unix ms).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{Record, Renewal, RenewalStep};
    /// use snowmint_core::store::{Ask, Reply};
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let mut renewal = Renewal::resume(5, record, 1, false);
    /// // The last ID was minted at 1499 ms: a successor need not wait for the rest of the window.
    /// let RenewalStep::Ask(Ask::Write(written, 1)) = renewal.release(1500) else { panic!("a write") };
    /// assert!(written.released && written.window.end_ms == 1500);
    /// assert_eq!(renewal.reply(Reply::Written(2)), RenewalStep::Released);
    /// ```
    pub fn release(&mut self, end_ms: i64) -> RenewalStep {
        self.write(Record { released: true, window: Window { end_ms, ..self.record.window }, ..self.record })
    }

    fn write(&mut self, record: Record) -> RenewalStep {
        let record = Record { serial: self.record.serial.saturating_add(1), ..record };
        self.pending = Some(record);
        RenewalStep::Ask(Ask::Write(record, self.version))
    }

    /// Takes the store's reply. The next renewal finds a write whose answer was lost.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::{ErrorKind, Window};
    /// use snowmint_core::lease::{Record, Renewal, RenewalStep};
    /// use snowmint_core::store::{Ask, Reply};
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let mut renewal = Renewal::resume(5, record, 1, false);
    /// renewal.renew(1500, 1499, 3000);
    /// // Another write was first: read the record, which another holder has.
    /// assert_eq!(renewal.reply(Reply::Conflict), RenewalStep::Ask(Ask::Read));
    /// let other = Record { nonce: 0xbad, ..record };
    /// let RenewalStep::Lost(error) = renewal.reply(Reply::Record(Some(other), 2)) else { panic!("lost") };
    /// assert_eq!(error.kind(), ErrorKind::WindowClosed);
    /// ```
    pub fn reply(&mut self, reply: Reply<Record>) -> RenewalStep {
        let Some(pending) = self.pending.take() else { return RenewalStep::Lost(Error::plain(What::LeaseLost)) };
        match reply {
            Reply::Written(version) => self.confirm(pending, version),
            Reply::Unknown => RenewalStep::Later(None),
            // This write may have been done before, or an earlier write of this holder arrived late.
            Reply::Conflict => {
                self.pending = Some(pending);
                RenewalStep::Ask(Ask::Read)
            }
            Reply::Record(Some(found), version) if found == pending => self.confirm(pending, version),
            Reply::Record(Some(found), version) if found.is_held_by(self.record.nonce) => {
                (self.record, self.version) = (found, version);
                // Only a release moves an end in the store back.
                let end_ms = if pending.released {
                    pending.window.end_ms
                } else {
                    pending.window.end_ms.max(found.window.end_ms)
                };
                self.write(Record { window: Window { end_ms, ..pending.window }, ..pending })
            }
            Reply::Record(None, _) => RenewalStep::Lost(Error::plain(What::RecordGone)),
            Reply::Record(..) | Reply::Sum(_) | Reply::Full => RenewalStep::Lost(Error::plain(What::LeaseLost)),
        }
    }

    const fn confirm(&mut self, record: Record, version: Version) -> RenewalStep {
        (self.record, self.version) = (record, version);
        if record.released { RenewalStep::Released } else { RenewalStep::Window(record.window, self.skew_ms) }
    }
}
