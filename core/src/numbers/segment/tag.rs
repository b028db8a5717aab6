//! The definition of a tag.

use core::fmt;

use super::bounds::LAST;
use super::pacer::Pacer;
use crate::error::{Error, What};
use crate::int::Integer;
use crate::numbers::fields::{Fields, UNDEFINED};

/// The definition of a tag of segments, as stores without Leaf's table keep it.
///
/// # Examples
/// ```
/// use snowmint_core::segment::TagRecord;
/// let orders = TagRecord { description: "orders", ..TagRecord::DEFAULT };
/// let text = orders.to_string();
/// assert_eq!(text, "segment 1\nnext=1\nstep=1000\ndescription=orders");
/// assert_eq!(TagRecord::read(text.as_bytes())?, orders);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagRecord<'a> {
    /// The first number.
    pub next: u64,
    /// How many numbers the first fetches take.
    pub step: u64,
    /// A text for people.
    pub description: &'a str,
}

impl<'a> TagRecord<'a> {
    /// A tag that begins at 1, with a step of 1000.
    pub const DEFAULT: Self = Self { next: 1, step: 1000, description: "" };

    /// Makes the definition of a tag with the defaults of this type for missing values.
    ///
    /// # Errors
    /// `InvalidId` for a first number beyond 2^63-2 and for a step that is not 1 to 2^31-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::TagRecord;
    /// assert_eq!(TagRecord::new(Some(Integer::from(5)), None)?, TagRecord { next: 5, ..TagRecord::DEFAULT });
    /// assert!(TagRecord::new(None, Some(Integer::from(0))).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(first: Option<Integer>, step: Option<Integer>) -> Result<Self, Error> {
        let step = step.unwrap_or(Integer::Fits(Self::DEFAULT.step));
        Pacer::new(step)?;
        match (first.unwrap_or(Integer::Fits(Self::DEFAULT.next)), step) {
            (Integer::Fits(next), Integer::Fits(step)) if next < LAST => Ok(Self { next, step, ..Self::DEFAULT }),
            (given, _) => Err(given.refused(What::FirstNumber, 0)),
        }
    }

    /// Returns the definition of a tag that skips this number of numbers, as after a fence: a tag of this name may have been made
    /// after the backup.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::TagRecord;
    /// assert_eq!(TagRecord::DEFAULT.skip(1000).next, 1001);
    /// ```
    #[must_use]
    pub fn skip(self, count: u64) -> Self {
        Self { next: self.next.saturating_add(count).min(LAST), ..self }
    }

    /// Reads a definition.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a definition of a tag, or have a later version of this format.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::segment::TagRecord;
    /// assert_eq!(TagRecord::read(b"garbage").unwrap_err().kind(), ErrorKind::StoreUnavailable);
    /// ```
    pub fn read(record: &'a [u8]) -> Result<Self, Error> {
        let (numbers, description) = Fields::read(record, "segment")?.split_last("description=")?;
        match (numbers.value("next"), numbers.value("step")) {
            (Some(next), Some(step)) => Ok(Self { next, step, description }),
            _ => Err(UNDEFINED),
        }
    }
}

/// The record: the line `segment 1`, then the lines `next`, `step` and `description`.
impl fmt::Display for TagRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { next, step, description } = self;
        write!(f, "segment 1\nnext={next}\nstep={step}\ndescription={description}")
    }
}
