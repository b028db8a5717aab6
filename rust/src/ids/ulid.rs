//! ULIDs, minted with the states of this process.

pub use snowmint_core::ulid::{Ulid, UlidState};

use crate::cycles::unix_ms;
use snowmint_stores::Error;

use crate::ids::minter::mint;

/// Returns a ULID above all others that this process has minted: see [`UlidState`].
///
/// # Errors
/// `Exhausted` if the 80 bits of the last ms are used up: only with a stopped clock and very bad luck.
/// `StoreUnavailable` if the system gives no random bytes. `BeforeEpoch` or `TimeOverflow` if its clock is not between
/// 1970 and 10889.
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
