//! Periods, after which a counter begins again.

use core::fmt::{self, Write};

use super::date::Date;
use super::token::Token;
use crate::error::{Error, What};
use crate::forms::MAX_NAME_BYTES;
use crate::int::write_decimal;

/// How long a counter runs before it begins again.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::Period;
/// assert_eq!(Period::find("month")?, Period::Month);
/// assert_eq!(Period::Month.name(), "month");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Period {
    /// The counter never begins again.
    #[default]
    None,
    /// The counter begins again each year. The pattern needs `{yyyy}` or `{yy}`.
    Year,
    /// The counter begins again each month. The pattern needs `{MM}` too.
    Month,
    /// The counter begins again each day. The pattern needs `{dd}` too.
    Day,
}

impl Period {
    /// All periods.
    pub const ALL: [Self; 4] = [Self::None, Self::Year, Self::Month, Self::Day];

    /// Finds a period by its name: `none`, `year`, `month` or `day`.
    ///
    /// # Errors
    /// `InvalidText` for any other name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Period;
    /// assert_eq!(Period::find("year")?, Period::Year);
    /// assert!(Period::find("week").is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn find(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|period| period.name() == name).ok_or(Error::plain(What::Period))
    }

    /// Returns the name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Period;
    /// assert_eq!(Period::ALL.map(Period::name), ["none", "year", "month", "day"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
        }
    }

    /// Refuses a name whose sequences would not have names of 1 to 128 bytes, as these contain the period.
    ///
    /// # Errors
    /// `InvalidText`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::Period;
    /// assert!(Period::Day.refuse_name(&"i".repeat(117)).is_ok());
    /// assert!(Period::Day.refuse_name(&"i".repeat(118)).is_err());
    /// ```
    pub const fn refuse_name(self, name: &str) -> Result<(), Error> {
        let most = MAX_NAME_BYTES
            - match self {
                Self::None => 0,
                Self::Year => "@2026".len(),
                Self::Month => "@2026-11".len(),
                Self::Day => "@2026-11-27".len(),
            };
        if name.is_empty() || name.len() > most {
            return Err(Error::new(What::FormattedName, 0, most as u64, name.len() as u64));
        }
        Ok(())
    }

    /// Returns the parts of a date that a pattern of this period needs, each as its longest token.
    pub(super) const fn needs(self) -> &'static [Token] {
        let all = &[Token::Year, Token::Month, Token::Day];
        all.split_at(self as usize).0
    }
}

/// A year, month or day in which a counter runs: `2026`, `2026-11` or `2026-11-27`. Nothing for [`Period::None`].
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
/// let pattern = Pattern::new("{yyyy}{MM}{0000}", Period::Month, Zone::UTC, Overflow::Error)?;
/// assert_eq!(pattern.period_at(1_795_780_800_000)?.to_string(), "2026-11");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeriodName {
    period: Period,
    /// Only the parts that the period needs.
    date: Date,
}

impl PeriodName {
    pub(super) fn new(period: Period, date: Date) -> Self {
        let Date { year, month, day, .. } = date;
        let date = match period {
            Period::None => Date::default(),
            Period::Year => Date { year, ..Date::default() },
            Period::Month => Date { year, month, ..Date::default() },
            Period::Day => Date { year, month, day, hour: None },
        };
        Self { period, date }
    }

    /// Returns how long the counter runs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("{yyyy}-{0000}", Period::Year, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(pattern.period_at(0)?.period(), Period::Year);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn period(&self) -> Period {
        self.period
    }

    /// Returns the name of the sequence that counts in this period: `name@2026-11`. Without a period it is the name itself.
    ///
    /// # Errors
    /// `InvalidText` if the name of the sequence would not be 1 to 128 bytes long. Stores refuse the other names that
    /// [`names`](crate::names) does not allow.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// let pattern = Pattern::new("{yyyy}-{0000}", Period::Year, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(pattern.period_at(0)?.sequence("invoices")?.to_string(), "invoices@1970");
    /// assert!(pattern.period_at(0)?.sequence(&"i".repeat(124)).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn sequence<'a>(&self, name: &'a str) -> Result<SequenceName<'a>, Error> {
        if let Err(error) = self.period.refuse_name(name) {
            return Err(error);
        }
        Ok(SequenceName { name, period: *self })
    }
}

impl fmt::Display for PeriodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.date.year, 4), (self.date.month.map(u16::from), 2), (self.date.day.map(u16::from), 2)];
        for (place, (value, width)) in parts.into_iter().enumerate() {
            if let Some(value) = value {
                f.write_str(if place == 0 { "" } else { "-" })?;
                write_decimal(f, value.into(), width)?;
            }
        }
        Ok(())
    }
}

/// The name of the sequence of a period, such as `invoices@2026-11`.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
/// let pattern = Pattern::new("{000000}", Period::None, Zone::UTC, Overflow::Error)?;
/// assert_eq!(pattern.period_at(0)?.sequence("invoices")?.to_string(), "invoices");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceName<'a> {
    name: &'a str,
    period: PeriodName,
}

impl fmt::Display for SequenceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if self.period.period == Period::None {
            return Ok(());
        }
        f.write_char('@')?;
        self.period.fmt(f)
    }
}
