//! The two words of state that a generator needs to mint.

use super::step::CLOSED;
use crate::layout::Layout;
use crate::mutant;
use crate::sync::{AtomicU64, Ordering};
use crate::window::Window;

/// The window's end of a vouched node: every tick lies before it.
const ENDLESS: u64 = u64::MAX;

/// A cell: the next free position (plus one), and the tick just past the window, changed by compare-and-swap.
///
/// | position | end | the cell is |
/// | --- | --- | --- |
/// | zero | zero | wiped: not opened yet, or seen by a forked child. A call fails with `Forked` |
/// | zero | not zero | closed for good. A call fails with `WindowClosed` |
/// | not zero | not zero | open: calls mint positions in ticks before the end |
///
/// A cell is opened once. Its window only grows, and closing it is final. So a call that is stalled between reading the
/// cell and swapping its word emits nothing after the cell was closed.
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
        #[allow(clippy::new_without_default, reason = "a default state would be a second state of its node")]
        pub const fn $name() -> Self $body
        $(#[$doc])*
        #[cfg(loom)]
        pub fn $name() -> Self $body
    };
}

impl Words {
    const_unless_loom! {
        /// Makes a cell that is not opened yet: all zero.
        ///
        /// # Examples
        /// ```
        /// use snowmint_core::{ErrorKind, Options, Snowflake, Words, layouts::SNOWMINT};
        /// let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::wiped());
        /// assert_eq!(generator.try_next_id(1_772_323_200_123).unwrap_err().kind(), ErrorKind::Forked);
        /// ```
        pub fn wiped() -> Self {
            Self { state: AtomicU64::new(CLOSED), window_end: AtomicU64::new(0) }
        }
    }

    const_unless_loom! {
        /// Makes the open cell of a vouched node: nothing issued yet, no end.
        ///
        /// # Examples
        /// ```
        /// use snowmint_core::{Options, Snowflake, Words, layouts::SNOWMINT};
        /// // Two generators that share the state never repeat an ID.
        /// let words = Words::vouched();
        /// let first = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, &words);
        /// let second = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, &words);
        /// assert!(first.try_next_id(1_772_323_200_123)? < second.try_next_id(1_772_323_200_123)?);
        /// # Ok::<(), snowmint_core::Error>(())
        /// ```
        pub fn vouched() -> Self {
            Self { state: AtomicU64::new(CLOSED + 1), window_end: AtomicU64::new(ENDLESS) }
        }
    }

    /// Makes a cell of two words. For hosts with one thread, whose other module owns the cell.
    #[doc(hidden)]
    #[cfg(not(loom))]
    pub const fn of([state, window_end]: [u64; 2]) -> Self {
        Self { state: AtomicU64::new(state), window_end: AtomicU64::new(window_end) }
    }

    /// Replaces both words, as `of` makes them.
    #[doc(hidden)]
    pub fn set(&self, [state, window_end]: [u64; 2]) {
        self.state.store(state, Ordering::Release);
        self.window_end.store(window_end, Ordering::Release);
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

    /// Opens a wiped cell for a window, whose end must be durable already. Returns whether the layout has a tick there.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Options, Snowflake, Window, Words, layouts::SNOWMINT};
    /// let words = Words::wiped();
    /// assert!(words.open(&SNOWMINT, Window { start_ms: 1_772_323_200_000, end_ms: 1_772_323_203_000 }));
    /// let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, words);
    /// assert!(generator.try_next_id(1_772_323_202_999).is_ok());
    /// assert_eq!(generator.try_next_id(1_772_323_203_000).unwrap_err().kind(), ErrorKind::WindowClosed);
    /// ```
    pub fn open(&self, layout: &Layout, window: Window) -> bool {
        let first = layout.first_tick_from(window.start_ms);
        if first > layout.time().max() {
            return false;
        }
        // At least 1, since a cell with 0 is wiped. A window that ends before the epoch never mints.
        self.window_end.store(layout.first_tick_from(window.end_ms).max(1), Ordering::Release);
        self.state.store((first << layout.sequence().width()) + 1, Ordering::Release);
        true
    }

    /// Moves the window's end up to `end_ms` (Unix ms), which must be durable already.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, Snowflake, Window, Words, layouts::SNOWMINT};
    /// let words = Words::wiped();
    /// words.open(&SNOWMINT, Window { start_ms: 1_772_323_200_000, end_ms: 1_772_323_203_000 });
    /// words.extend(&SNOWMINT, 1_772_323_206_000);
    /// let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, words);
    /// assert!(generator.try_next_id(1_772_323_205_000).is_ok());
    /// ```
    pub fn extend(&self, layout: &Layout, end_ms: i64) {
        self.window_end.fetch_max(layout.first_tick_from(end_ms), Ordering::AcqRel);
    }

    /// Closes the cell for good. Returns the instant just past the last tick with an issued ID, Unix ms; `None` if the
    /// cell was closed or wiped before.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Options, Snowflake, Words, layouts::SNOWMINT};
    /// let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::vouched());
    /// generator.try_next_id(1_772_323_200_123)?;
    /// assert_eq!(generator.words().close(&SNOWMINT), Some(1_772_323_200_124));
    /// assert_eq!(generator.try_next_id(1_772_323_200_200).unwrap_err().kind(), ErrorKind::WindowClosed);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn close(&self, layout: &Layout) -> Option<i64> {
        let word = if mutant::removes("close") { self.state() } else { self.state.swap(CLOSED, Ordering::AcqRel) };
        Self::past_last_ms(layout, word)
    }

    /// Returns the start of the first tick without an issued ID, Unix ms; `None` if the cell is closed or wiped.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, Snowflake, Words, layouts::SNOWMINT};
    /// let generator = Snowflake::with(&SNOWMINT, 5, Options::DEFAULT, Words::vouched());
    /// generator.try_next_id(1_772_323_200_123)?;
    /// assert_eq!(generator.words().unused_from_ms(&SNOWMINT), Some(1_772_323_200_124));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn unused_from_ms(&self, layout: &Layout) -> Option<i64> {
        Self::past_last_ms(layout, self.state())
    }

    fn past_last_ms(layout: &Layout, word: u64) -> Option<i64> {
        let position = word.checked_sub(CLOSED + 1)?;
        let width = layout.sequence().width();
        let begun = position & layout.sequence().max() > 0;
        let tick = (position >> width).saturating_add(u64::from(begun));
        // This may be the tick after the layout's last.
        Some(layout.epoch_ms().saturating_add_unsigned(tick.saturating_mul(layout.tick_ms())))
    }

    /// Returns whether both words are zero, as a forked child sees them.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Words;
    /// assert!(Words::wiped().is_wiped() && !Words::vouched().is_wiped());
    /// ```
    pub fn is_wiped(&self) -> bool {
        self.state() == CLOSED && self.window_end() == 0
    }

    /// Returns whether calls may mint: neither closed nor wiped.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.state() != CLOSED || mutant::removes("run")
    }

    #[inline]
    pub(crate) fn state(&self) -> u64 {
        self.state.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn window_end(&self) -> u64 {
        self.window_end.load(Ordering::Acquire)
    }

    /// Replaces `current` with `next`. Fails with the word that is there instead, if another call has changed it. Hidden: for
    /// models in which a call stalls before its swap.
    #[doc(hidden)]
    #[inline]
    pub fn swap(&self, current: u64, next: u64) -> Result<(), u64> {
        if mutant::removes("swap") {
            self.state.store(next, Ordering::Release);
            return Ok(());
        }
        self.state.compare_exchange_weak(current, next, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
}
