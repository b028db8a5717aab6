//! xids, minted with the states of this process.

pub use snowmint_core::xid::{Xid, XidState};

use crate::cycles::unix_ms;
use snowmint_stores::Error;

use crate::ids::minter::mint;

/// An xid that this process has not minted yet: see [`XidState`].
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bytes. `BeforeEpoch`, `TimeOverflow`: its clock is not between 1970 and
/// 2106.
///
/// # Examples
/// ```
/// use snowmint::xid;
/// let (first, second) = (xid::next()?, xid::next()?);
/// assert_eq!((first.machine(), first.process()), (second.machine(), second.process()));
/// assert_ne!(first, second);
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn next() -> Result<Xid, Error> {
    let now_ms = unix_ms();
    mint(|states| states.xid(now_ms))
}
