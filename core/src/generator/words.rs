//! The two words of state that a generator needs to mint.

use super::step::CLOSED;
use crate::layout::Layout;
use crate::mutant;
use crate::sync::{AtomicU64, Ordering};
use crate::window::Window;

/// The window's end of a node that the caller vouches for: no tick is beyond it.
const ENDLESS: u64 = u64::MAX;

/// A cell: the next free position (plus one), and the tick just past the window, changed by compare-and-swap.
///
/// | both words | the cell is |
/// | --- | --- |
/// | zero | wiped: not opened yet, or seen by a forked child. Nothing is minted, and the error is `Forked` |
/// | position zero, end not | closed for good. Nothing is minted, and the error is `WindowClosed` |
/// | neither | open: positions in ticks before the end are minted |
///
/// A cell is opened once. Its window only grows, and closing it is final, so a call that was stalled between its look
/// at the cell and its swap can emit nothing after that.
#[derive(Debug)]
#[repr(C)]
pub struct Words {
    state: AtomicU64,
    window_end: AtomicU64,
}

macro_rules! const_unless_loom {
    ($(#[$doc:meta])* pub fn $name:ident() -> Self $body:block) => {
        $(#[$doc])*
        #[cfg(not(loom))]
        #[allow(clippy::new_without_default, reason = "a state that comes about by itself would be a second one for its node")]
        pub const fn $name() -> Self $body
        $(#[$doc])*
        #[cfg(loom)]
        pub fn $name() -> Self $body
    };
}

impl Words {
    const_unless_loom! {
        /// A cell that is not opened yet: all zero.
        pub fn wiped() -> Self {
            Self { state: AtomicU64::new(CLOSED), window_end: AtomicU64::new(0) }
        }
    }

    const_unless_loom! {
        /// The open cell of a vouched node: nothing issued yet, no end.
        pub fn vouched() -> Self {
            Self { state: AtomicU64::new(CLOSED + 1), window_end: AtomicU64::new(ENDLESS) }
        }
    }

    /// A cell of these two words, and back: for hosts of one thread, where another module has the cell itself.
    #[doc(hidden)]
    #[cfg(not(loom))]
    pub const fn of([state, window_end]: [u64; 2]) -> Self {
        Self { state: AtomicU64::new(state), window_end: AtomicU64::new(window_end) }
    }

    /// The inverse of `of`.
    #[doc(hidden)]
    pub fn to_words(&self) -> [u64; 2] {
        [self.state(), self.window_end()]
    }

    /// Opens a wiped cell for a vouched node: nothing issued yet, no end.
    pub fn open_vouched(&self) {
        self.window_end.store(ENDLESS, Ordering::Release);
        self.state.store(CLOSED + 1, Ordering::Release);
    }

    /// Opens a wiped cell for a window, whose end must be durable by now. Whether the layout has a tick there.
    pub fn open(&self, layout: &Layout, window: Window) -> bool {
        let first = layout.first_tick_from(window.start_ms);
        if first > layout.time().max() {
            return false;
        }
        // At least 1, for 0 would be wiped; a window that ends before the epoch has no instant that mints.
        self.window_end.store(layout.first_tick_from(window.end_ms).max(1), Ordering::Release);
        self.state.store((first << layout.sequence().width()) + 1, Ordering::Release);
        true
    }

    /// Moves the window's end up to `end_ms` (Unix ms), which must be durable by now.
    pub fn extend(&self, layout: &Layout, end_ms: i64) {
        self.window_end.fetch_max(layout.first_tick_from(end_ms), Ordering::AcqRel);
    }

    /// Closes the cell for good; the instant just past the last tick that an ID was taken of, Unix ms.
    ///
    /// `None` if the cell was closed or wiped before.
    pub fn close(&self, layout: &Layout) -> Option<i64> {
        let word = if mutant::removes("close") { self.state() } else { self.state.swap(CLOSED, Ordering::AcqRel) };
        Self::past_last_ms(layout, word)
    }

    /// The start of the first tick that no ID was taken of yet, Unix ms; `None` if the cell is closed or wiped.
    pub fn unused_from_ms(&self, layout: &Layout) -> Option<i64> {
        Self::past_last_ms(layout, self.state())
    }

    fn past_last_ms(layout: &Layout, word: u64) -> Option<i64> {
        let position = word.checked_sub(CLOSED + 1)?;
        let width = layout.sequence().width();
        let begun = position & layout.sequence().max() > 0;
        let tick = (position >> width).saturating_add(u64::from(begun));
        // It may be the one after the layout's last.
        Some(layout.epoch_ms().saturating_add_unsigned(tick.saturating_mul(layout.tick_ms())))
    }

    /// Whether both words are zero, as a forked child sees them.
    pub fn is_wiped(&self) -> bool {
        self.state() == CLOSED && self.window_end() == 0
    }

    #[inline]
    pub(crate) fn state(&self) -> u64 {
        self.state.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn window_end(&self) -> u64 {
        self.window_end.load(Ordering::Acquire)
    }

    /// Puts `next` in the place of `current`; gives back what is there if that is no longer `current`.
    #[inline]
    pub(crate) fn swap(&self, current: u64, next: u64) -> Result<(), u64> {
        if mutant::removes("swap") {
            self.state.store(next, Ordering::Release);
            return Ok(());
        }
        self.state.compare_exchange_weak(current, next, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
}
