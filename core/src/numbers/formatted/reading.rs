//! From a text back to its number.

use super::check::{luhn, mod97};
use super::date::Date;
use super::format::MAX_DIGITS;
use super::pattern::{Overflow, Pattern};
use super::period::PeriodName;
use super::token::Token;
use crate::error::{Error, What};
use crate::int::append;

/// The number, the period and the date in a text.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
/// let pattern = Pattern::new("INV-{yyyy}{MM}-{0000}", Period::Year, Zone::UTC, Overflow::Error)?;
/// let reading = pattern.parse("INV-202611-0042")?;
/// assert_eq!((reading.number(), reading.date().month), (42, Some(11)));
/// assert_eq!(reading.period().to_string(), "2026");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    number: u64,
    date: Date,
    period: PeriodName,
}

impl Reading {
    /// Returns the number: the value of the counter.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the parts of the date that the text shows.
    pub const fn date(&self) -> Date {
        self.date
    }

    /// Returns the period whose sequence gave the number.
    pub const fn period(&self) -> PeriodName {
        self.period
    }
}

/// The part of a text that is not read yet.
struct Cursor<'a> {
    text: &'a str,
    read: usize,
}

impl<'a> Cursor<'a> {
    /// Returns the next bytes: fewer if the text ends.
    fn take(&mut self, width: usize) -> &'a [u8] {
        let bytes = self.text.as_bytes().get(self.read..).unwrap_or_default();
        let bytes = bytes.get(..width).unwrap_or(bytes);
        self.read += bytes.len();
        bytes
    }

    /// Returns the error about the character that is `ahead` bytes after the bytes read before.
    fn refused(&self, what: What, before: usize, ahead: usize) -> Error {
        // Each character has one byte that does not continue it.
        let starts = self.text.bytes().take(before + ahead + 1).filter(|byte| byte & 0xC0 != 0x80).count();
        Error::new(what, 0, starts as u64, 0)
    }

    fn number(&mut self, width: usize) -> Result<u64, Error> {
        let before = self.read;
        let mut value = 0;
        for (ahead, byte) in self.take(width).iter().enumerate() {
            if !byte.is_ascii_digit() {
                return Err(self.refused(What::FormattedDigit, before, ahead));
            }
            value = append(value, 10, u64::from(byte - b'0')).ok_or(Error::plain(What::FormattedBeyond))?;
        }
        Ok(value)
    }
}

impl Pattern {
    /// Reads a text of this pattern back.
    ///
    /// # Errors
    /// `InvalidText` for any other text: of another length, with other literal characters, with a date that the calendar does not have,
    /// with wrong check digits, or with a counter that has more zeros in front than the pattern.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("RE{yy}{MM}{0000}{luhn}", Period::Month, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(pattern.parse("RE261100424")?.number(), 42);
    /// assert!(pattern.parse("RE2611004204").is_err() && pattern.parse("RE2611004209").is_err());
    /// assert!(pattern.parse("RE261300428").is_err(), "there is no month 13");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse(&self, text: &str) -> Result<Reading, Error> {
        let (fixed, least) = self.widths();
        let most = if self.overflow() == Overflow::Grow { MAX_DIGITS } else { least };
        let digits =
            text.len().checked_sub(fixed).filter(|digits| (least..=most).contains(digits)).ok_or_else(|| {
                let given = u32::try_from(text.len()).unwrap_or(u32::MAX);
                let what = if least == most { What::FormattedLength } else { What::FormattedLengths };
                Error::new(what, given, (fixed + least) as u64, (fixed + most) as u64)
            })?;
        let (mut number, mut date, mut cursor) = (0, Date::default(), Cursor { text, read: 0 });
        for token in self.tokens() {
            let before = cursor.read;
            match token {
                Token::Literal(letter) => {
                    let mut buffer = [0; 4];
                    let wanted = letter.encode_utf8(&mut buffer).as_bytes();
                    let given = cursor.take(wanted.len());
                    if given != wanted {
                        return Err(cursor.refused(What::FormattedLiteral, before, 0));
                    }
                }
                Token::Counter(least) => {
                    number = cursor.number(digits)?;
                    if digits > least && text.as_bytes().get(before) == Some(&b'0') {
                        return Err(Error::new(What::FormattedZeros, 0, least as u64, 0));
                    }
                }
                Token::Luhn | Token::Mod97 => {
                    let given = cursor.number(token.width())?;
                    let checked = text.as_bytes().get(..before).unwrap_or_default();
                    let wanted = if token == Token::Luhn { luhn(checked) } else { mod97(checked) };
                    if given != wanted.into() {
                        return Err(Error::plain(What::FormattedCheck));
                    }
                }
                _ => date.read(token, cursor.number(token.width())?),
            }
        }
        if !date.is_valid() {
            return Err(Error::plain(What::FormattedDate));
        }
        Ok(Reading { number, date, period: PeriodName::new(self.period(), date) })
    }
}
