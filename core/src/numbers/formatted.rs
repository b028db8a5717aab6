//! Formatted numbers: texts such as `INV-2026-000042`, made of a counter, a date and a check digit.
//!
//! A [`Pattern`] describes the texts. Its counter may begin again each year, month or day: each [`Period`] has a
//! separate sequence, whose name contains the period, such as `invoices@2026-11`. So a text shows the period of the
//! sequence that its number comes from, and no clock can make a text repeat: a server whose clock is behind at midnight
//! continues the old period.
//!
//! | token | shows |
//! | --- | --- |
//! | `{yyyy}` `{yy}` | the year: 4 digits, 0000 to 9999, or the last 2 digits, of 2000 to 2099 |
//! | `{MM}` `{dd}` `{HH}` | month, day and hour: 2 digits |
//! | `{000000}` | the counter, with this number of digits, 1 to 18 |
//! | `{luhn}` | a check digit over all digits before it |
//! | `{mod97}` | two check digits over all digits and letters a-z and A-Z before them |
//! | `{{` `}}` | a brace |
//!
//! A pattern has one counter, each part of a date at most once, and a check token only at its end. All other characters stand for
//! themselves. [`Pattern::parse`] reads a text back: the counter is its only part of variable length, so each text has one reading.
//!
//! ```
//! use snowmint_core::Integer;
//! use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
//!
//! let pattern = Pattern::new("INV-{yyyy}-{000000}", Period::Year, Zone::parse("+01:00")?, Overflow::Error)?;
//! // 2026-12-31T23:30:00Z, which is in 2027 one hour to the east.
//! let now_ms = 1_798_759_800_000;
//! let sequence = pattern.period_at(now_ms)?.sequence("invoices")?;
//! assert_eq!(sequence.to_string(), "invoices@2027");
//! let text = pattern.format(Integer::from(42), now_ms)?;
//! assert_eq!(text.as_str(), "INV-2027-000042");
//! assert_eq!(pattern.parse("INV-2027-000042")?.number(), 42);
//! # Ok::<(), snowmint_core::Error>(())
//! ```
//!
//! Numbers of a sequence have gaps: a call that fails after it took a number leaves one.

mod check;
mod clock;
mod date;
mod definition;
mod format;
mod pattern;
mod period;
mod reading;
mod token;
mod zone;

pub use self::clock::StoreClock;
pub use self::date::Date;
pub use self::definition::Definition;
pub use self::format::{MAX_TEXT_BYTES, Text};
pub use self::pattern::{MAX_PATTERN_BYTES, Overflow, Pattern};
pub use self::period::{Period, PeriodName, SequenceName};
pub use self::reading::Reading;
pub use self::zone::Zone;

use crate::error::{Error, What};

/// Returns the time that a text shows, in Unix ms, from this machine's clock and the clock of the store, if it has one: the
/// earlier of the two.
///
/// A clock that is ahead would open a period before it begins, so the store's clock is the limit. A clock that is behind only
/// continues an old period. [`Pattern::shows_time`] says whether a pattern needs a time at all.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::time_ms;
/// assert_eq!(time_ms(2000, Some(1000)), 1000, "this machine's clock is ahead");
/// assert_eq!(time_ms(500, Some(1000)), 500);
/// assert_eq!(time_ms(2000, None), 2000, "the store has no clock");
/// ```
pub fn time_ms(own_ms: i64, store_ms: Option<i64>) -> i64 {
    store_ms.map_or(own_ms, |store_ms| own_ms.min(store_ms))
}

/// Refuses the sequence of a period if it cycles, as that would repeat texts.
///
/// # Errors
/// `InvalidId`.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::refuse_cycle;
/// use snowmint_core::sequence::Options;
/// assert!(refuse_cycle(Options::DEFAULT.cycle).is_ok());
/// assert!(refuse_cycle(true).is_err());
/// ```
pub const fn refuse_cycle(cycle: bool) -> Result<(), Error> {
    if cycle {
        return Err(Error::plain(What::FormattedCycle));
    }
    Ok(())
}
