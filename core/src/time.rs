//! Conversion between Unix ms and civil time: UTC, the proleptic Gregorian calendar, without leap seconds.

use core::fmt;

use crate::int::write_decimal;

#[cfg(feature = "std")]
pub use self::system::{system_time, unix_ms};

/// The length of a day, in ms.
pub const DAY_MS: i64 = 86_400_000;
/// Days from 0000-03-01 to 1970. In years that begin in March a leap day is the last day.
const DAYS_TO_1970: i64 = 719_468;
const DAYS_IN_400_YEARS: i64 = 146_097;

/// Writes an instant in Unix ms as RFC 3339, such as `2022-06-28T16:07:40.105Z`.
///
/// Years outside 0 to 9999, which RFC 3339 does not allow, get a sign and six digits, as in JavaScript.
///
/// # Errors
/// Only errors of `out`.
///
/// # Examples
/// ```
/// use snowmint_core::time::write_rfc3339;
/// let mut text = String::new();
/// write_rfc3339(&mut text, 1_656_432_460_105)?;
/// assert_eq!(text, "2022-06-28T16:07:40.105Z");
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn write_rfc3339(out: &mut impl fmt::Write, unix_ms: i64) -> fmt::Result {
    write_date(out, unix_ms)?;
    let ms = unix_ms.rem_euclid(DAY_MS).unsigned_abs();
    for (before, value, width) in
        [("T", ms / 3_600_000, 2), (":", ms / 60_000 % 60, 2), (":", ms / 1000 % 60, 2), (".", ms % 1000, 3)]
    {
        out.write_str(before)?;
        write_decimal(out, value, width)?;
    }
    out.write_str("Z")
}

/// An instant in Unix ms, displayed as [`write_rfc3339`] writes it.
#[derive(Clone, Copy, Debug)]
pub struct Rfc3339(pub i64);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_rfc3339(f, self.0)
    }
}

/// Writes the day of an instant in the form of [`write_rfc3339`].
///
/// # Errors
/// The errors of `out`.
pub fn write_date(out: &mut impl fmt::Write, unix_ms: i64) -> fmt::Result {
    let (year, month, day) = civil_from_days(unix_ms.div_euclid(DAY_MS));
    let (sign, width) = match year {
        ..0 => ("-", 6),
        0..=9999 => ("", 4),
        10_000.. => ("+", 6),
    };
    for (before, value, width) in
        [(sign, year.unsigned_abs(), width), ("-", month.unsigned_abs(), 2), ("-", day.unsigned_abs(), 2)]
    {
        out.write_str(before)?;
        write_decimal(out, value.into(), width)?;
    }
    Ok(())
}

/// Reads an instant as users of a command line write it, as Unix ms: in RFC 3339, or in Unix ms.
///
/// # Errors
/// A message for any other text.
///
/// # Examples
/// ```
/// use snowmint_core::time::parse_instant;
/// assert_eq!(parse_instant("2022-06-28T16:07:40Z"), parse_instant("1656432460000"));
/// assert!(parse_instant("yesterday").is_err());
/// ```
pub fn parse_instant(text: &str) -> Result<i64, &'static str> {
    let ms = text.parse().ok().or_else(|| parse_rfc3339(text.as_bytes()));
    ms.ok_or("write the time in RFC 3339, such as 2026-01-31T12:00:00Z, or in Unix ms")
}

/// Reads an RFC 3339 date-time (section 5.6) as Unix ms, rounded down to a ms.
///
/// `None` for any other text, and for a leap second, which Unix time cannot represent.
///
/// # Examples
/// ```
/// use snowmint_core::time::parse_rfc3339;
/// assert_eq!(parse_rfc3339(b"2022-06-28T18:07:40.105+02:00"), Some(1_656_432_460_105));
/// assert_eq!(parse_rfc3339(b"2022-06-28"), None);
/// ```
pub fn parse_rfc3339(text: &[u8]) -> Option<i64> {
    let mut values = [0; 8];
    let mut rest = numbers(text, b"0000-00-00T00:00:00", &mut values)?;
    let mut ms = 0;
    if let [b'.', fraction @ ..] = rest {
        let mut unit = 1000;
        rest = fraction;
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            unit /= 10;
            ms += u32::from(digit - b'0') * unit;
            rest = after;
        }
        if unit == 1000 {
            return None;
        }
    }
    let (&zone, mut rest) = rest.split_first()?;
    if !matches!(zone, b'Z' | b'z') {
        if zone != b'+' && zone != b'-' {
            return None;
        }
        rest = numbers(rest, b"00:00", &mut values[6..])?;
    }
    let [year, month, day, hour, minute, second, offset_hour, offset_minute] = values;
    if !rest.is_empty() || hour.max(offset_hour) > 23 || minute.max(offset_minute).max(second) > 59 {
        return None;
    }
    let month = year * 12 + month.checked_sub(1).filter(|month| *month < 12)?;
    let first = day_of_month(month);
    if day == 0 || day > day_of_month(month + 1) - first {
        return None;
    }
    let days = i64::from(first + day - 1) - (DAYS_IN_400_YEARS + DAYS_TO_1970);
    let offset_ms = i64::from((offset_hour * 60 + offset_minute) * 60_000);
    let ms = days * DAY_MS + i64::from(((hour * 60 + minute) * 60 + second) * 1000 + ms);
    Some(if zone == b'-' { ms + offset_ms } else { ms - offset_ms })
}

