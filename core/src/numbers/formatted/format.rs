//! From a number to its text.

use core::fmt::{self, Write};
use core::ops::Deref;

use super::check::{luhn, mod97};
use super::pattern::{MAX_PATTERN_BYTES, Overflow, Pattern};
use super::token::Token;
use crate::error::{Error, What};
use crate::int::{Integer, write_decimal};

/// The digits of 2^64-1.
pub(super) const MAX_DIGITS: usize = 20;
/// The most bytes of a text: a pattern of 64 bytes whose counter `{0}` has grown to 20 digits.
pub const MAX_TEXT_BYTES: usize = MAX_PATTERN_BYTES - "{0}".len() + MAX_DIGITS;

/// The text of a number, which lies in the value itself.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
/// let pattern = Pattern::new("A-{000}", Period::None, Zone::UTC, Overflow::Error)?;
/// assert_eq!(&*pattern.format(Integer::from(7), 0)?, "A-007");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    /// The text, then zeros.
    bytes: [u8; MAX_TEXT_BYTES],
    len: u8,
}

impl Text {
    /// Returns the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("A-{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(pattern.format(Integer::from(7), 0)?.as_str(), "A-007");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or_default()
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room =
            self.bytes.get_mut(self.len.into()..).and_then(|room| room.get_mut(..text.len())).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        // At most `MAX_TEXT_BYTES`.
        self.len += text.len() as u8;
        Ok(())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Pattern {
    /// Makes the text of a number of the sequence of [`Pattern::period_at`] the same time, in Unix ms.
    ///
    /// # Errors
    /// `Exhausted` if the number has more digits than the counter, unless the counter grows; `InvalidId` for a number below 0 or above
    /// 2^64-1; `TimeOverflow` outside the years that the pattern can show.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let now_ms = 1_795_780_800_000; // 2026-11-27T12:00:00Z
    /// let pattern = Pattern::new("RE{yy}{MM}{0000}{luhn}", Period::Month, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(pattern.format(Integer::from(42), now_ms)?.as_str(), "RE261100424");
    /// let error = pattern.format(Integer::from(10_000), now_ms).unwrap_err();
    /// assert_eq!(error.code(), "EXHAUSTED");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn format(&self, number: Integer, unix_ms: i64) -> Result<Text, Error> {
        let (_, width) = self.widths();
        let wide = |number| matches!(number, Integer::Above) || number.or_too_large() >= 10u64.pow(width as u32);
        let value = match number {
            Integer::Fits(_) | Integer::Above if self.overflow() == Overflow::Error && wide(number) => {
                return Err(number.refused(What::FormattedWide, 0));
            }
            Integer::Fits(value) => value,
            _ => return Err(number.refused(What::FormattedNumber, 0)),
        };
        let date = self.date_at(unix_ms)?;
        let mut text = Text { bytes: [0; MAX_TEXT_BYTES], len: 0 };
        for token in self.tokens() {
            let (value, width) = match token {
                Token::Counter(width) => (value, width),
                Token::Luhn => (luhn(text.as_bytes()).into(), 1),
                Token::Mod97 => (mod97(text.as_bytes()).into(), 2),
                Token::Literal(letter) => {
                    // The text has room for every text of a pattern.
                    let _ = text.write_char(letter);
                    continue;
                }
                _ => (date.shown(token).unwrap_or_default(), token.width()),
            };
            let _ = write_decimal(&mut text, value, width);
        }
        Ok(text)
    }
}
