//! Ranges by name, such as `seq_1_to_15_step_3`, as in the SEQUENCE engine of `MariaDB`.

use core::iter::FusedIterator;

use crate::error::{Error, What};
use crate::int::Integer;

/// The numbers of a range in order, within 0 to 2^64-1. [`by_name`] makes a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    next: u64,
    step: u64,
    down: bool,
    left: u128,
}

/// Returns the range `seq_A_to_B` or `seq_A_to_B_step_S`, as `MariaDB`'s SEQUENCE storage engine lists it.
///
/// It starts with the lesser of A and B, and has every S-th number up to the greater. If A is greater, the same numbers
/// come in descending order; but if S is also greater than the distance of A and B, the only number is A. Without a
/// step S is 1. Leading zeros are allowed.
///
/// # Errors
/// `InvalidText` for every other name, and for the step 0. `MariaDB` also takes numbers above 2^64-1 (as 2^64-1), steps
/// with a sign, and a blank before the step; they are refused here.
///
/// # Examples
/// ```
/// use snowmint_core::sequence::by_name;
/// assert!(by_name("seq_1_to_15_step_3")?.eq([1, 4, 7, 10, 13]));
/// assert!(by_name("seq_6_to_1_step_2")?.eq([5, 3, 1]));
/// assert_eq!(by_name("seq_0_to_18446744073709551615")?.len(), 1 << 64);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub fn by_name(name: impl AsRef<[u8]>) -> Result<Range, Error> {
    let (from, to, step) = read(name.as_ref()).ok_or(Error::plain(What::SequenceName))?;
    let (least, most, down) = (from.min(to), from.max(to), from > to);
    let steps = (most - least) / step;
    let next = match (down, steps) {
        (false, _) => least,
        (true, 0) => most,
        (true, steps) => least + steps * step,
    };
    Ok(Range { next, step, down, left: u128::from(steps) + 1 })
}

fn read(name: &[u8]) -> Option<(u64, u64, u64)> {
    let (from, rest) = number(name.strip_prefix(b"seq_")?)?;
    let (to, rest) = number(rest.strip_prefix(b"_to_")?)?;
    if rest.is_empty() {
        return Some((from, to, 1));
    }
    let (step, rest) = number(rest.strip_prefix(b"_step_")?)?;
    (rest.is_empty() && step > 0).then_some((from, to, step))
}

/// Returns the number at the start of `text`, and the rest of the text.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    match Integer::parse(digits)? {
        Integer::Fits(value) => Some((value, rest)),
        _ => None,
    }
}

impl Range {
    /// Returns the number of numbers that are left: 2^64 at most, so it may not fit `usize`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::by_name;
    /// let mut range = by_name("seq_1_to_15_step_3")?;
    /// range.next();
    /// assert_eq!(range.len(), 4);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn len(&self) -> u128 {
        self.left
    }

    /// Returns whether no number is left.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::by_name;
    /// let mut range = by_name("seq_1_to_1")?;
    /// assert!(!range.is_empty());
    /// range.next();
    /// assert!(range.is_empty());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Skips this number of numbers.
    fn skip_over(&mut self, count: u128) {
        self.left = self.left.saturating_sub(count);
        if self.left > 0 {
            // The range has a number after these steps, so neither the product nor the sum overflows.
            let way = (count as u64).saturating_mul(self.step);
            self.next = if self.down { self.next.saturating_sub(way) } else { self.next.saturating_add(way) };
        }
    }
}

impl Iterator for Range {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.nth(0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        usize::try_from(self.left).map_or((usize::MAX, None), |left| (left, Some(left)))
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        self.skip_over(n as u128);
        let value = (self.left > 0).then_some(self.next);
        self.skip_over(1);
        value
    }
}

impl FusedIterator for Range {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;

    fn list(name: &str) -> Vec<u64> {
        by_name(name).expect("a range").collect()
    }

    #[test]
    fn a_range_lists_the_same_numbers_up_and_down() {
        assert_eq!(list("seq_1_to_5"), [1, 2, 3, 4, 5]);
        assert_eq!(list("seq_1_to_15_step_3"), [1, 4, 7, 10, 13]);
        assert_eq!(list("seq_15_to_1_step_3"), [13, 10, 7, 4, 1]);
        assert_eq!(list("seq_6_to_1_step_2"), [5, 3, 1]);
        assert_eq!(list("seq_5_to_1_step_4"), [5, 1]);
        assert_eq!(list("seq_0_to_0"), [0]);
        assert_eq!(list("seq_001_to_005_step_02"), [1, 3, 5]);
    }

    #[test]
    fn a_step_beyond_the_other_bound_leaves_the_first_bound() {
        assert_eq!(list("seq_5_to_5_step_7"), [5]);
        assert_eq!(list("seq_1_to_5_step_10"), [1]);
        assert_eq!(list("seq_5_to_1_step_5"), [5]);
        assert_eq!(list("seq_5_to_1_step_10"), [5]);
        assert_eq!(list("seq_5_to_1_step_18446744073709551615"), [5]);
    }

    #[test]
    fn a_range_reaches_2_64_less_1_without_a_wrap() {
        const TOP: u64 = u64::MAX;
        assert_eq!(list("seq_18446744073709551613_to_18446744073709551615"), [TOP - 2, TOP - 1, TOP]);
        assert_eq!(list("seq_18446744073709551615_to_18446744073709551613"), [TOP, TOP - 1, TOP - 2]);
        assert_eq!(list("seq_0_to_18446744073709551615_step_9223372036854775807"), [0, TOP / 2, TOP - 1]);
        assert_eq!(list("seq_18446744073709551615_to_0_step_18446744073709551615"), [TOP, 0]);
    }

    #[test]
    fn the_length_is_known_beyond_usize() {
        let mut whole = by_name("seq_0_to_18446744073709551615").expect("a range");
        assert_eq!(whole.len(), 1 << 64);
        assert_eq!(whole.size_hint(), (usize::MAX, None));
        assert_eq!(whole.next(), Some(0));
        assert_eq!(whole.len(), (1 << 64) - 1);
        let mut range = by_name("seq_1_to_15_step_3").expect("a range");
        assert_eq!((range.len(), range.size_hint()), (5, (5, Some(5))));
        assert_eq!((range.nth(3), range.len()), (Some(10), 1));
        assert_eq!((range.nth(1), range.len()), (None, 0));
        assert_eq!((range.next(), range.is_empty()), (None, true));
    }

    #[test]
    fn names_that_mariadb_refuses_or_clamps_are_refused() {
        for name in [
            "seq_1_to_5_step_0",
            "seq_5_to_5_step_0",
            "seq_-1_to_5",
            "seq_1_to_-5",
            "seq_1_to_5_step_-1",
            "seq_1_to_5_step_+2",
            "seq_1_to_5_step_ 2",
            "seq_1_to_18446744073709551616",
            "seq_18446744073709551616_to_1",
            "seq_1_to_5_step_18446744073709551616",
            "seq_1_to_99999999999999999999999999999999999999999999",
            "seq_a_to_5",
            "seq_1_to_",
            "seq_1_to_5_step_",
            "seq_1_to_5x",
            "seq_1_to_5_step_2_",
            "SEQ_1_TO_5",
            "seq_1",
            "",
        ] {
            let error = by_name(name).expect_err(name);
            assert_eq!(error.code(), "INVALID_TEXT");
        }
        assert_eq!(
            by_name("seq_1_to_5_step_0").expect_err("no step").to_string(),
            "the name of a range is seq_A_to_B or seq_A_to_B_step_S, with numbers up to 2^64-1 and S above 0"
        );
    }
}
