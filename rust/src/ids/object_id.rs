//! `ObjectId`s of `MongoDB`, minted with the states of this process.

pub use snowmint_core::object_id::{ObjectId, ObjectIdState};

use crate::cycles::unix_ms;
use snowmint_stores::Error;

use crate::ids::minter::mint;

/// An `ObjectId` that this process has not minted yet: see [`ObjectIdState`].
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bytes. `BeforeEpoch`, `TimeOverflow`: its clock is not between 1970 and
/// 2106.
///
/// # Examples
/// ```
/// use snowmint::object_id;
/// let (first, second) = (object_id::next()?, object_id::next()?);
/// assert_eq!(first.random(), second.random());
/// assert_ne!(first, second);
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn next() -> Result<ObjectId, Error> {
    let now_ms = unix_ms();
    mint(|states| states.object_id(now_ms))
}
