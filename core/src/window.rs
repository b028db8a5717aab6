//! Windows: the intervals of time that a store grants to the holder of a node.

use crate::error::{Error, What};
use crate::layout::Layout;
use crate::mutant;

/// An interval of time, Unix ms, in which one holder may mint IDs of one node. The end is not included.
///
/// A tick belongs to the window that contains its first instant, so two windows that touch within a tick never share
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first instant.
    pub start_ms: i64,
    /// The instant just past the last instant.
    pub end_ms: i64,
}

impl Window {
    /// The default length of the window of a file slot or tab slot, in ms.
    pub const SLOT_MS: u64 = 3000;
    /// The default length of a window over an engine, in ms.
    pub const ENGINE_MS: u64 = 30_000;
    /// The least length of a window, in ms. A window also has at least four ticks.
    pub const MIN_MS: u64 = 1000;
    const MIN_TICKS: u64 = 4;
    /// Upper limit of window length plus `max_ahead_ms`, in ms: how long the node of a crashed holder stays
    /// unavailable.
    pub const MAX_MS: u64 = 60 * 60 * 1000;

    /// Returns the length of windows for `layout`, in ms: the given length, or else `default_ms` or four ticks,
    /// whichever is longer.
    ///
    /// # Errors
    /// `InvalidLayout`, if the length is below 1000 ms or four ticks, or with `max_ahead_ms` added above
    /// [`Self::MAX_MS`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Window, layouts::SNOWMINT};
    /// assert_eq!(Window::length_ms(&SNOWMINT, None, Window::SLOT_MS, 0)?, 3000);
    /// assert_eq!(Window::length_ms(&SNOWMINT, Some(10_000), Window::SLOT_MS, 0)?, 10_000);
    /// assert!(Window::length_ms(&SNOWMINT, Some(999), Window::SLOT_MS, 0).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn length_ms(
        layout: &Layout,
        given: Option<u64>,
        default_ms: u64,
        max_ahead_ms: u64,
    ) -> Result<u64, Error> {
        if let Err(error) = layout.refuse_unmintable() {
            return Err(error);
        }
        let ticks_ms = layout.tick_ms().saturating_mul(Self::MIN_TICKS);
        let least_ms = if ticks_ms > Self::MIN_MS { ticks_ms } else { Self::MIN_MS };
        let length_ms = match given {
            Some(ms) => ms,
            None if default_ms < least_ms => least_ms,
            None => default_ms,
        };
        let reach_ms = length_ms.saturating_add(max_ahead_ms);
        if length_ms < least_ms {
            return Err(Error::new(What::WindowLength, 0, least_ms, length_ms));
        }
        if reach_ms > Self::MAX_MS {
            return Err(Error::new(What::WindowLength, 0, least_ms, reach_ms));
        }
        Ok(length_ms)
    }

    /// Returns the first window of a new holder. It starts with the present tick, or at the end of the node's last
    /// window if that is later.
    ///
    /// `previous_end_ms` and `now_ms` are Unix ms; `reach_ms` is `max_ahead_ms` plus the window's length.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Window, layouts::SNOWMINT};
    /// // The last holder had the node until a second after now.
    /// let window = Window::first(&SNOWMINT, Some(1_772_323_201_000), 1_772_323_200_000, 3000);
    /// assert_eq!(window, Window { start_ms: 1_772_323_201_000, end_ms: 1_772_323_204_000 });
    /// ```
    pub fn first(layout: &Layout, previous_end_ms: Option<i64>, now_ms: i64, reach_ms: u64) -> Self {
        let tick_start_ms = layout.tick_at(now_ms).map_or(now_ms, |tick| layout.tick_start_ms(tick));
        let start_ms = match previous_end_ms {
            Some(end_ms) if end_ms > tick_start_ms && !mutant::removes("start") => end_ms,
            _ => tick_start_ms,
        };
        Self { start_ms, end_ms: now_ms.max(start_ms).saturating_add_unsigned(reach_ms) }
    }

    /// Returns the end after a renewal at `now_ms` by a holder whose last tick begins at `last_ms`, all in Unix ms. Ends
    /// only grow.
    ///
    /// `reach_ms` is `max_ahead_ms` plus the window's length.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// assert_eq!(window.renewed_end_ms(1500, 1499, 3000), 4500);
    /// assert_eq!(window.renewed_end_ms(0, 0, 1000), 3000);
    /// ```
    pub fn renewed_end_ms(&self, now_ms: i64, last_ms: i64, reach_ms: u64) -> i64 {
        self.end_ms.max(now_ms.max(last_ms).saturating_add_unsigned(reach_ms))
    }
}

#[cfg(feature = "std")]
impl Window {
    /// Returns the first instant.
    ///
    /// # Errors
    /// As [`system_time`](crate::time::system_time).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// let window = Window { start_ms: 1_772_323_200_000, end_ms: 1_772_323_203_000 };
    /// let length = window.end()?.duration_since(window.start()?).expect("the end is later");
    /// assert_eq!(length.as_secs(), 3);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn start(&self) -> Result<std::time::SystemTime, Error> {
        crate::time::system_time(self.start_ms)
    }

    /// Returns the instant just past the last instant.
    ///
    /// # Errors
    /// As [`system_time`](crate::time::system_time).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use snowmint_core::Window;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// assert_eq!(window.end()?, SystemTime::UNIX_EPOCH + Duration::from_secs(3));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn end(&self) -> Result<std::time::SystemTime, Error> {
        crate::time::system_time(self.end_ms)
    }
}

