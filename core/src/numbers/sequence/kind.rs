//! The integer types of a sequence.

use crate::error::{Error, What};

/// The integer type of a sequence's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// 16 bits: -32768 to 32767.
    SmallInt,
    /// 32 bits: -2147483648 to 2147483647.
    Integer,
    /// 64 bits: -2^63 to 2^63-1.
    #[default]
    BigInt,
    /// 64 bits without a sign: 0 to 2^64-1. `MariaDB` has it since 11.5; in the other dialects it is an extension.
    UnsignedBigInt,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::SmallInt, Self::Integer, Self::BigInt, Self::UnsignedBigInt];

    /// Returns the name of this kind in SQL and in every language.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Kind;
    /// assert_eq!(Kind::ALL.map(Kind::name), ["smallint", "integer", "bigint", "bigint unsigned"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::SmallInt => "smallint",
            Self::Integer => "integer",
            Self::BigInt => "bigint",
            Self::UnsignedBigInt => "bigint unsigned",
        }
    }

    /// Returns the kind with this name: `smallint`, `integer`, `bigint` or `bigint unsigned`.
    ///
    /// # Errors
    /// `InvalidText`, if no kind has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Kind;
    /// assert_eq!(Kind::find("bigint"), Ok(Kind::BigInt));
    /// assert!(Kind::find("tinyint").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == name.as_ref());
        found.ok_or(Error::plain(What::SequenceKind))
    }

    /// Returns the least value of this kind.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Kind;
    /// assert_eq!((Kind::SmallInt.min(), Kind::UnsignedBigInt.min()), (-32_768, 0));
    /// ```
    pub const fn min(self) -> i128 {
        match self {
            Self::SmallInt => i16::MIN as i128,
            Self::Integer => i32::MIN as i128,
            Self::BigInt => i64::MIN as i128,
            Self::UnsignedBigInt => 0,
        }
    }

    /// Returns the greatest value of this kind.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Kind;
    /// assert_eq!((Kind::SmallInt.max(), Kind::UnsignedBigInt.max()), (32_767, (1 << 64) - 1));
    /// ```
    pub const fn max(self) -> i128 {
        match self {
            Self::SmallInt => i16::MAX as i128,
            Self::Integer => i32::MAX as i128,
            Self::BigInt => i64::MAX as i128,
            Self::UnsignedBigInt => u64::MAX as i128,
        }
    }

    /// Returns whether this kind has the value.
    pub(super) const fn holds(self, value: i128) -> bool {
        self.min() <= value && value <= self.max()
    }
}

/// Returns whether any kind has the value.
pub(super) const fn possible(value: i128) -> bool {
    Kind::BigInt.holds(value) || Kind::UnsignedBigInt.holds(value)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_kind_is_found_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(Kind::find(kind.name()), Ok(kind));
        }
        let error = Kind::find("tinyint").expect_err("none");
        assert_eq!(error.to_string(), "no such sequence type: choose smallint, integer, bigint or bigint unsigned");
    }
}
