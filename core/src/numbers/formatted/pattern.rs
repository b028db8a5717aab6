//! Patterns of texts.

use super::date::Date;
use super::period::{Period, PeriodName};
use super::token::{Token, Tokens};
use super::zone::Zone;
use crate::error::{Error, What};
use crate::forms::shown::place_of_hidden;

/// The most bytes of a pattern.
pub const MAX_PATTERN_BYTES: usize = 64;
/// The most zeros of a counter.
const MAX_WIDTH: usize = 18;

/// What happens when a number has more digits than the counter of the pattern.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::Overflow;
/// assert_eq!(Overflow::find("grow")?, Overflow::Grow);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The call fails with `Exhausted`.
    #[default]
    Error,
    /// The counter takes more digits, so texts become longer.
    Grow,
}

impl Overflow {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Error, Self::Grow];

    /// Finds a kind by its name: `error` or `grow`.
    ///
    /// # Errors
    /// `InvalidText` for any other name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Overflow;
    /// assert_eq!(Overflow::find("error")?, Overflow::Error);
    /// assert!(Overflow::find("cut").is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn find(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(Error::plain(What::FormatOverflow))
    }

    /// Returns the name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Overflow;
    /// assert_eq!(Overflow::ALL.map(Overflow::name), ["error", "grow"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Grow => "grow",
        }
    }
}

/// The form of the texts of a sequence. The [module](super) lists the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The text, then zeros.
    text: [u8; MAX_PATTERN_BYTES],
    period: Period,
    zone: Zone,
    overflow: Overflow,
}

impl Pattern {
    /// Makes a pattern of a text of 1 to 64 bytes.
    ///
    /// # Errors
    /// `InvalidText` if the text breaks a rule of the [module](super), or lacks a part of the date that the period needs: texts of two
    /// periods could be equal.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// assert!(Pattern::new("RE{yy}{MM}-{0000}{luhn}", Period::Month, Zone::UTC, Overflow::Grow).is_ok());
    /// let error = Pattern::new("RE{yy}-{0000}", Period::Month, Zone::UTC, Overflow::Grow).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "a period needs {MM} in the pattern, or texts of two periods could be equal: add it"
    /// );
    /// ```
    pub fn new(text: &str, period: Period, zone: Zone, overflow: Overflow) -> Result<Self, Error> {
        if text.is_empty() || text.len() > MAX_PATTERN_BYTES {
            return Err(Error::new(What::PatternLength, 0, text.len() as u64, MAX_PATTERN_BYTES as u64));
        }
        if let Some(place) = place_of_hidden(text) {
            return Err(Error::new(What::PatternCharacter, 0, place, 0));
        }
        let (mut counters, mut tokens) = (0, Tokens(text));
        while let Some(token) = tokens.next() {
            match token {
                Token::Literal(_) => {}
                Token::Counter(width) => {
                    counters += 1;
                    if width > MAX_WIDTH {
                        return Err(Error::new(What::PatternWidth, 0, width as u64, MAX_WIDTH as u64));
                    }
                }
                Token::Luhn | Token::Mod97 => {
                    if !tokens.0.is_empty() {
                        return Err(Error::new(What::PatternCheck, 0, token.shown(), 0));
                    }
                }
                Token::Year | Token::ShortYear | Token::Month | Token::Day | Token::Hour => {
                    if let Some(second) = tokens.clone().find(|later| later.part() == token.part()) {
                        return Err(Error::new(What::PatternTwice, 0, second.shown(), 0));
                    }
                }
            }
        }
        tokens.refuse_rest(text)?;
        if counters != 1 {
            return Err(Error::new(What::PatternCounter, 0, counters, 0));
        }
        for needed in period.needs() {
            if !Tokens(text).any(|token| token.part() == *needed) {
                return Err(Error::new(What::PatternPeriod, 0, needed.shown(), 0));
            }
        }
        let mut bytes = [0; MAX_PATTERN_BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { text: bytes, period, zone, overflow })
    }

    /// Makes a pattern as [`Pattern::new`] does, with its options by their names. By default the period is `none`, the zone UTC, and
    /// the overflow `error`.
    ///
    /// # Errors
    /// As [`Pattern::new`], and `InvalidText` for an unknown name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::named("{yyyy}-{000}", Some("year"), None, None)?;
    /// assert_eq!(pattern, Pattern::new("{yyyy}-{000}", Period::Year, Zone::UTC, Overflow::Error)?);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn named(text: &str, period: Option<&str>, zone: Option<&str>, overflow: Option<&str>) -> Result<Self, Error> {
        let period = period.map_or(Ok(Period::None), Period::find)?;
        let zone = zone.map_or(Ok(Zone::UTC), Zone::parse)?;
        Self::new(text, period, zone, overflow.map_or(Ok(Overflow::Error), Overflow::find)?)
    }

    /// Returns the text of the pattern.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("{yyyy}-{000}", Period::Year, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(pattern.as_str(), "{yyyy}-{000}");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        // A text of a pattern has no zero.
        let end = self.text.iter().position(|byte| *byte == 0).unwrap_or(MAX_PATTERN_BYTES);
        core::str::from_utf8(&self.text[..end]).unwrap_or_default()
    }

    /// Returns how long the counter runs before it begins again.
    pub const fn period(&self) -> Period {
        self.period
    }

    /// Returns the zone of the dates.
    pub const fn zone(&self) -> Zone {
        self.zone
    }

    /// Returns what happens when a number has more digits than the counter.
    pub const fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Returns whether texts show a part of a date. Otherwise the time that is passed to the other functions has no effect.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let shows_time = |text| Pattern::new(text, Period::None, Zone::UTC, Overflow::Error).map(|it| it.shows_time());
    /// assert_eq!((shows_time("{HH}-{000}")?, shows_time("A{000}")?), (true, false));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn shows_time(&self) -> bool {
        self.tokens()
            .any(|token| matches!(token, Token::Year | Token::ShortYear | Token::Month | Token::Day | Token::Hour))
    }

    /// Returns the period at a time in Unix ms, whose sequence gives the number.
    ///
    /// # Errors
    /// `TimeOverflow` outside the years that the pattern can show.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("{yyyy}-{0000}", Period::Year, Zone::parse("-01:00")?, Overflow::Error)?;
    /// assert_eq!(pattern.period_at(0)?.to_string(), "1969");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn period_at(&self, unix_ms: i64) -> Result<PeriodName, Error> {
        Ok(PeriodName::new(self.period, self.date_at(unix_ms)?))
    }

    /// Returns the date that a text of this time shows.
    pub(super) fn date_at(&self, unix_ms: i64) -> Result<Date, Error> {
        Date::of(self.tokens(), unix_ms, self.zone)
    }

    pub(super) fn tokens(&self) -> Tokens<'_> {
        Tokens(self.as_str())
    }

    /// Returns the bytes of all tokens but the counter, and the least digits of the counter.
    pub(super) fn widths(&self) -> (usize, usize) {
        let counter =
            self.tokens().find_map(|token| if let Token::Counter(width) = token { Some(width) } else { None });
        (self.tokens().map(Token::width).sum(), counter.unwrap_or_default())
    }
}
