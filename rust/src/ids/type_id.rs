//! `TypeID`s, minted with the states of this process.

pub use snowmint_core::TypeId;

use snowmint_core::prefix::Prefix;
use snowmint_stores::Error;

use crate::ids::uuid;

/// A new `TypeID`: a prefix, and a UUID of version 7 above all that this process has minted.
///
/// # Errors
/// `InvalidText` for an invalid prefix, and the errors of [`uuid::v7`].
///
/// # Examples
/// ```
/// use snowmint::type_id;
/// let (first, second) = (type_id::next("user")?, type_id::next("user")?);
/// assert!(first < second && first.to_string().starts_with("user_"));
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn next(prefix: impl AsRef<[u8]>) -> Result<TypeId, Error> {
    let prefix = Prefix::new(prefix)?;
    Ok(TypeId::new(prefix, uuid::v7()?))
}
