//! Counters, as every engine keeps them.

use snowmint_core::ErrorKind;

use crate::error::Error;

/// `Exhausted`: a counter would pass 2^63-1.
pub(crate) fn full(store: &str, counter: &str) -> Error {
    Error::told(ErrorKind::Exhausted, format!("{store}: {counter} has no more numbers up to 2^63-1"))
}
