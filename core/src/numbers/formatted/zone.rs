//! The zone of the dates in texts.

use core::fmt;

use crate::error::{Error, What};
use crate::int::write_decimal;

/// The offset of a local time from UTC, in whole minutes: `Z`, or from `-23:59` to `+23:59`.
///
/// A zone has no name such as `Europe/Berlin`. Where daylight saving time ends, an hour comes twice, so dates would go back. Use the
/// offset of the winter: a period then begins up to an hour late in summer, and never twice.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::Zone;
/// assert_eq!(Zone::parse("+05:30")?.minutes(), 330);
/// assert_eq!(Zone::parse("UTC")?.to_string(), "Z");
/// assert!(Zone::parse("Europe/Berlin").is_err());
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Zone(i16);

impl Zone {
    /// UTC.
    pub const UTC: Self = Self(0);

    /// Reads `Z`, `UTC`, or an offset such as `+01:00`.
    ///
    /// # Errors
    /// `InvalidText` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Zone;
    /// assert_eq!(Zone::parse("Z")?, Zone::UTC);
    /// assert_eq!(Zone::parse("-03:30")?.minutes(), -210);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let digit = |byte: u8| byte.is_ascii_digit().then(|| i16::from(byte - b'0'));
        let minutes = || {
            let (&[sign, ten_hours, hour, b':', ten_minutes, minute], &[]) = text.as_bytes().split_first_chunk()?
            else {
                return None;
            };
            let (hours, minutes) = (digit(ten_hours)? * 10 + digit(hour)?, digit(ten_minutes)? * 10 + digit(minute)?);
            let minutes = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
            match sign {
                b'+' => Some(minutes),
                b'-' => Some(-minutes),
                _ => None,
            }
        };
        if matches!(text, "Z" | "UTC") {
            return Ok(Self::UTC);
        }
        minutes().map(Self).ok_or(Error::plain(What::Zone))
    }

    /// Returns the minutes east of UTC.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Zone;
    /// assert_eq!(Zone::parse("+01:00")?.minutes(), 60);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn minutes(self) -> i16 {
        self.0
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("Z");
        }
        let minutes = u64::from(self.0.unsigned_abs());
        f.write_str(if self.0 < 0 { "-" } else { "+" })?;
        write_decimal(f, minutes / 60, 2)?;
        f.write_str(":")?;
        write_decimal(f, minutes % 60, 2)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_zone_is_read_back_from_its_text() {
        for text in ["Z", "+00:01", "-00:01", "+23:59", "-23:59", "+05:45"] {
            assert_eq!(Zone::parse(text).map(|zone| zone.to_string()).as_deref(), Ok(text));
        }
        assert_eq!(Zone::parse("+00:00"), Ok(Zone::UTC));
        assert_eq!(Zone::parse("-00:00"), Ok(Zone::UTC));
    }

    #[test]
    fn every_other_text_is_refused() {
        for text in
            ["", "z", "utc", "+1:00", "+0100", "01:00", "+24:00", "+01:60", "+01:00 ", "CET", "+0a:00", "±01:00"]
        {
            assert!(Zone::parse(text).is_err(), "{text}");
        }
    }
}
