//! Formatted numbers over a store.

mod record;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::formatted::{Definition, Pattern, Reading, StoreClock, refuse_cycle};
use snowmint_core::sequence::{Options, Rules};
use snowmint_core::{Integer, SystemHost};

use super::Sequences;
use crate::error::Error;
use crate::process::lock;
use crate::process::monotonic::monotonic_us;
use crate::store::CounterStore;

/// A clock, in Unix ms.
type Clock = dyn Fn() -> i64 + Send + Sync;

/// A number with its text.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
/// use snowmint_stores::{Formatted, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let pattern = Pattern::new("A-{000}", Period::None, Zone::UTC, Overflow::Error)?;
/// let number = Formatted::new(connect("memory:").await?, "articles", pattern)?.next().await?;
/// assert_eq!((number.text.as_str(), number.number), ("A-001", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FormattedNumber {
    /// The text, such as `INV-2026-000042`.
    pub text: String,
    /// The value of the counter.
    pub number: u64,
    /// The period whose sequence gave the number, such as `2026-11`. Empty if the counter never begins again.
    pub period: String,
}

/// Texts such as `INV-2026-000042`, with numbers of the [`Sequences`] of a store.
///
/// Each period has a separate sequence, such as `invoices@2026`, which the first use makes. No text comes twice,
/// whatever clocks show, unless a sequence is set back: the text shows the period of the sequence that its number comes
/// from.
///
/// The time is the system's, but never later than the clock of the store, if it has one. So the period of all servers begins when it
/// begins by the store's clock, or later. The store's clock is read once a minute.
///
/// A number has a gap before it where a call failed after it took a number, as with a lost answer or too many digits.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
/// use snowmint_stores::{Formatted, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let pattern = Pattern::new("INV-{yyyy}-{000000}", Period::Year, Zone::parse("+01:00")?, Overflow::Error)?;
/// let invoices = Formatted::new(connect("memory:").await?, "invoices", pattern)?;
/// let text = invoices.next().await?.text;
/// assert!(text.starts_with("INV-") && text.ends_with("-000001"));
/// assert_eq!(invoices.parse(&text)?.number(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Formatted {
    sequences: Sequences,
    name: String,
    pattern: Pattern,
    options: Options,
    /// Whether the caller gave the options.
    is_given: bool,
    now_ms: Box<Clock>,
    clock: tokio::sync::Mutex<StoreClock>,
    /// The sequences that are known to exist.
    made: Mutex<HashSet<String>>,
}

