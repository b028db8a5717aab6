//! Unix ms to civil time and back, in UTC and the proleptic Gregorian calendar, without leap seconds.

use crate::print;

const DAY_MS: i64 = 86_400_000;
/// The shift that puts the epoch of the day count at 0000-03-01, where a leap day is a year's last day.
const DAYS_TO_1970: i64 = 719_468;
const DAYS_IN_400_YEARS: i64 = 146_097;

/// Writes an instant in Unix ms as RFC 3339, such as `2022-06-28T16:07:40.105Z`.
///
/// Years outside 0 to 9999, which RFC 3339 does not know, get a sign, as in ISO 8601.
pub fn write_rfc3339(put: &mut impl FnMut(char), unix_ms: i64) {
    let (year, month, day) = civil_from_days(unix_ms.div_euclid(DAY_MS));
    let ms = unix_ms.rem_euclid(DAY_MS).unsigned_abs();
    if !(0..=9999).contains(&year) {
        put(if year < 0 { '-' } else { '+' });
    }
    let parts = [
        (year.unsigned_abs(), 4, '-'),
        (month, 2, '-'),
        (day, 2, 'T'),
        (ms / 3_600_000, 2, ':'),
        (ms / 60_000 % 60, 2, ':'),
        (ms / 1000 % 60, 2, '.'),
        (ms % 1000, 3, 'Z'),
    ];
    for (value, width, after) in parts {
        print::padded(put, value, width);
        put(after);
    }
}

/// Reads an RFC 3339 date-time (section 5.6) to Unix ms; what is finer than a ms is cut off.
///
/// `None` if the text is not one, or names a leap second, which Unix time cannot tell.
pub fn parse_rfc3339(text: &[u8]) -> Option<i64> {
    let ([year, month, day, hour, minute, second], mut rest) = numbers(text, b"0000-00-00T00:00:00")?;
    let days = days_from_civil(year, month, day);
    // What is no date comes back as another one.
    let (same_year, same_month, same_day) = civil_from_days(days);
    if same_year != year || same_month.cast_signed() != month || same_day.cast_signed() != day {
        return None;
    }
    let mut ms = 0;
    if let [b'.', b'0'..=b'9', ..] = rest {
        let mut unit = 100;
        rest = &rest[1..];
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            ms += i64::from(digit - b'0') * unit;
            unit /= 10;
            rest = after;
        }
    }
    let (sign, offset) = match rest {
        [b'Z' | b'z'] => (0, &b"00:00"[..]),
        [b'+', offset @ ..] => (1, offset),
        [b'-', offset @ ..] => (-1, offset),
        _ => return None,
    };
    let ([offset_hour, offset_minute], after) = numbers(offset, b"00:00")?;
    if !after.is_empty() || hour > 23 || offset_hour > 23 || minute.max(offset_minute).max(second) > 59 {
        return None;
    }
    let minutes = (days * 24 + hour - sign * offset_hour) * 60 + minute - sign * offset_minute;
    Some((minutes * 60 + second) * 1000 + ms)
}

/// The numbers at the start of `text`, which must look like `pattern`: a digit for each 0, letters in either case.
fn numbers<'a, const N: usize>(text: &'a [u8], pattern: &[u8]) -> Option<([i64; N], &'a [u8])> {
    let mut values = [0; N];
    let mut at = 0;
    let (head, rest) = text.split_at_checked(pattern.len())?;
    for (byte, like) in head.iter().zip(pattern) {
        match byte {
            b'0'..=b'9' if *like == b'0' => values[at] = values[at] * 10 + i64::from(byte - b'0'),
            _ if byte.eq_ignore_ascii_case(like) && *like != b'0' => at += 1,
            _ => return None,
        }
    }
    Some((values, rest))
}

/// Days since 1970-01-01 of a date; the method of Howard Hinnant's "chrono-compatible low-level date algorithms".
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_IN_400_YEARS + day_of_era - DAYS_TO_1970
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_IN_400_YEARS);
    let day_of_era = days.rem_euclid(DAYS_IN_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month.unsigned_abs(), day.unsigned_abs())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::String;

    fn printed(unix_ms: i64) -> String {
        let mut out = String::new();
        write_rfc3339(&mut |character| out.push(character), unix_ms);
        out
    }

    #[test]
    fn printing_and_reading_are_each_others_inverse() {
        for unix_ms in (-62_167_219_200_000..253_402_300_800_000).step_by(86_399_999 * 97) {
            assert_eq!(parse_rfc3339(printed(unix_ms).as_bytes()), Some(unix_ms));
        }
    }

    #[test]
    fn years_beyond_rfc_3339_get_a_sign() {
        assert_eq!(printed(281_474_976_710_655), "+10889-08-02T05:31:50.655Z");
        assert_eq!(printed(i64::MIN), "-292275055-05-16T16:47:04.192Z");
        assert_eq!(printed(i64::MAX), "+292278994-08-17T07:12:55.807Z");
    }

    #[test]
    fn offsets_and_long_fractions_are_read() {
        assert_eq!(parse_rfc3339(b"2016-05-20T00:00:00+08:00"), Some(1_463_673_600_000));
        assert_eq!(parse_rfc3339(b"2010-11-04t01:42:54.6579999z"), Some(1_288_834_974_657));
    }
}
