//! The definition of a sequence: options, their only defaults, and the checks.

use super::dialect::Dialect;
use super::kind::Kind;
use super::state::State;
use crate::error::{Error, What};
use crate::int::Integer;

/// The options of a sequence, named as in SQL's `CREATE SEQUENCE`. [`Rules::new`] checks them.
///
/// Numbers are `i128`, so that a host can pass any number and all languages refuse it alike. A value never takes more
/// than the 64 bits of its [`Kind`].
///
/// | option | meaning | default |
/// | --- | --- | --- |
/// | `dialect` | the database whose defaults and `setval` apply | [`Dialect::Pg`] |
/// | `kind` | the type of the values | [`Kind::BigInt`] |
/// | `increment` | the step; with a negative step the sequence descends | 1 |
/// | `min` | the least value | ascending 1, descending the type's least |
/// | `max` | the greatest value | ascending the type's greatest, descending -1 |
/// | `start` | the first value | ascending `min`, descending `max`; `tidb`: the greater of `min` and 1, descending the lesser of `max` and -1 |
/// | `cache` | the number of values that a session reserves at a time | `pg` 1, the others 1000 |
/// | `cycle` | whether the sequence continues at `min` (descending: at `max`) after its last value | no |
///
/// `mariadb` and `tidb` reserve the least and the greatest value of the type: their bigint ends at 2^63-2. They also
/// refuse a `cache` whose values could reach 2^63: with increment 10 the limit is 922337203685477578. The default `max`
/// of a descending unsigned sequence is the type's greatest value, because the type has no -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The database whose defaults and `setval` apply.
    pub dialect: Dialect,
    /// The type of the values.
    pub kind: Kind,
    /// The step: not 0, -2^63 to 2^63-1. It need not fit `kind`.
    pub increment: i128,
    /// The least value.
    pub min: Option<i128>,
    /// The greatest value.
    pub max: Option<i128>,
    /// The first value.
    pub start: Option<i128>,
    /// The number of values that a session reserves at a time: 1 to 2^63-1. SQL's `NO CACHE` is 1.
    pub cache: Option<i128>,
    /// Whether the sequence starts again after its last value.
    pub cycle: bool,
}

impl Options {
    /// The defaults: `PostgreSQL`'s.
    pub const DEFAULT: Self = Self {
        dialect: Dialect::Pg,
        kind: Kind::BigInt,
        increment: 1,
        min: None,
        max: None,
        start: None,
        cache: None,
        cycle: false,
    };

    /// Returns the defaults of a dialect and a type, by their names. Without names they are `pg` and `bigint`.
    ///
    /// # Errors
    /// `InvalidText` for an unknown name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Dialect, Options};
    /// assert_eq!(Options::named(Some("tidb"), None::<&str>)?, Options { dialect: Dialect::Tidb, ..Options::DEFAULT });
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn named(dialect: Option<impl AsRef<[u8]>>, kind: Option<impl AsRef<[u8]>>) -> Result<Self, Error> {
        let dialect = dialect.map_or(Ok(Self::DEFAULT.dialect), Dialect::find)?;
        Ok(Self { dialect, kind: kind.map_or(Ok(Self::DEFAULT.kind), Kind::find)?, ..Self::DEFAULT })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The definition of a sequence, checked and complete.
///
/// Pass the same definition to every session of a sequence: a store keeps only the [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    dialect: Dialect,
    kind: Kind,
    increment: i128,
    min: i128,
    max: i128,
    start: i128,
    cache: i128,
    cycle: bool,
}

impl Rules {
    /// Checks `options` in the order of `PostgreSQL`'s `CREATE SEQUENCE` and fills in the defaults.
    ///
    /// # Errors
    /// `InvalidId`, for the first of these mistakes: `increment` is 0, or does not fit 64 bits; `max` does not fit the
    /// type; `min` does not fit the type; `min` is not less than `max`; `start` is not between them; `cache` is not
    /// positive, or too large for `mariadb` and `tidb`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Dialect, Options, Rules};
    /// let rules = Rules::new(&Options { dialect: Dialect::Mariadb, increment: -1, ..Options::DEFAULT })?;
    /// assert_eq!((rules.start(), rules.min(), rules.cache()), (-1, -i128::from(i64::MAX), 1000));
    /// assert!(Rules::new(&Options { min: Some(10), max: Some(5), ..Options::DEFAULT }).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(options: &Options) -> Result<Self, Error> {
        let Options { dialect, kind, increment, cycle, .. } = *options;
        if increment == 0 || !Kind::BigInt.holds(increment) {
            return Err(Error::plain(What::SequenceStep));
        }
        let kept = dialect.keeps();
        let (least, greatest) = (kind.min() + kept, kind.max() - kept);
        let max = options.max.unwrap_or(if increment > 0 || least >= 0 { greatest } else { -1 });
        let min = options.min.unwrap_or(if increment > 0 { 1 } else { least });
        for bound in [max, min] {
            if bound < least || bound > greatest {
                return Err(Integer::from(bound).refused(What::SequenceType, 0));
            }
        }
        if min >= max {
            return Err(Error::plain(What::SequenceBounds));
        }
        let start = options.start.unwrap_or(dialect.start(increment, min, max));
        if start < min || start > max {
            return Err(Integer::from(start).refused(What::SequenceStart, 0));
        }
        let cache = options.cache.unwrap_or(dialect.cache());
        if cache < 1 || !Kind::BigInt.holds(cache) {
            return Err(Error::plain(What::SequenceCache));
        }
        if cache > dialect.most_cached(increment) {
            return Err(Integer::from(cache).refused(What::SequenceCacheReach, 0));
        }
        Ok(Self { dialect, kind, increment, min, max, start, cache, cycle })
    }

