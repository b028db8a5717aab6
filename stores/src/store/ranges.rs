//! A witness of the ranges that a process takes from a store, such as an audit trail.

#[cfg(feature = "numbers")]
use super::CounterStore;
#[cfg(feature = "numbers")]
use super::key::name;
use crate::error::Error;

/// A range that was taken from a store: its numbers are `first`, `first + step` and so on, up to `last`.
///
/// # Examples
/// ```
/// use snowmint_stores::TakenRange;
/// let taken = TakenRange::new("ticket", "photos", 1, 9, 2);
/// assert_eq!((taken.kind, taken.first, taken.last, taken.step), ("ticket", 1, 9, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TakenRange {
    /// The kind of the numbers: `key`, `segment`, `sequence`, `ticket` or `users`.
    pub kind: &'static str,
    /// The name of the key, tag, sequence or ticket; for users the set and the number of the section, as in `users/12`.
    pub name: String,
    /// The first number.
    pub first: i128,
    /// The last number.
    pub last: i128,
    /// The distance between two numbers, negative in a descending sequence.
    pub step: i128,
}

impl TakenRange {
    /// Describes a range.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::TakenRange;
    /// assert_eq!(TakenRange::new("sequence", "tens", 100, 91, -1).name, "tens");
    /// ```
    pub fn new(kind: &'static str, name: impl Into<String>, first: i128, last: i128, step: i128) -> Self {
        Self { kind, name: name.into(), first, last, step }
    }
}

/// Notes each range that is taken from a store, before a number of it is given out.
///
/// # Examples
/// ```
/// use std::sync::Mutex;
/// use snowmint_stores::{Error, Ranges, TakenRange};
///
/// #[derive(Default)]
/// struct Trail(Mutex<Vec<TakenRange>>);
///
/// impl Ranges for Trail {
///     fn note(&self, taken: &TakenRange) -> Result<(), Error> {
///         self.0.lock().expect("no panic").push(taken.clone());
///         Ok(())
///     }
/// }
///
/// let trail = Trail::default();
/// trail.note(&TakenRange::new("key", "orders", 1, 1000, 1))?;
/// assert_eq!(trail.0.lock().expect("no panic").len(), 1);
/// # Ok::<(), Error>(())
/// ```
pub trait Ranges: Send + Sync {
    /// Notes a range.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Error, Ranges, TakenRange};
    ///
    /// struct Lines;
    ///
    /// impl Ranges for Lines {
    ///     fn note(&self, taken: &TakenRange) -> Result<(), Error> {
    ///         println!("{taken:?}");
    ///         Ok(())
    ///     }
    /// }
    ///
    /// assert!(Lines.note(&TakenRange::new("key", "orders", 1, 1000, 1)).is_ok());
    /// ```
    ///
    /// # Errors
    /// An error refuses the range: its numbers are skipped, and the caller gets the error.
    fn note(&self, taken: &TakenRange) -> Result<(), Error>;
}

/// Notes a range of a counter or a record, if the store has a witness.
#[cfg(feature = "numbers")]
pub(crate) fn note(store: &dyn CounterStore, key: &str, first: i128, last: i128, step: i128) -> Result<(), Error> {
    let Some(ranges) = store.ranges() else { return Ok(()) };
    let (folder, part) = key.split_once('/').unwrap_or((key, ""));
    let kind = match folder {
        "keys" => "key",
        "sequences" => "sequence",
        "tickets" => "ticket",
        "sections" => "users",
        _ => "segment",
    };
    ranges.note(&TakenRange { kind, name: name(part).unwrap_or_else(|| part.to_owned()), first, last, step })
}
