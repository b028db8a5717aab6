//! Counters: their end, and the sums that every engine checks.

use snowmint_core::ErrorKind;
use snowmint_core::segment::LAST;

use crate::error::Error;

/// Adds `delta` to a counter's number. `None` beyond 2^63-1, the highest number of a counter.
pub(crate) fn sum(number: u64, delta: u64) -> Option<u64> {
    number.checked_add(delta).filter(|sum| *sum <= LAST)
}

/// `Exhausted`: the counter would pass 2^63-1.
pub(crate) fn full(store: &str, counter: &str) -> Error {
    Error::new(ErrorKind::Exhausted, format!("{store}: {counter} has no more numbers up to 2^63-1"))
}

/// Raises a counter by `count` numbers, at most to its end. `add` adds to the counter and returns the sum.
pub(crate) async fn skip(count: u64, add: impl AsyncFn(u64) -> Result<u64, Error>) -> Result<(), Error> {
    let is_full = |added: &Result<u64, Error>| added.as_ref().is_err_and(|error| error.kind() == ErrorKind::Exhausted);
    let mut added = add(count).await;
    while is_full(&added) {
        let left = LAST.saturating_sub(add(0).await?);
        added = add(left).await;
    }
    added.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_ends_at_2_to_the_63_minus_1() {
        assert_eq!(sum(LAST, 0), Some(LAST));
        assert_eq!(sum(LAST, 1), None);
        assert_eq!(sum(u64::MAX, 1), None);
    }
}
