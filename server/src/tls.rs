//! Certificates and keys for rustls.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use crate::files::read_text;
use snowmint_cli::Exit;

/// The limit of a certificate chain and of a key, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A certificate and its key, read from PEM files that may change.
#[derive(Debug)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads both files. Returns `None` if a path is missing.
    pub fn read(chain: Option<&Path>, key: Option<&Path>) -> Result<Option<Arc<Self>>, Exit> {
        let (Some(chain), Some(key)) = (chain, key) else { return Ok(None) };
        let current = RwLock::new(read(chain, key)?);
        Ok(Some(Arc::new(Self { chain: chain.to_owned(), key: key.to_owned(), current })))
    }

    /// Reads both files again, for new connections. If a file is not usable, the old certificate and key stay.
    pub fn read_again(&self) -> Result<(), Exit> {
        let current = read(&self.chain, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    /// Returns the acceptor that encrypts with this certificate.
    pub fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, Exit> {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| refused(&self.chain, &error))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::<Self>::clone(self));
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(chain: &Path, key: &Path) -> Result<Arc<CertifiedKey>, Exit> {
    let text = |path: &Path| read_text(path, MAX_FILE_BYTES).map_err(|error| refused(path, &error));
    let certificates = CertificateDer::pem_slice_iter(text(chain)?.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| refused(chain, &error))?;
    let key = PrivateKeyDer::from_pem_slice(text(key)?.as_bytes()).map_err(|error| refused(key, &error))?;
    CertifiedKey::from_der(certificates, key, &ring::default_provider())
        .map(Arc::new)
        .map_err(|error| refused(chain, &error))
}

fn refused(path: &Path, why: &dyn std::fmt::Display) -> Exit {
    Exit::Wrong(format!("TLS: {}: {why}", path.display()))
}
