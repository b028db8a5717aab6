//! TLS, behind the feature `zookeeper-tls`.

#[cfg(feature = "zookeeper-tls")]
pub(super) use self::with::{Tls, connect, options};
#[cfg(not(feature = "zookeeper-tls"))]
pub(super) use self::without::{Tls, connect, options};

#[cfg(feature = "zookeeper-tls")]
mod with {
    use rustls::pki_types::ServerName;
    use zookeeper_client::{Client, Connector, Error, TlsOptions};

    use crate::engines::client::tls;

    pub(in super::super) type Tls = TlsOptions;

    /// Reads the trusted certificates.
    ///
    /// # Errors
    /// A sentence that names the fault.
    pub(in super::super) fn options(ca: Option<&str>, hosts: &[String]) -> Result<Tls, String> {
        let ca = ca.ok_or("TLS needs the certificate of your authority: ca=FILE, in PEM")?;
        tls::prepare();
        // The client panics at a host name that cannot be in a certificate.
        let named = |host: &String| {
            let host = host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host);
            ServerName::try_from(host.trim_start_matches('[').trim_end_matches(']')).is_ok()
        };
        if !hosts.iter().all(named) {
            return Err("a host of the URL cannot be in a certificate".to_owned());
        }
        TlsOptions::new().with_pem_ca(ca).map_err(|error| error.to_string())
    }

    pub(in super::super) async fn connect(connector: Connector, tls: &Tls, hosts: &str) -> Result<Client, Error> {
        connector.with_tls(tls.clone()).secure_connect(hosts).await
    }
}

#[cfg(not(feature = "zookeeper-tls"))]
mod without {
    use zookeeper_client::{Client, Connector, Error};

    #[derive(Clone)]
    pub(in super::super) enum Tls {}

    pub(in super::super) fn options(_ca: Option<&str>, _hosts: &[String]) -> Result<Tls, String> {
        Err("this build has no TLS for ZooKeeper: turn on snowmint's feature zookeeper-tls".to_owned())
    }

    #[allow(clippy::unused_async, reason = "as with TLS")]
    pub(in super::super) async fn connect(_: Connector, tls: &Tls, _hosts: &str) -> Result<Client, Error> {
        match *tls {}
    }
}
