//! The numbers that the value of a counter means.

use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::int::Integer;

/// The last value of a counter: columns of databases are signed. The last number too, or one more than it: see [`Bounds`].
pub const LAST: u64 = i64::MAX as u64;

/// Returns the number of numbers in a block: 1 for 0.
///
/// # Errors
/// `InvalidId`, if it is not 0 to [`LAST`].
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_core::segment::block;
/// assert_eq!((block(Integer::from(100)), block(Integer::from(0))), (Ok(100), Ok(1)));
/// assert!(block(Integer::from(-1)).is_err());
/// ```
pub fn block(count: Integer) -> Result<u64, Error> {
    match count {
        Integer::Fits(count @ ..=LAST) => Ok(count.max(1)),
        _ => Err(Name::cut(b"count").refused(What::IdField, 63)),
    }
}

/// The numbers that a fetch of `n` numbers brings when it has raised the counter to `sum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// `[sum - n, sum)`: the counter is the next number. Leaf's `leaf_alloc.max_id`.
    Below,
    /// `(sum - n, sum]`: the counter is the last number. Tinyid's `tiny_id_info.max_id`, and a counter that begins at 0
    /// for numbers that begin at 1.
    UpTo,
}

impl Bounds {
    /// Returns the first number after a value of the counter.
    pub(super) const fn after(self, counter: u64) -> u64 {
        match self {
            Self::Below => counter,
            Self::UpTo => counter + 1,
        }
    }
}
