//! What tells one holder from another.

use snowmint_core::ErrorKind;

use crate::error::Error;

/// A random one.
pub(crate) fn token() -> Result<u128, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::told(ErrorKind::StoreUnavailable, format!("the system gives no random token: {error}"))
    })?;
    Ok(u128::from_ne_bytes(bytes))
}