/// Reads the numbers at the start of `text`, which must look like `pattern`: a digit for each 0, letters in either
/// case. Returns the rest of the text.
#[inline(never)]
fn numbers<'a>(text: &'a [u8], pattern: &[u8], values: &mut [u32]) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(pattern.len())?;
    let mut at = 0;
    for (byte, like) in head.iter().zip(pattern) {
        if *like == b'0' {
            if !byte.is_ascii_digit() {
                return None;
            }
            values[at] = values[at] * 10 + u32::from(byte - b'0');
        } else {
            if byte.to_ascii_uppercase() != *like {
                return None;
            }
            at += 1;
        }
    }
    Some(rest)
}

/// Returns the first day of a month. Months count from 0000-01, days from -0400-03-01.
const fn day_of_month(month: u32) -> u32 {
    let since_march = month + 400 * 12 - 2;
    let year = since_march / 12;
    year * 365 + year / 4 - year / 100 + year / 400 + (since_march % 12 * 153 + 2) / 5
}

/// Returns how many days a month has: 28 to 31. Years are from 0 on, and months from 1 to 12.
#[cfg(feature = "formatted")]
pub(crate) const fn days_in_month(year: u32, month: u32) -> u32 {
    let month = year * 12 + month - 1;
    day_of_month(month + 1) - day_of_month(month)
}

/// Returns year, month and day of a day, which counts from 1970-01-01. The method is Howard Hinnant's,
/// "chrono-compatible low-level date algorithms". The days of 64-bit ms fit 38 bits, and their years 32.
pub(crate) fn civil_from_days(days: i64) -> (i32, i32, i32) {
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_IN_400_YEARS) as i32;
    let day_of_era = days.rem_euclid(DAYS_IN_400_YEARS) as i32;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i32::from(month <= 2), month, day)
}

#[cfg(feature = "std")]
mod system {
    use std::time::{Duration, SystemTime};

    use crate::error::Error;

    const NS_PER_MS: i128 = 1_000_000;

    /// Returns an instant as Unix ms, rounded down.
    ///
    /// # Errors
    /// `TimeOverflow`, if the instant is more than 292 million years before or after 1970.
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use snowmint_core::{layouts::TWITTER, time::unix_ms};
    /// let (from, to) = (SystemTime::UNIX_EPOCH + Duration::from_secs(1_656_374_400), SystemTime::now());
    /// let ids = TWITTER.id_range(unix_ms(from)?, unix_ms(to)?)?;
    /// assert!(ids.contains(&1_541_815_603_606_036_480));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn unix_ms(time: SystemTime) -> Result<i64, Error> {
        // A length in ns has 94 bits.
        let ns = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => since.as_nanos().cast_signed(),
            Err(before) => -before.duration().as_nanos().cast_signed(),
        };
        i64::try_from(ns.div_euclid(NS_PER_MS)).map_err(|_| Error::far_time())
    }

    /// Returns the instant of Unix ms: the inverse of [`unix_ms`].
    ///
    /// # Errors
    /// `TimeOverflow`, if the operating system cannot represent the instant. Unix represents every instant, Windows the
    /// years 1601 to 30828.
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use snowmint_core::time::system_time;
    /// assert_eq!(system_time(1500)?, SystemTime::UNIX_EPOCH + Duration::from_millis(1500));
    /// assert_eq!(system_time(-1)?, SystemTime::UNIX_EPOCH - Duration::from_millis(1));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn system_time(unix_ms: i64) -> Result<SystemTime, Error> {
        let length = Duration::from_millis(unix_ms.unsigned_abs());
        let time = if unix_ms < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(length)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(length)
        };
        time.ok_or(Error::far_time())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::String;

    fn printed(unix_ms: i64) -> String {
        let mut out = String::new();
        write_rfc3339(&mut out, unix_ms).expect("a String takes everything");
        out
    }

    #[test]
    fn reading_is_the_inverse_of_printing() {
        // Miri is some thousand times slower.
        let step_ms = 86_399_999 * if cfg!(miri) { 97_000 } else { 97 };
        for unix_ms in (-62_167_219_200_000..253_402_300_800_000).step_by(step_ms) {
            assert_eq!(parse_rfc3339(printed(unix_ms).as_bytes()), Some(unix_ms));
        }
    }

    #[cfg(all(unix, feature = "std"))]
    #[test]
    fn system_times_are_rounded_down_and_times_beyond_64_bits_refused() {
        use std::time::{Duration, SystemTime};
        for ms in [i64::MIN, -1, 0, 1_656_432_460_105, i64::MAX] {
            let time = system_time(ms).expect("Unix has it");
            assert_eq!(unix_ms(time), Ok(ms));
            assert_eq!(unix_ms(time + Duration::from_nanos(999_999)), Ok(ms));
        }
        let after = system_time(i64::MAX).expect("Unix has it") + Duration::from_millis(1);
        let before = system_time(i64::MIN).expect("Unix has it") - Duration::from_nanos(1);
        for far in [after, before, SystemTime::UNIX_EPOCH + Duration::from_secs(i64::MAX.unsigned_abs())] {
            assert_eq!(unix_ms(far).expect_err("too far").kind(), crate::ErrorKind::TimeOverflow);
        }
    }

    #[test]
    fn years_beyond_rfc_3339_get_a_sign() {
        assert_eq!(printed(281_474_976_710_655), "+010889-08-02T05:31:50.655Z");
        assert_eq!(printed(i64::MIN), "-292275055-05-16T16:47:04.192Z");
        assert_eq!(printed(i64::MAX), "+292278994-08-17T07:12:55.807Z");
    }

    #[test]
    fn offsets_and_long_fractions_are_read() {
        assert_eq!(parse_rfc3339(b"2016-05-20T00:00:00+08:00"), Some(1_463_673_600_000));
        assert_eq!(parse_rfc3339(b"2010-11-04t01:42:54.6579999z"), Some(1_288_834_974_657));
    }
}
