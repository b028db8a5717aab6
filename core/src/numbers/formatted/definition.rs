//! The definition of formatted numbers, as a record that every language reads.

use core::fmt;

use super::pattern::{Overflow, Pattern};
use super::period::Period;
use super::zone::Zone;
use crate::error::{Error, What};
use crate::numbers::sequence::{Options, Rules};

const FIRST_LINE: &str = "formatted 1";

/// A pattern, and the first number and the step of each period.
///
/// It displays as the record of a store: the line `formatted 1`, then the lines `period`, `zone`, `overflow`, `start`, `increment`
/// and `pattern`. [`Definition::parse`] is the inverse.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Definition, Overflow, Pattern, Period, Zone};
/// let pattern = Pattern::new("INV-{yyyy}-{0000}", Period::Year, Zone::UTC, Overflow::Error)?;
/// let definition = Definition::new(pattern, None, None)?;
/// assert_eq!(Definition::parse(&definition.to_string())?, definition);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Definition {
    pattern: Pattern,
    start: i128,
    increment: i128,
}

impl Definition {
    /// Makes a definition. A missing `start` or `increment` is 1.
    ///
    /// # Errors
    /// `InvalidId`, unless `start` is from 0 to 2^63-1 and `increment` fits 64 bits and is not 0.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Definition, Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// assert!(Definition::new(pattern, Some(0), Some(10)).is_ok() && Definition::new(pattern, Some(-1), None).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(pattern: Pattern, start: Option<i128>, increment: Option<i128>) -> Result<Self, Error> {
        let definition = Self { pattern, start: start.unwrap_or(1), increment: increment.unwrap_or(1) };
        Rules::new(&definition.sequence())?;
        Ok(definition)
    }

    /// Returns the pattern.
    pub const fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the first number of each period.
    pub const fn start(&self) -> i128 {
        self.start
    }

    /// Returns the step.
    pub const fn increment(&self) -> i128 {
        self.increment
    }

    /// Returns the options of the sequence of each period. Its numbers are from 0 to 2^63-1, as no text shows a negative number.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Definition, Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// let options = Definition::new(pattern, Some(100), Some(-1))?.sequence();
    /// assert_eq!((options.start, options.min, options.increment), (Some(100), Some(0), -1));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn sequence(&self) -> Options {
        Options {
            increment: self.increment,
            min: Some(0),
            max: Some(i64::MAX as i128),
            start: Some(self.start),
            ..Options::DEFAULT
        }
    }

    /// Reads the record of a store.
    ///
    /// # Errors
    /// `StoreUnavailable` for another text, such as one of a newer version; the errors of [`Pattern::new`] and [`Definition::new`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Definition;
    /// let text = "formatted 1\nperiod=none\nzone=Z\noverflow=error\nstart=1\nincrement=1\npattern=A-{000}\n";
    /// assert_eq!(Definition::parse(text)?.pattern().as_str(), "A-{000}");
    /// assert!(Definition::parse("formatted 2\n").is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || Error::plain(What::Definition);
        let fields = text.strip_prefix(FIRST_LINE).and_then(|fields| fields.strip_prefix('\n')).ok_or_else(unknown)?;
        let get = |name: &str| {
            let mut pairs = fields.lines().filter_map(|line| line.split_once('='));
            pairs.find(|(given, _)| *given == name).map(|(_, value)| value).ok_or_else(unknown)
        };
        let number = |name| get(name)?.parse().map_err(|_| unknown());
        let (period, zone, overflow) = (Period::find(get("period")?)?, Zone::parse(get("zone")?)?, get("overflow")?);
        let pattern = Pattern::new(get("pattern")?, period, zone, Overflow::find(overflow)?)?;
        Self::new(pattern, Some(number("start")?), Some(number("increment")?))
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, start, increment } = self;
        let (period, zone, overflow) = (pattern.period().name(), pattern.zone(), pattern.overflow().name());
        let text = pattern.as_str();
        write!(
            f,
            "{FIRST_LINE}\nperiod={period}\nzone={zone}\noverflow={overflow}\nstart={start}\nincrement={increment}\npattern={text}\n"
        )
    }
}
