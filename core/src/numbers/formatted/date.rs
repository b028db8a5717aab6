//! Dates in texts.

use super::token::Token;
use super::zone::Zone;
use crate::error::{Error, What};
use crate::time::{DAY_MS, civil_from_days, days_in_month};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;

/// The parts of a date that a text shows.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Date, Overflow, Pattern, Period, Zone};
/// let pattern = Pattern::new("{yy}{MM}-{0000}", Period::Month, Zone::UTC, Overflow::Error)?;
/// let date = pattern.parse("2611-0042")?.date();
/// assert_eq!(date, Date { year: Some(2026), month: Some(11), day: None, hour: None });
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Date {
    /// The year, from 0 to 9999.
    pub year: Option<u16>,
    /// The month, from 1 to 12.
    pub month: Option<u8>,
    /// The day, from 1 to 31.
    pub day: Option<u8>,
    /// The hour, from 0 to 23.
    pub hour: Option<u8>,
}

impl Date {
    /// Returns the date of a time in a zone: the parts that these tokens show.
    pub(super) fn of(tokens: impl Iterator<Item = Token>, unix_ms: i64, zone: Zone) -> Result<Self, Error> {
        let mut date = Self::default();
        let local_ms = || unix_ms.checked_add(i64::from(zone.minutes()) * MINUTE_MS).ok_or(Error::far_time());
        let civil = || local_ms().map(|ms| civil_from_days(ms.div_euclid(DAY_MS)));
        for token in tokens {
            match token {
                Token::Year | Token::ShortYear => {
                    let (years, what) = match token {
                        Token::Year => (0..=9999, What::FormattedYear),
                        _ => (2000..=2099, What::FormattedShortYear),
                    };
                    let year = civil()?.0;
                    if !years.contains(&year) {
                        return Err(Error::new(what, 0, unix_ms.cast_unsigned(), 0));
                    }
                    // At most 9999.
                    date.year = Some(year.unsigned_abs() as u16);
                }
                // At most 12, 31 and 23.
                Token::Month => date.month = Some(civil()?.1.unsigned_abs() as u8),
                Token::Day => date.day = Some(civil()?.2.unsigned_abs() as u8),
                Token::Hour => date.hour = Some((local_ms()?.rem_euclid(DAY_MS) / HOUR_MS) as u8),
                Token::Literal(_) | Token::Counter(_) | Token::Luhn | Token::Mod97 => {}
            }
        }
        Ok(date)
    }

    /// Returns the number that a token of a date shows. `None` for other tokens.
    pub(super) fn shown(&self, token: Token) -> Option<u64> {
        Some(match token {
            Token::Year => self.year?.into(),
            Token::ShortYear => u64::from(self.year?) % 100,
            Token::Month => self.month?.into(),
            Token::Day => self.day?.into(),
            Token::Hour => self.hour?.into(),
            Token::Literal(_) | Token::Counter(_) | Token::Luhn | Token::Mod97 => return None,
        })
    }

    /// Takes the number that stands in a text for a token of a date, of at most as many digits as the token shows.
    pub(super) fn read(&mut self, token: Token, number: u64) {
        // At most 4 digits, and 2 of the others.
        match token {
            Token::Year => self.year = Some(number as u16),
            Token::ShortYear => self.year = Some(2000 + number as u16),
            Token::Month => self.month = Some(number as u8),
            Token::Day => self.day = Some(number as u8),
            Token::Hour => self.hour = Some(number as u8),
            Token::Literal(_) | Token::Counter(_) | Token::Luhn | Token::Mod97 => {}
        }
    }

    /// Returns whether the calendar has the date. A missing year counts as a leap year, and a missing month as one of 31 days.
    pub(super) fn is_valid(&self) -> bool {
        let (year, month, day) = (self.year.unwrap_or(0), self.month.unwrap_or(1), self.day.unwrap_or(1));
        (1..=12).contains(&month)
            && day >= 1
            && u32::from(day) <= days_in_month(year.into(), month.into())
            && self.hour.is_none_or(|hour| hour < 24)
    }
}
