//! `setval` in each dialect, and the value that comes next.

use super::dialect::Dialect;
use super::options::Rules;
use super::state::State;
use crate::error::{Error, What};
use crate::int::Integer;

/// The arguments of `setval`.
///
/// # Examples
/// ```
/// use snowmint_core::sequence::Set;
/// let next_is_20 = Set { is_called: Some(false), ..Set::to(20) };
/// assert_eq!(next_is_20.value, Some(20));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Set {
    /// The value. `None` is SQL's NULL: the call changes nothing and returns `None`.
    pub value: Option<i128>,
    /// Whether the value counts as used, so that the value after it comes next; true if missing. Not allowed in `tidb`.
    pub is_called: Option<bool>,
    /// The round, 0 if missing. Only allowed in `mariadb`.
    pub round: Option<u64>,
}

impl Set {
    /// Makes the arguments that set a sequence to this value, which counts as used.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Set;
    /// assert_eq!(Set::to(20), Set { value: Some(20), is_called: None, round: None });
    /// ```
    pub const fn to(value: i128) -> Self {
        Self { value: Some(value), is_called: None, round: None }
    }
}

impl Rules {
    /// Returns the value after the position `at`; past its bound, if the sequence is used up.
    pub(super) fn next_at(&self, at: &State) -> i128 {
        match self.dialect() {
            _ if !at.is_called => at.last,
            Dialect::Pg | Dialect::Mariadb => self.after(at.last),
            Dialect::Tidb => {
                let origin = if at.round == 0 { self.start() } else { self.first() };
                let (way, step) = (self.increment().signum(), self.increment().abs());
                // Goes on from the last value of the progression that is not past `last`.
                self.after(at.last - way * ((at.last - origin) * way).rem_euclid(step))
            }
        }
    }

    /// Checks the arguments of a set.
    pub(super) fn check(&self, set: &Set) -> Result<(), Error> {
        let known = match self.dialect() {
            Dialect::Pg => set.round.is_none(),
            Dialect::Mariadb => true,
            Dialect::Tidb => set.round.is_none() && set.is_called.is_none(),
        };
        if !known {
            return Err(Error::plain(What::SequenceArgument));
        }
        match set.value {
            Some(value) if !self.kind().holds(value) => Err(Integer::from(value).refused(What::SequenceType, 0)),
            Some(value) if self.dialect() == Dialect::Pg && !(self.min()..=self.max()).contains(&value) => {
                Err(Integer::from(value).refused(What::SequenceValue, 0))
            }
            _ => Ok(()),
        }
    }

    /// Returns the position after a set to `value` at the position `at`; `None` if the dialect ignores the set.
    pub(super) fn set(&self, at: &State, value: i128, set: &Set) -> Result<Option<State>, Error> {
        let is_called = set.is_called.unwrap_or(true);
        let moved = State { last: value, is_called, ..*at };
        Ok(match self.dialect() {
            Dialect::Pg => Some(moved),
            Dialect::Mariadb => {
                let moved = State { round: set.round.unwrap_or(0), ..moved };
                let (next, here) = (self.next_at(&moved), self.next_at(at));
                if moved.round > at.round && !self.cycle() {
                    return Err(self.over());
                }
                // A later round would begin before its bound, and the sequence would refuse every value after the set.
                let outside = self.is_past(self.first(), next);
                if outside || moved.round < at.round || (moved.round == at.round && self.is_past(here, next)) {
                    None
                } else if moved.round == at.round && next == here {
                    Some(*at)
                } else {
                    Some(moved)
                }
            }
            // A sequence that was never used is just before its start.
            Dialect::Tidb if at.is_called => self.is_past(value, at.last).then_some(moved),
            Dialect::Tidb => (!self.is_past(at.last, value)).then_some(moved),
        })
    }

    /// Returns the error of a sequence that is used up.
    pub(super) fn over(&self) -> Error {
        Integer::from(self.bound()).refused(What::SequenceOver, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;

    #[test]
    fn tidb_seeks_the_next_value_of_the_progression_up_and_down() {
        let next = |increment, start, last, round| {
            let options = Options {
                dialect: Dialect::Tidb,
                increment,
                start: Some(start),
                min: Some(-100),
                max: Some(100),
                ..Options::DEFAULT
            };
            let rules = Rules::new(&options).expect("valid");
            rules.next_at(&State { last, is_called: true, round, sets: 0 })
        };
        assert_eq!([6, 7, 8].map(|last| next(2, 3, last, 0)), [7, 9, 9]);
        assert_eq!([-6, -7, -8].map(|last| next(-2, -3, last, 0)), [-7, -9, -9]);
        assert_eq!([-9, -8, 1].map(|last| next(5, 3, last, 0)), [-7, -7, 3]);
        // Later rounds count from the bound.
        assert_eq!([6, 7, 8].map(|last| next(2, 3, last, 1)), [8, 8, 10]);
        assert_eq!([98, 99, 100, 200].map(|last| next(2, 3, last, 0)), [99, 101, 101, 101]);
        assert_eq!([-99, -100, -200].map(|last| next(-2, -3, last, 0)), [-101, -101, -101]);
    }
}
