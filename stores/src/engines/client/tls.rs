//! The setup that rustls needs before the first connection of a process.

use rustls::crypto::{CryptoProvider, ring};

/// Chooses the cryptography library, unless the application has chosen one.
///
/// Together the clients build in several libraries, and rustls panics without a choice.
pub(in crate::engines) fn prepare() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have chosen meanwhile, which is as good.
        let _ = ring::default_provider().install_default();
    }
}
