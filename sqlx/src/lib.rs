#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

use std::fmt;

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Type};

/// A [`snowmint::Id`](snowmint_core::Id) as a `BIGINT` of sqlx: the signed form of the same 64 bits.
///
/// # Examples
/// ```
/// use snowmint_sqlx::Id;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), sqlx::Error> {
/// # use sqlx::{Connection, SqliteConnection};
/// # let mut database = SqliteConnection::connect("sqlite::memory:").await?;
/// let select = sqlx::query_as("SELECT ?").bind(Id::from(1_541_815_603_606_036_480));
/// let (id,): (Id,) = select.fetch_one(&mut database).await?;
/// assert_eq!(snowmint::Id::from(id), "1541815603606036480".parse().unwrap());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Id(snowmint_core::Id);

impl Id {
    /// Makes the column value of an ID.
    ///
    /// # Examples
    /// ```
    /// let id = snowmint_sqlx::Id::new(snowmint::Id::new(5));
    /// assert_eq!(id.get().get(), 5);
    /// ```
    pub const fn new(id: snowmint_core::Id) -> Self {
        Self(id)
    }

    /// Returns the ID.
    ///
    /// # Examples
    /// ```
    /// let id = snowmint_sqlx::Id::from(5);
    /// assert_eq!(id.get(), snowmint::Id::new(5));
    /// ```
    pub const fn get(self) -> snowmint_core::Id {
        self.0
    }
}

impl From<snowmint_core::Id> for Id {
    fn from(id: snowmint_core::Id) -> Self {
        Self(id)
    }
}

impl From<Id> for snowmint_core::Id {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl From<u64> for Id {
    fn from(id: u64) -> Self {
        Self(id.into())
    }
}

impl From<Id> for u64 {
    fn from(id: Id) -> Self {
        id.0.into()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

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
        self.0.get().cast_signed().encode_by_ref(buffer)
    }
}

impl<'r, D: Database> Decode<'r, D> for Id
where
    i64: Decode<'r, D>,
{
    fn decode(value: D::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(i64::decode(value)?.cast_unsigned().into())
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection, SqliteConnection};

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn a_column_holds_the_signed_form_of_all_64_bits() -> Result<(), sqlx::Error> {
        let mut database = SqliteConnection::connect("sqlite::memory:").await?;
        for number in [0, 1, u64::MAX >> 1, 1 << 63, u64::MAX] {
            let select = sqlx::query_as("SELECT ?1, ?1").bind(Id::from(number));
            let (column, id): (i64, Id) = select.fetch_one(&mut database).await?;
            assert_eq!((column, u64::from(id)), (number.cast_signed(), number));
            assert_eq!(id.to_string(), number.to_string());
        }
        Ok(())
    }
}
