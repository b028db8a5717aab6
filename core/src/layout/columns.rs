//! Columns and numbers of other languages that hold IDs: signed integers, and JavaScript's numbers.

use super::{Layout, TIME, UNUSED};
use crate::error::{Error, What};

impl Layout {
    /// Returns the start of the first tick at which bit 63 of an ID can be 1, in Unix ms; `None` if bit 63 is always 0.
    ///
    /// An ID with bit 63 is negative in a signed 64-bit column.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{INSTAGRAM, SNOWMINT};
    /// assert_eq!(SNOWMINT.signed_until_ms(), None);
    /// assert_eq!(INSTAGRAM.signed_until_ms(), Some(2_413_731_649_497)); // in 2046
    /// ```
    pub const fn signed_until_ms(&self) -> Option<i64> {
        if self.constant >> 63 == 1 {
            return if self.fixed >> 63 == 1 { Some(self.epoch_ms) } else { None };
        }
        let time_leads = self.reserved[TIME].mask() >> 63 == 1;
        Some(if time_leads { self.tick_start_ms(1 << (self.reserved[TIME].width() - 1)) } else { self.epoch_ms })
    }

    /// Returns whether every ID fits the 53 bits that a JavaScript number holds exactly.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SAFE53, TWITTER};
    /// assert!(SAFE53.js_safe() && !TWITTER.js_safe());
    /// ```
    pub const fn js_safe(&self) -> bool {
        self.bits - self.reserved[UNUSED].width() <= 53
    }

    /// Refuses signed 64-bit integers for IDs of times up to `last_ms` (Unix ms), if one of the IDs could be negative there.
    ///
    /// # Errors
    /// `InvalidId`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::layouts::{INSTAGRAM, SNOWMINT};
    /// let until_ms = INSTAGRAM.signed_until_ms().expect("64 bits");
    /// assert_eq!(INSTAGRAM.refuse_negative(until_ms - 1), Ok(()));
    /// assert_eq!(INSTAGRAM.refuse_negative(until_ms).unwrap_err().kind(), ErrorKind::InvalidId);
    /// assert_eq!(SNOWMINT.refuse_negative(i64::MAX), Ok(()));
    /// ```
    pub const fn refuse_negative(&self, last_ms: i64) -> Result<(), Error> {
        match self.signed_until_ms() {
            Some(until_ms) if last_ms >= until_ms => Err(Error::new(What::Negative, 0, until_ms.cast_unsigned(), 0)),
            _ => Ok(()),
        }
    }
}
