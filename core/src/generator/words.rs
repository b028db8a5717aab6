//! The two words of state that a generator needs to mint.

use crate::step::CLOSED;
use crate::sync::{AtomicU64, Ordering};

/// The window's end of a node that the caller vouches for: no tick is beyond it.
const ENDLESS: u64 = u64::MAX;

/// The next free position (plus one) and the window's end, changed by compare-and-swap.
///
/// All zero means closed, so that words on a page that a forked child sees wiped mint nothing there.
#[derive(Debug)]
pub struct Words {
    state: AtomicU64,
    window_end: AtomicU64,
}

impl Words {
    /// The state of a vouched node: nothing issued yet, no end.
    #[allow(
        clippy::new_without_default,
        reason = "a default state for a generator would be a second state for its node"
    )]
    pub const fn vouched() -> Self {
        Self { state: AtomicU64::new(CLOSED + 1), window_end: AtomicU64::new(ENDLESS) }
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
        self.state.compare_exchange_weak(current, next, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
}
