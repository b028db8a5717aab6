//! UUIDs, minted with the states of this process.
//!
//! | version | across threads | in a forked child | under any clock |
//! | --- | --- | --- | --- |
//! | [`v1`], [`v6`] | no time twice | another random node and clock sequence | the time goes on; version 6 in order |
//! | [`v4`] | random bits handed out once | other random bits | needs no clock |
//! | [`v7`] | strictly increasing | another random counter | strictly increasing |
//!
//! Versions 3 and 5 are hashes (`Uuid::v3`, `Uuid::v5`, feature `uuid`), 8 is made of bits from the
//! caller ([`Uuid::v8`]), and 2 is only read.

pub use snowmint_core::uuid::{GregorianStamp, GregorianState, Uuid, UuidVariant, V7State};

use crate::cycles::unix_ms;
use snowmint_stores::Error;

use crate::ids::minter::{mint, unix_100ns};

/// Returns a version 1 UUID: the time, and a random node and clock sequence of this process, never the address of a
/// network card.
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bytes. `BeforeEpoch`, `TimeOverflow`: its clock is not between 1582 and
/// 5236.
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// assert_eq!(uuid::v1()?.version(), Some(1));
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn v1() -> Result<Uuid, Error> {
    mint(|states| states.gregorian(unix_100ns())?.v1())
}

/// Returns a version 6 UUID: as [`v1`], in order of time.
///
/// # Errors
/// The errors of [`v1`].
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// assert!(uuid::v6()? < uuid::v6()?);
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn v6() -> Result<Uuid, Error> {
    mint(|states| states.gregorian(unix_100ns())?.v6())
}

/// Takes the time, clock sequence and node of the next version 1 or 6, for callers that replace the node.
///
/// # Errors
/// As of [`v1`].
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// let mut stamp = uuid::gregorian()?;
/// stamp.node = 0x0242_ac11_0002;
/// assert!(stamp.v6()?.to_string().ends_with("-0242ac110002"));
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn gregorian() -> Result<GregorianStamp, Error> {
    mint(|states| states.gregorian(unix_100ns()))
}

/// A version 4: 122 random bits, by `ChaCha20` under keys of the operating system.
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bits.
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// assert_ne!(uuid::v4()?, uuid::v4()?);
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn v4() -> Result<Uuid, Error> {
    mint(|states| Ok(states.v4()))
}

/// Returns a version 7 UUID, above all others that this process has minted: see [`V7State`].
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bytes. `BeforeEpoch`, `TimeOverflow`: its clock is not between 1970 and
/// 10889.
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// let (first, second) = (uuid::v7()?, uuid::v7()?);
/// assert!(first < second && first.to_string() < second.to_string());
/// # Ok::<(), snowmint::Error>(())
/// ```
#[inline]
pub fn v7() -> Result<Uuid, Error> {
    v7_at(unix_ms())
}

/// Returns a version 7 UUID of the time `now_ms` (Unix ms), or later: for callers that have read the clock already.
///
/// # Errors
/// The errors of [`v7`].
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// let now_ms = snowmint::core::SystemHost::unix_ms();
/// assert!(uuid::v7_at(now_ms)?.timestamp_ms() >= Some(now_ms));
/// # Ok::<(), snowmint::Error>(())
/// ```
#[inline]
pub fn v7_at(now_ms: i64) -> Result<Uuid, Error> {
    mint(|states| states.v7(now_ms))
}

/// Returns a version 7 UUID of an instant (Unix ms), with 74 random bits: for rows that already have a time. It may
/// sort before or after UUIDs of [`v7`].
///
/// # Errors
/// The errors of [`v7`], about the instant.
///
/// # Examples
/// ```
/// use snowmint::uuid;
/// let id = uuid::v7_of(1_645_557_742_000)?;
/// assert_eq!(id.timestamp_ms(), Some(1_645_557_742_000));
/// assert_ne!(uuid::v7_of(1_645_557_742_000)?, id);
/// # Ok::<(), snowmint::Error>(())
/// ```
pub fn v7_of(unix_ms: i64) -> Result<Uuid, Error> {
    mint(|states| states.v7_of(unix_ms))
}
