//! KSUIDs, minted with the random bits of this process.

pub use snowmint_core::ksuid::Ksuid;

use crate::cycles::unix_ms;
use snowmint_stores::Error;

use crate::ids::minter::mint;

/// A new KSUID: the second, and 128 random bits. KSUIDs of the same second have no order.
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bytes. `BeforeEpoch`, `TimeOverflow`: its clock is not between 2014 and
/// 2150.
///
/// # Examples
/// ```
/// use snowmint::ksuid;
/// assert_ne!(ksuid::next()?, ksuid::next()?);
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn next() -> Result<Ksuid, Error> {
    let now_ms = unix_ms();
    mint(|states| states.ksuid(now_ms))
}