impl Formatted {
    /// Makes texts of a pattern, with numbers from 1 in each period. Asks the store for nothing yet.
    ///
    /// All servers need the same pattern: [`Formatted::define`] keeps it in the store.
    ///
    /// # Errors
    /// `InvalidText` if the name has no room for the period: it must be 1 to 117 bytes long for days, and up to 128 without a period.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// let articles = Formatted::new(connect("memory:").await?, "articles", pattern)?;
    /// assert_eq!(articles.next().await?.text, "001");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(store: Arc<dyn CounterStore>, name: &str, pattern: Pattern) -> Result<Self, Error> {
        Self::over(Sequences::new(store), name, pattern)
    }

    /// Makes texts of a pattern, as [`Formatted::new`], with numbers that an existing session takes.
    ///
    /// # Errors
    /// As [`Formatted::new`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// let pattern = Pattern::new("A-{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// assert_eq!(Formatted::over(session.clone(), "articles", pattern)?.next().await?.text, "A-001");
    /// assert_eq!(session.last().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn over(sequences: Sequences, name: &str, pattern: Pattern) -> Result<Self, Error> {
        Self::of(sequences, name, &Definition::new(pattern, None, None)?)
    }

    fn of(sequences: Sequences, name: &str, definition: &Definition) -> Result<Self, Error> {
        definition.pattern().period().refuse_name(name)?;
        Ok(Self {
            sequences,
            name: name.to_owned(),
            pattern: *definition.pattern(),
            options: definition.sequence(),
            is_given: false,
            now_ms: Box::new(SystemHost::unix_ms),
            clock: tokio::sync::Mutex::default(),
            made: Mutex::default(),
        })
    }

    /// Keeps a definition in the store, for [`Formatted::open`]. Returns `false` if the name has another definition, and leaves that
    /// unchanged.
    ///
    /// # Errors
    /// `InvalidText` for a name that [`names`](snowmint_core::names) does not allow or that has no room for the period;
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Definition, Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// let pattern = Pattern::new("A-{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// assert!(Formatted::define(&*store, "articles", &Definition::new(pattern, Some(100), None)?).await?);
    /// assert!(!Formatted::define(&*store, "articles", &Definition::new(pattern, Some(200), None)?).await?, "it starts at 100");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn define(store: &dyn CounterStore, name: &str, definition: &Definition) -> Result<bool, Error> {
        definition.pattern().period().refuse_name(name)?;
        record::define(store, name, definition).await
    }

    /// Opens a name by its definition in the store. `None` if it has no definition.
    ///
    /// # Errors
    /// `InvalidText` for a name that is not 1 to 128 bytes long; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Definition, Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert!(Formatted::open(store.clone(), "articles").await?.is_none());
    /// let pattern = Pattern::new("A-{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// Formatted::define(&*store, "articles", &Definition::new(pattern, Some(100), None)?).await?;
    /// let articles = Formatted::open(store, "articles").await?.expect("it is defined");
    /// assert_eq!(articles.next().await?.text, "A-100");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(store: Arc<dyn CounterStore>, name: &str) -> Result<Option<Self>, Error> {
        let definition = record::read(&*store, name).await?;
        definition.map(|definition| Self::of(Sequences::new(store), name, &definition)).transpose()
    }

    /// Sets the options with which the sequence of a period is made. Existing sequences keep their options.
    ///
    /// # Errors
    /// `InvalidId` for wrong options, and for a cycle, which would repeat texts.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_core::sequence::Options;
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// let tens = Options { start: Some(100), increment: 10, ..Options::DEFAULT };
    /// let articles = Formatted::new(connect("memory:").await?, "articles", pattern)?.with_options(&tens)?;
    /// assert_eq!([articles.next().await?.text, articles.next().await?.text], ["100", "110"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_options(self, options: &Options) -> Result<Self, Error> {
        Rules::new(options)?;
        refuse_cycle(options.cycle)?;
        Ok(Self { options: *options, is_given: true, ..self })
    }

    /// Sets the time limit of a call, instead of one second.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("{000}", Period::None, Zone::UTC, Overflow::Error)?;
    /// let articles = Formatted::new(connect("memory:").await?, "articles", pattern)?;
    /// assert_eq!(articles.with_max_wait(Duration::from_secs(2)).next().await?.text, "001");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_max_wait(self, max_wait: Duration) -> Self {
        Self { sequences: self.sequences.with_max_wait(max_wait), ..self }
    }

    /// Sets a clock of the caller, in Unix ms, in place of the system's.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("INV-{yyyy}-{000}", Period::Year, Zone::UTC, Overflow::Error)?;
    /// let invoices = Formatted::new(connect("memory:").await?, "invoices", pattern)?.with_clock(|| 1_795_780_800_000);
    /// assert_eq!(invoices.next().await?.text, "INV-2026-001");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_clock(self, now_ms: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self { now_ms: Box::new(now_ms), ..self }
    }

    /// Returns the pattern.
    pub const fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Takes the next number of the present period, and makes its text.
    ///
    /// # Errors
    /// `Exhausted` for a number with more digits than the counter, unless the counter grows, and after the last value of the sequence;
    /// `TimeOverflow` if the pattern cannot show the year; the errors of [`Sequences::next`]; `InvalidId` if the sequence of the
    /// period exists and cycles.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("{0}", Period::None, Zone::UTC, Overflow::Grow)?;
    /// let articles = Formatted::new(connect("memory:").await?, "articles", pattern)?;
    /// for number in 1..=11 {
    ///     assert_eq!(articles.next().await?.text, number.to_string());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self) -> Result<FormattedNumber, Error> {
        self.take(&*self.now_ms).await
    }

    /// Takes a number as [`Formatted::next`] does, with the time of this machine in Unix ms.
    ///
    /// # Errors
    /// As [`Formatted::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("INV-{yyyy}-{000}", Period::Year, Zone::UTC, Overflow::Error)?;
    /// let invoices = Formatted::new(connect("memory:").await?, "invoices", pattern)?;
    /// assert_eq!(invoices.next_at(1_795_780_800_000).await?.text, "INV-2026-001");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_at(&self, now_ms: i64) -> Result<FormattedNumber, Error> {
        self.take(&move || now_ms).await
    }

    /// Reads a text of this pattern back. See [`Pattern::parse`].
    ///
    /// # Errors
    /// `InvalidText` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::formatted::{Overflow, Pattern, Period, Zone};
    /// use snowmint_stores::{Formatted, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let pattern = Pattern::new("A-{000}{luhn}", Period::None, Zone::UTC, Overflow::Error)?;
    /// let articles = Formatted::new(connect("memory:").await?, "articles", pattern)?;
    /// assert_eq!(articles.parse("A-0018")?.number(), 1);
    /// assert!(articles.parse("A-0019").is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn parse(&self, text: &str) -> Result<Reading, Error> {
        Ok(self.pattern.parse(text)?)
    }

    async fn take(&self, now_ms: &Clock) -> Result<FormattedNumber, Error> {
        self.sequences.refuse_sharing()?;
        // Each limit of time doubles the size of a future.
        self.sequences.within(Box::pin(self.taken(now_ms))).await
    }

    async fn taken(&self, now_ms: &Clock) -> Result<FormattedNumber, Error> {
        let unix_ms = self.time_ms(now_ms).await?;
        let period = self.pattern.period_at(unix_ms)?;
        let sequence = period.sequence(&self.name)?.to_string();
        self.make(&sequence).await?;
        let number = Integer::from(self.sequences.next(&sequence).await?);
        let text = self.pattern.format(number, unix_ms)?.to_string();
        Ok(FormattedNumber { text, number: number.or_too_large(), period: period.to_string() })
    }

    /// Returns the time of the next text, in Unix ms. Any time is right for a pattern without a date.
    async fn time_ms(&self, now_ms: &Clock) -> Result<i64, Error> {
        if !self.pattern.shows_time() {
            return Ok(0);
        }
        let mut clock = self.clock.lock().await;
        let sent_us = monotonic_us();
        if clock.is_stale(sent_us) {
            match self.sequences.store().clock_ms().await {
                Ok(clock_ms) => clock.heed(clock_ms, sent_us, monotonic_us()),
                // The last answer still says enough. If the store is gone, so is its sequence.
                Err(_) if clock.is_known() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(clock.time_ms(now_ms(), monotonic_us()))
    }

    /// Makes the sequence of a period, unless it exists.
    async fn make(&self, sequence: &str) -> Result<(), Error> {
        if lock(&self.made).contains(sequence) {
            return Ok(());
        }
        loop {
            let service = self.sequences.service();
            let cycle = match service {
                Some(service) => service.cycles(sequence).await?,
                None => self.sequences.definition(sequence).await?.map(|found| found.cycle),
            };
            // The first number makes it in a service, where only administrators may define one.
            if let Some(cycle) = cycle.or_else(|| (service.is_some() && !self.is_given).then_some(false)) {
                refuse_cycle(cycle)?;
                lock(&self.made).insert(sequence.to_owned());
                return Ok(());
            }
            self.sequences.create(sequence, &self.options).await?;
        }
    }
}

impl fmt::Debug for Formatted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sequences, name, pattern, options, .. } = self;
        f.debug_struct("Formatted")
            .field("store", &sequences.store().name())
            .field("name", name)
            .field("pattern", &pattern.as_str())
            .field("options", options)
            .finish_non_exhaustive()
    }
}
