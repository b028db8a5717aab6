//! The three dialects of sequences.

use super::kind::Kind;
use crate::error::{Error, What};

/// The database whose defaults and `setval` a sequence follows.
///
/// After the values 3 and 5 (start 3, increment 2, max 100):
///
/// | | `pg` | `mariadb` | `tidb` |
/// | --- | --- | --- | --- |
/// | set to 6, then next | 6, 8 | 6, 8 | 6, 7 |
/// | set to 20 with `is_called` false, then next | 20, 20 | 20, 20 | no such argument |
/// | set to a lower value | goes back | `None`, no effect | `None`, no effect |
/// | set to the last value | 5, then 7 | 5, then 7 | `None`, then 7 |
/// | set to 200 | refused | 200, then `Exhausted` | 200, then `Exhausted` |
/// | a `round` | no such argument | reaches the cycle count, or `None` | no such argument |
/// | a `round` whose next value would lie before its bound | no such argument | `None`, no effect | no such argument |
/// | the last value, before any next | an error | `None` | `None` |
/// | the last value, after a next past the bound | unchanged | `None` | unchanged |
/// | the last value, after a set | the set value, unless `is_called` is false | unchanged | unchanged |
///
/// Sources: `PostgreSQL`'s documentation, "Sequence Manipulation Functions"; `MariaDB`'s, "SETVAL" and "CREATE
/// SEQUENCE"; `TiDB`'s, "CREATE SEQUENCE", and its `sequence.go`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `PostgreSQL`: a set goes anywhere within the bounds.
    #[default]
    Pg,
    /// `MariaDB`: a set never goes down.
    Mariadb,
    /// `TiDB`: a set never goes down, and later values stay in the progression from the start.
    Tidb,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 3] = [Self::Pg, Self::Mariadb, Self::Tidb];

    /// Returns the name of this dialect in every language.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Dialect;
    /// assert_eq!(Dialect::ALL.map(Dialect::name), ["pg", "mariadb", "tidb"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pg => "pg",
            Self::Mariadb => "mariadb",
            Self::Tidb => "tidb",
        }
    }

    /// Returns the dialect with this name: `pg`, `mariadb` or `tidb`.
    ///
    /// # Errors
    /// `InvalidText`, if no dialect has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Dialect;
    /// assert_eq!(Dialect::find("tidb"), Ok(Dialect::Tidb));
    /// assert!(Dialect::find("oracle").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name().as_bytes() == name.as_ref());
        found.ok_or(Error::plain(What::SequenceDialect))
    }

    /// Returns the number of values at each end of a type that no sequence uses.
    pub(super) const fn keeps(self) -> i128 {
        match self {
            Self::Pg => 0,
            Self::Mariadb | Self::Tidb => 1,
        }
    }

    /// Returns the default number of values that a session reserves at a time.
    pub(super) const fn cache(self) -> i128 {
        match self {
            Self::Pg => 1,
            Self::Mariadb | Self::Tidb => 1000,
        }
    }

    /// Returns the default of the first value.
    pub(super) fn start(self, increment: i128, min: i128, max: i128) -> i128 {
        match (self, increment > 0) {
            (Self::Tidb, true) => min.max(1),
            // An unsigned sequence has no -1.
            (Self::Tidb, false) if min <= -1 => max.min(-1),
            (_, true) => min,
            (_, false) => max,
        }
    }

    /// Returns the greatest cache. `MariaDB` and `TiDB` keep `cache` below `(2^63 - 1 - |increment|) / |increment|`,
    /// and count `NO CACHE`, which is 1 here, as 0.
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

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_dialect_is_found_by_its_name() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::find(dialect.name()), Ok(dialect));
        }
        assert_eq!(
            Dialect::find("oracle").expect_err("none").to_string(),
            "no such dialect: choose pg, mariadb or tidb"
        );
    }
}
