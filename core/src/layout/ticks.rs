//! Ticks and instants.

use super::{Layout, TIME};
use crate::error::{Error, What};

impl Layout {
    /// Returns the length of a tick in ms, rounded down: 0 for ticks below 1 ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SONYFLAKE, TWITTER};
    /// assert_eq!((TWITTER.tick_ms(), SONYFLAKE.tick_ms()), (1, 10));
    /// ```
    pub const fn tick_ms(&self) -> u64 {
        if self.per_ms > 1 { self.tick / 1000 } else { self.tick }
    }

    /// Returns the length of a tick in microseconds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Layout, layouts::TWITTER};
    /// assert_eq!(TWITTER.tick_us(), 1000);
    /// let cockroach = Layout::parse("unused:1,time:48,node:15;epoch=1420070400000;tick=10us")?;
    /// assert_eq!((cockroach.tick_us(), cockroach.tick_ms()), (10, 0));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn tick_us(&self) -> u64 {
        if self.per_ms > 1 { self.tick } else { self.tick * 1000 }
    }

    /// Returns whether ticks are not whole ms.
    #[doc(hidden)]
    pub const fn has_fine_ticks(&self) -> bool {
        self.per_ms > 1
    }

    /// Returns the start of the last tick that fits the time field, in Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// assert_eq!(SNOWMINT.ends_at_ms(), 3_934_712_855_551); // 2094-09-07T15:47:35.551Z
    /// ```
    pub const fn ends_at_ms(&self) -> i64 {
        self.tick_start_ms(self.reserved[TIME].max())
    }

    /// Refuses an instant (Unix ms) past the last tick, so that no generator is made for a layout that has ended.
    ///
    /// # Errors
    /// `TimeOverflow` past the last tick; as [`refuse_unmintable`](Self::refuse_unmintable).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, layouts::BAIDU};
    /// // Its last tick was on 2024-11-20.
    /// let error = BAIDU.refuse_if_over(1_735_689_600_000).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::TimeOverflow);
    /// assert_eq!(BAIDU.refuse_if_over(0), Ok(()), "the epoch does not matter");
    /// ```
    pub fn refuse_if_over(&self, now_ms: i64) -> Result<(), Error> {
        if !self.is_mintable() {
            return Err(Error::plain(What::Unmintable));
        }
        if now_ms > self.epoch_ms && self.tick_at(now_ms).is_none() { Err(self.no_tick(now_ms)) } else { Ok(()) }
    }

    /// Refuses an instant (Unix ms) without a tick.
    ///
    /// # Errors
    /// `BeforeEpoch` before the epoch, `TimeOverflow` past the last tick.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, layouts::TWITTER};
    /// assert_eq!(TWITTER.refuse_outside(TWITTER.epoch_ms()), Ok(()));
    /// assert_eq!(TWITTER.refuse_outside(0).unwrap_err().kind(), ErrorKind::BeforeEpoch);
    /// ```
    pub fn refuse_outside(&self, now_ms: i64) -> Result<(), Error> {
        if self.tick_at(now_ms).is_none() { Err(self.no_tick(now_ms)) } else { Ok(()) }
    }

    /// Returns the tick of an instant; `None` if the layout has no such tick. No layout has a tick at `i64::MAX`: hosts
    /// pass it for every later time.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "out of line, the result would go through memory")]
    pub(crate) const fn tick_at(&self, unix_ms: i64) -> Option<u64> {
        self.tick_at_us(unix_ms, 0)
    }

    /// Works as `tick_at`, for an instant that lies `extra_us` microseconds, 0 to 999, after `unix_ms`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "out of line, the result would go through memory")]
    pub(crate) const fn tick_at_us(&self, unix_ms: i64, extra_us: u32) -> Option<u64> {
        let tick = self.tick_or_max(unix_ms, extra_us);
        if tick == u64::MAX { None } else { Some(tick) }
    }

    /// Returns the tick, or `u64::MAX` instead of `None`. No tick has that number, since the last tick fits an `i64`.
    #[inline(never)]
    const fn tick_or_max(&self, unix_ms: i64, extra_us: u32) -> u64 {
        let mut since = unix_ms.abs_diff(self.epoch_ms);
        if self.per_ms > 1 {
            // The last tick in microseconds fits an `i64` too. No saturating multiplication, as above.
            since = if since > u64::MAX / 1001 { u64::MAX } else { since * 1000 + extra_us as u64 };
        }
        let tick = since / self.tick;
        if unix_ms < self.epoch_ms || unix_ms == i64::MAX || tick > self.reserved[TIME].max() { u64::MAX } else { tick }
    }

    /// Returns why an instant has no tick.
    pub(crate) const fn no_tick(&self, unix_ms: i64) -> Error {
        if unix_ms < self.epoch_ms {
            Error::before_epoch(unix_ms, self.epoch_ms)
        } else {
            Error::time_overflow(unix_ms, self.ends_at_ms())
        }
    }

    /// Returns the first instant of a tick that fits the time field, rounded down to a ms. `finish` has checked that it
    /// fits an `i64`.
    #[doc(hidden)]
    pub const fn tick_start_ms(&self, tick: u64) -> i64 {
        let units = tick.wrapping_mul(self.tick);
        self.epoch_ms.wrapping_add_unsigned(if self.per_ms > 1 { units / 1000 } else { units })
    }

    /// Returns the microseconds between `tick_start_ms` and the first instant of the tick, 0 to 999.
    pub(crate) const fn tick_start_us(&self, tick: u64) -> u32 {
        if self.per_ms > 1 { (tick.wrapping_mul(self.tick) % 1000) as u32 } else { 0 }
    }
}
