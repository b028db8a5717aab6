//! What rustls asks of a process before its first connection.

use rustls::crypto::{CryptoProvider, ring};

/// Names the cryptography to use, unless the application has done so: rustls panics where several are built in, which the
/// clients here bring about together.
pub(in crate::engines) fn prepare() {
    if CryptoProvider::get_default().is_none() {
        // Somebody else may be faster, which is as good.
        let _ = ring::default_provider().install_default();
    }
}
