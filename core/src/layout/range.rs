//! Time ranges as ID ranges.

use core::ops::RangeInclusive;

use super::Layout;
use crate::error::{Error, What};

impl Layout {
    /// Returns the lowest and the highest ID between two instants, both included, for `WHERE id BETWEEN ? AND ?` on a
    /// primary key.
    ///
    /// Instants are Unix ms, each rounded down to its tick. [`unix_ms`](crate::time::unix_ms) converts a `SystemTime`.
    ///
    /// # Errors
    /// `InvalidLayout`, if another field is above `time` (except `unused` and fields with a fixed value); `InvalidId`, if
    /// `to_ms` is before `from_ms`; `BeforeEpoch` or `TimeOverflow`, if an instant has no tick in this layout.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let day = TWITTER.id_range(1_656_374_400_000, 1_656_460_799_999)?; // 2022-06-28, UTC
    /// assert!(day.contains(&1_541_815_603_606_036_480));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn id_range(&self, from_ms: i64, to_ms: i64) -> Result<RangeInclusive<u64>, Error> {
        let below_time = self.time().put(1) - 1;
        let varies = !self.constant;
        if varies > self.time().mask() | below_time {
            return Err(Error::plain(What::TimeFirst));
        }
        Error::refuse_reversed(from_ms, to_ms)?;
        let Some(from) = self.tick_at(from_ms) else {
            return Err(self.no_tick(from_ms));
        };
        let Some(to) = self.tick_at(to_ms) else {
            return Err(self.no_tick(to_ms));
        };
        let from = self.fixed | self.time().put(from);
        Ok(from..=(self.fixed | self.time().put(to) | (below_time & varies)))
    }
}