impl Layout {
    /// Returns the first tick that begins at `unix_ms` or later; if the layout has none, one past its last tick.
    pub(crate) const fn first_tick_from(&self, unix_ms: i64) -> u64 {
        if unix_ms <= self.epoch_ms() {
            return 0;
        }
        let tick = unix_ms.abs_diff(self.epoch_ms()).div_ceil(self.tick_ms());
        let past = self.time().max().saturating_add(1);
        if tick < past { tick } else { past }
    }

    /// Returns when a holder whose window starts at `start_ms` can first mint, Unix ms; `None` after the layout's end.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SONYFLAKE;
    /// // Ticks of 10 ms: the first tick that starts in the window.
    /// let start_ms = SONYFLAKE.epoch_ms() + 1001;
    /// assert_eq!(SONYFLAKE.mints_from_ms(start_ms), Some(SONYFLAKE.epoch_ms() + 1010));
    /// ```
    pub const fn mints_from_ms(&self, start_ms: i64) -> Option<i64> {
        let tick = self.first_tick_from(start_ms);
        if tick > self.time().max() { None } else { Some(self.tick_start_ms(tick)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: &str = "time:32,node:4,sequence:8;epoch=0;tick=1s";

    #[test]
    fn a_tick_belongs_to_the_window_with_its_first_instant() {
        let layout = Layout::parse(SECONDS).expect("valid");
        assert_eq!(layout.first_tick_from(-5), 0);
        assert_eq!(layout.first_tick_from(0), 0);
        assert_eq!(layout.first_tick_from(1), 1);
        assert_eq!(layout.first_tick_from(1000), 1);
        assert_eq!(layout.first_tick_from(1001), 2);
        assert_eq!(layout.first_tick_from(i64::MAX), 1 << 32);
        assert_eq!(layout.mints_from_ms(1001), Some(2000));
        assert_eq!(layout.mints_from_ms(i64::MAX), None);
    }

    #[test]
    fn a_window_is_at_least_a_second_and_four_ticks_long() {
        let seconds = Layout::parse(SECONDS).expect("valid");
        let ms = &crate::layout::layouts::SNOWMINT;
        assert_eq!(Window::length_ms(ms, None, Window::SLOT_MS, 0), Ok(3000));
        assert_eq!(Window::length_ms(ms, Some(1000), Window::SLOT_MS, 0), Ok(1000));
        assert!(Window::length_ms(ms, Some(999), Window::SLOT_MS, 0).is_err());
        assert_eq!(Window::length_ms(&seconds, None, Window::SLOT_MS, 0), Ok(4000));
        let error = Window::length_ms(&seconds, Some(3999), Window::SLOT_MS, 0).expect_err("less than four ticks");
        assert_eq!(
            std::format!("{error}"),
            "window_ms must be at least 4000 for this layout, and at most 3600000 with max_ahead_ms added, not 3999"
        );
    }

    #[test]
    fn window_ms_and_max_ahead_ms_add_up_to_an_hour_at_most() {
        let ms = &crate::layout::layouts::SNOWMINT;
        assert_eq!(Window::length_ms(ms, Some(3_600_000), Window::SLOT_MS, 0), Ok(3_600_000));
        assert_eq!(Window::length_ms(ms, None, Window::SLOT_MS, 3_597_000), Ok(3000));
        let error = Window::length_ms(ms, None, Window::SLOT_MS, 3_597_001).expect_err("more than an hour");
        assert_eq!(
            std::format!("{error}"),
            "window_ms must be at least 1000 for this layout, and at most 3600000 with max_ahead_ms added, not 3600001"
        );
        for (window_ms, max_ahead_ms) in [(Some(u64::MAX), 0), (None, u64::MAX), (Some(u64::MAX), u64::MAX)] {
            assert!(Window::length_ms(ms, window_ms, Window::SLOT_MS, max_ahead_ms).is_err());
        }
        let hours = Layout::parse("time:20,node:4,sequence:8;epoch=0;tick=3600s").expect("valid");
        assert!(Window::length_ms(&hours, None, Window::SLOT_MS, 0).is_err(), "four ticks exceed an hour");
    }

    #[test]
    fn a_new_window_starts_at_the_old_end_or_now() {
        let layout = Layout::parse("time:32,node:4,sequence:8;epoch=0;tick=10ms").expect("valid");
        let window = Window::first(&layout, Some(500), 400, 100);
        assert_eq!(window, Window { start_ms: 500, end_ms: 600 });
        assert_eq!(Window::first(&layout, Some(500), 708, 100), Window { start_ms: 700, end_ms: 808 });
        assert_eq!(Window::first(&layout, Some(705), 708, 100), Window { start_ms: 705, end_ms: 808 });
        assert_eq!(Window::first(&layout, None, 708, 100).start_ms, 700);
        assert_eq!(window.renewed_end_ms(300, 520, 50), 600);
        assert_eq!(window.renewed_end_ms(800, 520, 50), 850);
        assert_eq!(window.renewed_end_ms(300, 590, 50), 640);
    }

    extern crate std;
}