    /// Returns the database whose `setval` applies.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the type of the values.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the step, from -2^63 to 2^63-1 and not 0.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules};
    /// assert_eq!(Rules::new(&Options { increment: -5, ..Options::DEFAULT })?.increment(), -5);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn increment(&self) -> i128 {
        self.increment
    }

    /// Returns the least value.
    pub const fn min(&self) -> i128 {
        self.min
    }

    /// Returns the greatest value.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Kind, Options, Rules};
    /// let rules = Rules::new(&Options { kind: Kind::SmallInt, ..Options::DEFAULT })?;
    /// assert_eq!((rules.min(), rules.max()), (1, 32_767));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn max(&self) -> i128 {
        self.max
    }

    /// Returns the first value.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules};
    /// // A descending sequence starts at its greatest value.
    /// assert_eq!(Rules::new(&Options { increment: -1, ..Options::DEFAULT })?.start(), -1);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn start(&self) -> i128 {
        self.start
    }

    /// Returns the number of values that a session reserves at a time, from 1 to 2^63-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Dialect, Options, Rules};
    /// assert_eq!(Rules::new(&Options::DEFAULT)?.cache(), 1);
    /// assert_eq!(Rules::new(&Options { dialect: Dialect::Tidb, ..Options::DEFAULT })?.cache(), 1000);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn cache(&self) -> i128 {
        self.cache
    }

    /// Returns whether the sequence starts again after its last value.
    pub const fn cycle(&self) -> bool {
        self.cycle
    }

    /// Returns the record of a sequence that was never used. A missing record means the same.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules, State};
    /// let rules = Rules::new(&Options { start: Some(3), ..Options::DEFAULT })?;
    /// assert_eq!(rules.initial(), State { last: 3, is_called: false, round: 0, sets: 0 });
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn initial(&self) -> State {
        State { last: self.start, is_called: false, round: 0, sets: 0 }
    }

    /// Returns the state after skipping the next `count` values, or all values that are left.
    ///
    /// It counts as a set, so a session that wrote `state` without a reply does not mistake the result for its own
    /// write.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{Options, Rules};
    /// let rules = Rules::new(&Options { increment: 2, max: Some(100), ..Options::DEFAULT })?;
    /// assert_eq!(rules.skip(rules.initial(), 10).last, 21);
    /// assert_eq!(rules.skip(rules.initial(), 1000).last, 100);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[must_use]
    pub fn skip(&self, state: State, count: u64) -> State {
        let further = state.last.saturating_add(self.increment.saturating_mul(count.into()));
        let (last, is_called) = match further {
            further if further < self.min => (self.min, true),
            further if further > self.max => (self.max, true),
            further => (further, state.is_called),
        };
        State { last, is_called, sets: state.sets.saturating_add(1), ..state }
    }

    /// Returns whether `a` comes after `b` in one round.
    pub(super) const fn is_past(&self, a: i128, b: i128) -> bool {
        if self.increment > 0 { a > b } else { a < b }
    }

    /// Returns the first value of every round but the first.
    pub(super) const fn first(&self) -> i128 {
        if self.increment > 0 { self.min } else { self.max }
    }

    /// Returns the bound where a round ends.
    pub(super) const fn bound(&self) -> i128 {
        if self.increment > 0 { self.max } else { self.min }
    }

    /// Returns the value after `value`, but at most the value just past the bound.
    pub(super) fn after(&self, value: i128) -> i128 {
        // Values take 65 bits and steps 64, so the sum fits 128 bits.
        let (next, over) = (value + self.increment, self.bound() + self.increment.signum());
        if self.is_past(next, over) { over } else { next }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    fn ends(options: Options) -> (i128, i128, i128, i128) {
        let rules = Rules::new(&options).expect("valid");
        (rules.start(), rules.min(), rules.max(), rules.cache())
    }

    fn says(options: Options) -> std::string::String {
        Rules::new(&options).expect_err("refused").to_string()
    }

    const PG: Options = Options::DEFAULT;
    const MARIADB: Options = Options { dialect: Dialect::Mariadb, ..PG };
    const TIDB: Options = Options { dialect: Dialect::Tidb, ..PG };
    const TOP: i128 = i64::MAX as i128;

    #[test]
    fn each_dialect_has_defaults_up_and_down() {
        assert_eq!(ends(PG), (1, 1, TOP, 1));
        assert_eq!(ends(Options { increment: -1, ..PG }), (-1, -TOP - 1, -1, 1));
        for options in [MARIADB, TIDB] {
            assert_eq!(ends(options), (1, 1, TOP - 1, 1000));
            assert_eq!(ends(Options { increment: -1, ..options }), (-1, -TOP, -1, 1000));
        }
    }

    #[test]
    fn a_type_caps_the_bounds() {
        let small = Options { kind: Kind::SmallInt, ..PG };
        assert_eq!(ends(small), (1, 1, 32_767, 1));
        assert_eq!(ends(Options { increment: -1, ..small }), (-1, -32_768, -1, 1));
        assert_eq!(ends(Options { kind: Kind::Integer, ..PG }), (1, 1, 2_147_483_647, 1));
        assert_eq!(says(Options { max: Some(40_000), ..small }), "40000 does not fit the type of the sequence");
        assert_eq!(says(Options { min: Some(-50_000), ..small }), "-50000 does not fit the type of the sequence");
        // The step need not fit the type.
        assert_eq!(ends(Options { increment: 40_000, ..small }), (1, 1, 32_767, 1));
    }

    #[test]
    fn an_unsigned_bigint_goes_up_to_2_64_less_1() {
        let unsigned = Options { kind: Kind::UnsignedBigInt, ..PG };
        let top = i128::from(u64::MAX);
        assert_eq!(ends(unsigned), (1, 1, top, 1));
        assert_eq!(ends(Options { increment: -1, ..unsigned }), (top, 0, top, 1));
        assert_eq!(ends(Options { kind: Kind::UnsignedBigInt, ..MARIADB }), (1, 1, top - 1, 1000));
        assert_eq!(says(Options { min: Some(-1), ..unsigned }), "-1 does not fit the type of the sequence");
        assert!(Rules::new(&Options { max: Some(top + 1), ..unsigned }).is_err());
    }

    #[test]
    fn mariadb_and_tidb_reserve_the_ends_of_the_type() {
        for options in [MARIADB, TIDB] {
            assert!(Rules::new(&Options { max: Some(TOP), ..options }).is_err());
            assert!(Rules::new(&Options { min: Some(-TOP - 1), ..options }).is_err());
            assert!(Rules::new(&Options { max: Some(TOP - 1), min: Some(-TOP), ..options }).is_ok());
        }
    }

    #[test]
    fn mistakes_are_reported_in_postgresqls_order() {
        let wrong = Options { increment: 0, min: Some(10), max: Some(i128::MAX), start: Some(0), cache: Some(0), ..PG };
        assert_eq!(says(wrong), "the increment of a sequence is from -2^63 to 2^63-1, and not 0");
        let wrong = Options { increment: 1, ..wrong };
        assert_eq!(says(wrong), "beyond 64 bits does not fit the type of the sequence");
        let wrong = Options { max: Some(5), ..wrong };
        assert_eq!(says(wrong), "the minimum of a sequence must be less than its maximum");
        assert_eq!(says(Options { max: Some(10), ..wrong }), "the minimum of a sequence must be less than its maximum");
        let wrong = Options { max: Some(50), ..wrong };
        assert_eq!(
            says(wrong),
            "start 0 is outside the bounds of the sequence: choose one from its minimum to its maximum"
        );
        let wrong = Options { start: Some(51), ..wrong };
        assert_eq!(
            says(wrong),
            "start 51 is outside the bounds of the sequence: choose one from its minimum to its maximum"
        );
        let wrong = Options { start: Some(50), ..wrong };
        assert_eq!(says(wrong), "a sequence caches 1 to 2^63-1 numbers");
        assert_eq!(says(Options { cache: Some(-1), ..wrong }), "a sequence caches 1 to 2^63-1 numbers");
        assert!(Rules::new(&Options { cache: Some(1), ..wrong }).is_ok());
    }

    #[test]
    fn steps_and_caches_that_are_too_large_are_errors() {
        for absurd in [i128::MIN, -TOP - 2, TOP + 1, i128::MAX] {
            assert!(Rules::new(&Options { increment: absurd, ..PG }).is_err());
            assert!(Rules::new(&Options { cache: Some(absurd), ..PG }).is_err());
            assert!(Rules::new(&Options { start: Some(absurd), ..PG }).is_err());
        }
        assert!(Rules::new(&Options { increment: -TOP - 1, cache: Some(TOP), ..PG }).is_ok());
    }
}
