//! The traits of serde. In formats for people, such as JSON, an ID is its text; in binary formats it is its bytes.

use core::fmt;
use core::str::FromStr;

use serde_core::de::{self, Deserialize, Deserializer, Visitor};
use serde_core::ser::{Serialize, Serializer};

use crate::error::Error;
use crate::wide::ksuid::Ksuid;
use crate::wide::object_id::ObjectId;
use crate::wide::type_id::TypeId;
use crate::wide::ulid::Ulid;
use crate::wide::uuid::Uuid;
use crate::wide::xid::Xid;

/// Reads an ID of `N` bytes. The errors of its text are core's.
struct Reader<T, const N: usize> {
    expected: &'static str,
    from_bytes: fn([u8; N]) -> T,
}

impl<T: FromStr<Err = Error>, const N: usize> Visitor<'_> for Reader<T, N> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        bytes.try_into().map(self.from_bytes).map_err(|_| E::custom(Error::id_bytes(N, bytes.len())))
    }
}

macro_rules! id {
    ($id:ident, $expected:literal) => {
        /// Writes the text in formats for people, and the bytes in binary formats.
        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(self.text().as_str())
                } else {
                    serializer.serialize_bytes(&self.to_bytes())
                }
            }
        }

        /// Reads each text that [`FromStr`] reads, or the bytes in binary formats.
        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let reader = Reader { expected: $expected, from_bytes: Self::from_bytes };
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(reader)
                } else {
                    deserializer.deserialize_bytes(reader)
                }
            }
        }
    };
}

id!(Uuid, "a UUID");
id!(Ulid, "a ULID");
id!(ObjectId, "an ObjectId");
id!(Ksuid, "a KSUID");
id!(Xid, "an xid");

/// Writes the text.
impl Serialize for TypeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

/// Reads the text of a `TypeID` with any prefix.
impl<'de> Deserialize<'de> for TypeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextReader)
    }
}

/// Reads the text of a `TypeID`.
struct TextReader;

impl Visitor<'_> for TextReader {
    type Value = TypeId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a TypeID")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TypeId, E> {
        text.parse().map_err(E::custom)
    }
}
