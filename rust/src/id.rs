//! A 64-bit ID as a type of its own.

use std::fmt;
use std::str::FromStr;

use snowmint_core::{ErrorKind, Layout, Parts};
use snowmint_stores::Error;

/// A 64-bit ID as a type of its own: for structs and APIs in which a bare `u64` says too little.
///
/// Its text is the decimal number. With the feature `serde` it is that text in human-readable formats, since JavaScript
/// rounds numbers above 2^53, and a `u64` in others. With the feature `sqlx` it is a `BIGINT`: the signed form of the same
/// 64 bits, so the order of IDs is that of the column while the layout's first bit is unused.
///
/// # Examples
/// ```
/// use snowmint::{Id, Snowflake, layouts::TWITTER};
/// let id = Id::from(Snowflake::new(&TWITTER, 6)?.next_id()?);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// assert_eq!(TWITTER.decode(u64::from(id))?.node, 6);
/// # Ok::<(), snowmint::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

impl Id {
    /// Returns the time, the node and the other parts, by the layout in which it was minted.
    ///
    /// # Errors
    /// `InvalidId`, if the layout cannot have minted the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Id, layouts::TWITTER};
    /// let id: Id = "1541815603606036480".parse()?;
    /// assert_eq!(id.parts(&TWITTER)?.timestamp_ms, 1_656_432_460_105);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn parts(self, layout: &Layout) -> Result<Parts, Error> {
        Ok(layout.decode(self.0)?)
    }
}

impl From<u64> for Id {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl From<Id> for u64 {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = Error;

    /// Reads 1 to 20 decimal digits.
    ///
    /// # Errors
    /// `InvalidId` for a sign, other characters, and numbers above 2^64-1.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or_else(|| {
            let sentence = format!("an ID is decimal digits, at most {}, not {text:?}", u64::MAX);
            Error::new(ErrorKind::InvalidId, sentence)
        })
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use serde_core::de::{Error, Visitor};
    use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Id, fmt};

    impl Serialize for Id {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_u64(self.0) }
        }
    }

    impl<'de> Deserialize<'de> for Id {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                deserializer.deserialize_any(IdVisitor)
            } else {
                deserializer.deserialize_u64(IdVisitor)
            }
        }
    }

    struct IdVisitor;

    impl Visitor<'_> for IdVisitor {
        type Value = Id;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an ID: decimal digits in a string, or a number of 64 bits")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_u64<E: Error>(self, id: u64) -> Result<Id, E> {
            Ok(Id(id))
        }
    }
}

#[cfg(feature = "sqlx")]
mod with_sqlx {
    use sqlx::encode::IsNull;
    use sqlx::error::BoxDynError;
    use sqlx::{Database, Decode, Encode, Type};

    use super::Id;

    impl<D: Database> Type<D> for Id
    where
        i64: Type<D>,
    {
        fn type_info() -> D::TypeInfo {
            i64::type_info()
        }

        fn compatible(info: &D::TypeInfo) -> bool {
            i64::compatible(info)
        }
    }

    impl<'q, D: Database> Encode<'q, D> for Id
    where
        i64: Encode<'q, D>,
    {
        fn encode_by_ref(&self, buffer: &mut D::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
            self.0.cast_signed().encode_by_ref(buffer)
        }
    }

    impl<'r, D: Database> Decode<'r, D> for Id
    where
        i64: Decode<'r, D>,
    {
        fn decode(value: D::ValueRef<'r>) -> Result<Self, BoxDynError> {
            Ok(Self(i64::decode(value)?.cast_unsigned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_digits_of_64_bits() {
        for id in [0, 1, 1_541_815_603_606_036_480, u64::MAX] {
            assert_eq!(Id(id).to_string().parse(), Ok(Id(id)));
        }
        for text in ["", "+1", "-1", " 1", "0x10", "18446744073709551616", "1_000"] {
            let error = text.parse::<Id>().expect_err(text);
            assert_eq!(error.kind(), ErrorKind::InvalidId);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
