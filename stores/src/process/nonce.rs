//! The random identity of a claimer.

use snowmint_core::ErrorKind;

use crate::error::Error;

/// Returns a new nonce.
///
/// # Errors
/// `StoreUnavailable`: the system gives no random bytes.
pub fn nonce() -> Result<u128, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::StoreUnavailable, format!("the system gives no random bytes for a nonce: {error}"))
    })?;
    Ok(u128::from_ne_bytes(bytes))
}
