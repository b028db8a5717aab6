//! Conversion between Unix ms and civil time: UTC, the proleptic Gregorian calendar, without leap seconds.

use core::fmt;

pub(crate) const DAY_MS: i64 = 86_400_000;
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
    let ms = unix_ms.rem_euclid(DAY_MS);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    write!(out, "T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// Writes the day of an instant in the form of [`write_rfc3339`].
pub(crate) fn write_date(out: &mut impl fmt::Write, unix_ms: i64) -> fmt::Result {
    let (year, month, day) = civil_from_days(unix_ms.div_euclid(DAY_MS));
    let (sign, width) = match year {
        ..0 => ("-", 6),
        0..=9999 => ("", 4),
        10_000.. => ("+", 6),
    };
    write!(out, "{sign}{:0width$}-{month:02}-{day:02}", year.unsigned_abs())
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

/// Returns year, month and day of a day, which counts from 1970-01-01. The method is Howard Hinnant's,
/// "chrono-compatible low-level date algorithms". The days of 64-bit ms fit 38 bits, and their years 32.
fn civil_from_days(days: i64) -> (i32, i32, i32) {
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
