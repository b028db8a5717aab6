//! Certificates and keys, for rustls.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::exit::Exit;

/// What encrypts, from files in PEM; nothing without them.
pub fn acceptor(certificates: Option<&Path>, key: Option<&Path>) -> Result<Option<TlsAcceptor>, Exit> {
    let (Some(certificates), Some(key)) = (certificates, key) else { return Ok(None) };
    let refused = |path: &Path, why: &dyn std::fmt::Display| Exit::Wrong(format!("TLS: {}: {why}", path.display()));
    let chain = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| refused(certificates, &error))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| refused(key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| refused(certificates, &error))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}
