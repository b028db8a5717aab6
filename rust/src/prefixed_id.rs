//! IDs with a prefix, as a type for each kind of thing.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use snowmint_core::Id;
use snowmint_core::prefix::{Prefix, PrefixedText, Value};
use snowmint_stores::Error;

/// A kind of thing that has IDs, for [`PrefixedId`].
///
/// # Examples
/// ```
/// use snowmint::{IdKind, PrefixedId};
/// pub struct User;
/// impl IdKind for User {
///     const PREFIX: &'static str = "user";
/// }
/// assert_eq!(PrefixedId::<User>::new(5).to_string(), "user_0000000000005");
/// ```
pub trait IdKind {
    /// The prefix of its IDs: at most 63 characters `a-z` and `_`, with a letter at each end. The compiler refuses another
    /// one where the type is used.
    const PREFIX: &'static str;
}

/// An ID of one kind of thing, which the compiler does not confuse with another kind. Its text has the kind's prefix.
///
/// The value is a 64-bit [`Id`], or a [`Uuid`](crate::Uuid): then the text is a `TypeID`. With the feature `serde` it is that text
/// in human-readable formats, and the bare value in others.
///
/// # Examples
/// ```
/// use snowmint::{IdKind, PrefixedId, Uuid};
///
/// pub struct User;
/// impl IdKind for User {
///     const PREFIX: &'static str = "user";
/// }
/// type UserId = PrefixedId<User>;
///
/// let id = UserId::new(1_541_815_603_606_036_480);
/// assert_eq!(id.to_string(), "user_1asd13xh1f800");
/// assert_eq!("user_1asd13xh1f800".parse(), Ok(id));
/// assert!("order_1asd13xh1f800".parse::<UserId>().is_err());
///
/// type UserTypeId = PrefixedId<User, Uuid>;
/// let id: UserTypeId = "user_01h455vb4pex5vsknk084sn02q".parse()?;
/// assert_eq!(id.value().version(), Some(7));
/// # Ok::<(), snowmint::Error>(())
/// ```
pub struct PrefixedId<K, V = Id> {
    value: V,
    // No `K` is in here, so its traits do not matter.
    kind: PhantomData<fn() -> K>,
}

impl<K: IdKind, V: Value> PrefixedId<K, V> {
    const PREFIX: Prefix = Prefix::literal(K::PREFIX);

    /// Makes the ID of a value.
    ///
    /// # Examples
    /// ```
    /// # use snowmint::{IdKind, PrefixedId};
    /// # pub struct User;
    /// # impl IdKind for User {
    /// #     const PREFIX: &'static str = "user";
    /// # }
    /// let id = PrefixedId::<User>::new(1_541_815_603_606_036_480);
    /// assert_eq!(id.to_string(), "user_1asd13xh1f800");
    /// ```
    pub fn new(value: impl Into<V>) -> Self {
        // A bad prefix is an error of the compiler here.
        let _ = Self::PREFIX;
        Self { value: value.into(), kind: PhantomData }
    }

    /// Returns the value.
    ///
    /// # Examples
    /// ```
    /// # use snowmint::{IdKind, PrefixedId};
    /// # pub struct User;
    /// # impl IdKind for User {
    /// #     const PREFIX: &'static str = "user";
    /// # }
    /// let id: PrefixedId<User> = "user_1asd13xh1f800".parse()?;
    /// assert_eq!(id.value().get(), 1_541_815_603_606_036_480);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub const fn value(self) -> V {
        self.value
    }

    /// Returns the text.
    ///
    /// # Examples
    /// ```
    /// # use snowmint::{IdKind, PrefixedId};
    /// # pub struct User;
    /// # impl IdKind for User {
    /// #     const PREFIX: &'static str = "user";
    /// # }
    /// assert_eq!(PrefixedId::<User>::new(5).text().as_str(), "user_0000000000005");
    /// ```
    pub fn text(self) -> PrefixedText {
        Self::PREFIX.encode(self.value)
    }
}

impl<K: IdKind, V: Value> From<V> for PrefixedId<K, V> {
    fn from(value: V) -> Self {
        Self::new(value)
    }
}

impl<K: IdKind, V: Value> fmt::Display for PrefixedId<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

impl<K: IdKind, V: Value> fmt::Debug for PrefixedId<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

impl<K: IdKind, V: Value> FromStr for PrefixedId<K, V> {
    type Err = Error;

    /// Reads a text with the kind's prefix.
    ///
    /// # Errors
    /// `InvalidText`: another prefix, or a value that is not valid.
    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self::new(Self::PREFIX.decode::<V>(text)?))
    }
}

// Derived, these would ask for the same traits of the kind.
impl<K, V: Copy> Copy for PrefixedId<K, V> {}

impl<K, V: Copy> Clone for PrefixedId<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V: PartialEq> PartialEq for PrefixedId<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<K, V: Eq> Eq for PrefixedId<K, V> {}

impl<K, V: PartialOrd> PartialOrd for PrefixedId<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<K, V: Ord> Ord for PrefixedId<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl<K, V: Hash> Hash for PrefixedId<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use serde_core::de::{Error, Visitor};
    use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{IdKind, PhantomData, PrefixedId, Value, fmt};

    impl<K: IdKind, V: Value + Serialize> Serialize for PrefixedId<K, V> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if serializer.is_human_readable() { serializer.collect_str(self) } else { self.value.serialize(serializer) }
        }
    }

    impl<'de, K: IdKind, V: Value + Deserialize<'de>> Deserialize<'de> for PrefixedId<K, V> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                deserializer.deserialize_str(TextVisitor(PhantomData))
            } else {
                V::deserialize(deserializer).map(Self::from)
            }
        }
    }

    struct TextVisitor<K, V>(PhantomData<fn() -> (K, V)>);

    impl<K: IdKind, V: Value> Visitor<'_> for TextVisitor<K, V> {
        type Value = PrefixedId<K, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an ID with the prefix {:?}", K::PREFIX)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            text.parse().map_err(E::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Uuid};

    struct Order;
    impl IdKind for Order {
        const PREFIX: &'static str = "order";
    }
    type OrderId = PrefixedId<Order>;

    #[test]
    fn an_id_is_its_text_and_its_value() {
        for value in [0, 1, 1 << 53, u64::MAX >> 1, 1 << 63, u64::MAX] {
            let id = OrderId::new(value);
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.value().get(), value);
        }
        assert!(OrderId::new(5) < OrderId::new(6));
        assert_eq!(format!("{:?}", OrderId::new(5)), "order_0000000000005");
    }

    #[test]
    fn another_prefix_or_another_value_is_refused() {
        for text in ["user_0000000000005", "0000000000005", "order_00000000000000000000000005", ""] {
            assert_eq!(text.parse::<OrderId>().expect_err(text).kind(), ErrorKind::InvalidText);
        }
        assert!("order_0000000000005".parse::<PrefixedId<Order, Uuid>>().is_err());
    }
}
