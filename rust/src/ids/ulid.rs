//! ULIDs, minted with the states of this process.

pub use snowmint_core::ulid::{Ulid, UlidState};

use crate::cycles::unix_ms;
use snowmint_stores::Error;

use crate::ids::minter::mint;

/// A ULID above all that this process has minted: see [`UlidState`].
///
/// # Errors
/// `Exhausted`: the 80 bits of the last ms are used up, which takes a clock that stands still and luck. `StoreUnavailable`:
/// the system gives no random bytes. `BeforeEpoch`, `TimeOverflow`: its clock is not between 1970 and 10889.
///
/// # Examples
/// ```
/// use snowmint::ulid;
/// let (first, second) = (ulid::next()?, ulid::next()?);
/// assert!(first < second && first.to_string() < second.to_string());
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn next() -> Result<Ulid, Error> {
    let now_ms = unix_ms();
    mint(|states| states.ulid(now_ms))
}
