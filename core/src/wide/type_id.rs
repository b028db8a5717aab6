//! `TypeID`s: a UUID after the prefix that says what it identifies.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, What};
use crate::forms::prefix::{Prefix, PrefixedText, split, value};
use crate::wide::uuid::Uuid;

/// A `TypeID`: a prefix and a UUID, mostly of version 7 (specification 0.3.0, `jetify-com/typeid` on GitHub).
///
/// # Examples
/// ```
/// use snowmint_core::TypeId;
/// let id: TypeId = "user_01h455vb4pex5vsknk084sn02q".parse()?;
/// assert_eq!(id.prefix().as_str(), "user");
/// assert_eq!(id.uuid().to_string(), "01890a5d-ac96-774b-bcce-b302099a8057");
/// assert_eq!(id.uuid().timestamp_ms(), Some(1_688_096_058_518)); // 2023-06-30T03:34:18.518Z
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId {
    prefix: Prefix,
    uuid: Uuid,
}

impl TypeId {
    /// Makes the `TypeID` of a prefix and a UUID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix::Prefix;
    /// use snowmint_core::{TypeId, Uuid};
    /// assert_eq!(TypeId::new(Prefix::new("user")?, Uuid::NIL).to_string(), "user_00000000000000000000000000");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn new(prefix: Prefix, uuid: Uuid) -> Self {
        Self { prefix, uuid }
    }

    /// Returns the prefix.
    pub const fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Returns the UUID.
    pub const fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// Returns the text.
    pub fn text(&self) -> PrefixedText {
        self.prefix.encode(self.uuid)
    }
}

impl FromStr for TypeId {
    type Err = Error;

    /// Reads a `TypeID` with any prefix.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (prefix, suffix) = split(text.as_bytes());
        if prefix == Some(b"") {
            return Err(Error::plain(What::PrefixText));
        }
        Ok(Self { prefix: Prefix::new(prefix.unwrap_or_default())?, uuid: value(suffix)? })
    }
}

impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}
