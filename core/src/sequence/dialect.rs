//! Three dialects of `setval`, and where a sequence stands in each.

use super::{Kind, Rules, Set, State, integer};
use crate::error::{Error, What};

/// Whose defaults a sequence has, and whose `setval`.
///
/// After 3 and 5 (start 3, increment 2, max 100):
///
/// | | `pg` | `mariadb` | `tidb` |
/// | --- | --- | --- | --- |
/// | set to 6, then next | 6, 8 | 6, 8 | 6, 7 |
/// | set to 20 with `is_called` false, then next | 20, 20 | 20, 20 | no such argument |
/// | set to a lower value | goes back | `None`, no effect | `None`, no effect |
/// | set to the last value | 5, then 7 | 5, then 7 | `None`, then 7 |
/// | set to 200 | refused | 200, then run out | 200, then run out |
/// | a `round` | no such argument | reaches the cycle count, or `None` | no such argument |
/// | a `round` whose next value would lie before its bound | no such argument | `None`, no effect | no such argument |
/// | the last value, before any next | an error | `None` | `None` |
/// | the last value, after a next that has run out | as before | `None` | as before |
/// | the last value, after a set | what it was set to, unless `is_called` is false | as before | as before |
///
/// Sources: `PostgreSQL`'s documentation, "Sequence Manipulation Functions"; `MariaDB`'s, "SETVAL" and "CREATE SEQUENCE";
/// `TiDB`'s, "CREATE SEQUENCE", and its `sequence.go`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `PostgreSQL`'s: a set goes anywhere within the bounds.
    #[default]
    Pg,
    /// `MariaDB`'s: a set never goes down.
    Mariadb,
    /// `TiDB`'s: a set never goes down, and what follows stays in the progression from the start.
    Tidb,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::Pg, Self::Mariadb, Self::Tidb];

    /// The name of this dialect in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pg => "pg",
            Self::Mariadb => "mariadb",
            Self::Tidb => "tidb",
        }
    }

    /// The dialect of that name: `pg`, `mariadb` or `tidb`.
    ///
    /// # Errors
    /// `InvalidText`, if there is none.
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name().as_bytes() == name.as_ref());
        found.ok_or(Error::plain(What::SequenceDialect))
    }

    /// How many values at each end of a type no sequence has.
    pub(super) const fn keeps(self) -> i128 {
        match self {
            Self::Pg => 0,
            Self::Mariadb | Self::Tidb => 1,
        }
    }

    /// How many values a session takes at a time, if nothing is said.
    pub(super) const fn cache(self) -> i128 {
        match self {
            Self::Pg => 1,
            Self::Mariadb | Self::Tidb => 1000,
        }
    }

    /// The first value, if the definition names none.
    pub(super) fn start(self, increment: i128, min: i128, max: i128) -> i128 {
        match (self, increment > 0) {
            (Self::Tidb, true) => min.max(1),
            // An unsigned sequence has no -1.
            (Self::Tidb, false) if min <= -1 => max.min(-1),
            (_, true) => min,
            (_, false) => max,
        }
    }

    /// The greatest cache. `MariaDB` and `TiDB` keep `cache` below `(2^63 - 1 - |increment|) / |increment|`, and count
    /// `NO CACHE`, which is 1 here, as 0.
    pub(super) const fn most_cached(self, increment: i128) -> i128 {
        let (top, step) = (Kind::BigInt.max(), increment.abs());
        match self {
            Self::Pg => top,
            Self::Mariadb | Self::Tidb => match (top - step) / step {
                0 => 0,
                1 => 1,
                values => values - 1,
            },
        }
    }
}

impl Rules {
    /// The value that comes next where the sequence stands at `at`; past its bound if it has run out.
    pub(super) fn next_at(&self, at: &State) -> i128 {
        match self.dialect() {
            _ if !at.is_called => at.last,
            Dialect::Pg | Dialect::Mariadb => self.after(at.last),
            Dialect::Tidb => {
                let origin = if at.round == 0 { self.start() } else { self.first() };
                let (way, step) = (self.increment().signum(), self.increment().abs());
                // From the value of the progression that is not past `last` and nearest to it.
                self.after(at.last - way * ((at.last - origin) * way).rem_euclid(step))
            }
        }
    }

    /// Whether a set can be tried at all.
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
            Some(value) if !self.kind().holds(value) => Err(Error::misfit(What::SequenceType, integer(value), 0)),
            Some(value) if self.dialect() == Dialect::Pg && !(self.min()..=self.max()).contains(&value) => {
                Err(Error::misfit(What::SequenceValue, integer(value), 0))
            }
            _ => Ok(()),
        }
    }

    /// Where a set to `value` leads from `at`; `None` if it is refused quietly.
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
                // A later round would begin before its bound, and every value after the set would be refused.
                let outside = self.is_past(self.first(), next);
                if outside || moved.round < at.round || (moved.round == at.round && self.is_past(here, next)) {
                    None
                } else if moved.round == at.round && next == here {
                    Some(*at)
                } else {
                    Some(moved)
                }
            }
            // What was never used stands just before its start.
            Dialect::Tidb if at.is_called => self.is_past(value, at.last).then_some(moved),
            Dialect::Tidb => (!self.is_past(at.last, value)).then_some(moved),
        })
    }

    pub(super) fn over(&self) -> Error {
        Error::misfit(What::SequenceOver, integer(self.bound()), 0)
    }
}

/// The widest range of values.
pub(super) const fn possible(value: i128) -> bool {
    Kind::BigInt.holds(value) || Kind::UnsignedBigInt.holds(value)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::super::Options;
    use super::*;

    #[test]
    fn a_dialect_is_found_by_its_name() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::find(dialect.name()), Ok(dialect));
        }
        assert_eq!(Dialect::find("oracle").expect_err("none").to_string(), "no such dialect: choose pg, mariadb or tidb");
    }

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
