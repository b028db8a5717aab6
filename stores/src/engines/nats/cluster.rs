//! The connection to a server or cluster, which checks that its servers keep confirmed writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::context::Context;
use async_nats::jetstream::stream::Stream;
use async_nats::{ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use async_trait::async_trait;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use snowmint_core::mutant;
use tokio::sync::Notify;

use super::bucket::Bucket;
use super::monitor::{self, Monitors};
use super::settings;
use crate::engines::client::address::Address;
use crate::engines::client::reconnect::Connector;
use crate::engines::client::tls;
use crate::engines::settings::Settings;
use crate::error::Error;
use crate::gather::{Gather, wanted};
use crate::store::url::Url;

/// The bucket of a URL without a path.
const DEFAULT_BUCKET: &str = "snowmint";
/// The usual monitoring port.
const MONITOR_PORT: u16 = 8222;

/// Servers, bucket and options.
pub(super) struct Cluster {
    pub(super) servers: Vec<ServerAddr>,
    options: Options,
    pub(super) bucket: Bucket,
    pub(super) monitors: Monitors,
    pub(super) name: String,
    pub(super) allow_unsafe: bool,
    pub(super) settings: Settings,
}

/// The options of a connection. The client's own cannot be copied.
struct Options {
    user: Option<(String, String)>,
    secure: bool,
    /// TLS by an authority of the caller instead of the authorities of the system.
    authority: Option<ClientConfig>,
    timeout: Duration,
}

/// A connection. By itself the client would connect again, also to a server with unchecked settings.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) context: Context,
    pub(super) stream: Stream<()>,
    pub(super) lost: Arc<Lost>,
    /// The writes that wait for a check of the settings.
    checks: Gather<(), Result<(), Error>>,
}

/// Notes the end of a connection.
#[derive(Default)]
pub(super) struct Lost {
    is_lost: AtomicBool,
    notify: Notify,
}

impl Lost {
    fn note(&self) {
        self.is_lost.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    /// Waits for the end of the connection.
    pub(super) async fn wait(&self) {
        let noted = self.notify.notified();
        tokio::pin!(noted);
        noted.as_mut().enable();
        if !self.is_lost.load(Ordering::Acquire) {
            noted.await;
        }
    }
}

impl Cluster {
    /// Reads the servers, the bucket and the options of a URL.
    ///
    /// # Errors
    /// `InvalidStore`.
    pub(super) fn of(url: &Url) -> Result<Self, Error> {
        let Address { user, hosts, path, ca, monitor } = Address::of(url, 4222)?;
        let name = url.named("NATS");
        let refused = |why: &str| Err(Error::invalid_store(&name, why));
        let secure = url.scheme == "natss";
        let authority = match ca {
            Some(_) if !secure => return refused("the option ca is for natss:// only"),
            Some(ca) => match trusting(&ca) {
                Ok(authority) => Some(authority),
                Err(why) => return refused(&format!("the file of the option ca: {why}")),
            },
            None => None,
        };
        let bucket = path.trim_matches('/');
        let bucket = if bucket.is_empty() { DEFAULT_BUCKET } else { bucket };
        let Some(bucket) = Bucket::new(bucket, url.create) else {
            return refused("the path of the URL must be the name of a bucket: 1 to 128 of a-z A-Z 0-9 _ -");
        };
        let scheme = if secure { "tls" } else { "nats" };
        let mut servers = Vec::new();
        for host in &hosts {
            match format!("{scheme}://{host}").parse() {
                Ok(server) => servers.push(server),
                Err(error) => return refused(&format!("{host}: {error}")),
            }
        }
        let usual = || hosts.iter().map(|host| host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host));
        let monitor = monitor.map_or_else(
            || usual().map(|host| format!("http://{host}:{MONITOR_PORT}")).collect(),
            |given| given.split(',').map(str::to_owned).collect::<Vec<_>>(),
        );
        let monitors = match monitor.iter().map(|given| monitor::address(given)).collect() {
            // A write may wait for two checks, one of them for writes before it.
            Ok(urls) => Monitors { urls, timeout: url.timeout / 3 },
            Err(why) => return refused(&why),
        };
        Ok(Self {
            servers,
            options: Options { user, secure, authority, timeout: url.timeout },
            bucket,
            monitors,
            name,
            allow_unsafe: url.allow_unsafe,
            settings: Settings::new(url.allow_standby),
        })
    }

    /// Returns how long a request may take.
    pub(super) const fn timeout(&self) -> Duration {
        self.options.timeout
    }

    /// Checks that the bucket and its servers keep confirmed writes.
    pub(super) async fn check(&self, context: &Context) -> Result<(), Error> {
        if self.allow_unsafe || mutant::removes("settings") {
            return Ok(());
        }
        let info = match self.bucket.info(&self.name, context).await? {
            Some(info) => info,
            None => self.bucket.make(&self.name, context).await?,
        };
        let servers = info.servers(&context.client().server_info().server_name);
        let checked = settings::check(&self.name, &info, &servers, &self.monitors).await;
        if checked.is_err() {
            // A server that ends closes its monitoring first. Then it is not unsafe but unreachable.
            self.bucket.info(&self.name, context).await?;
        }
        self.settings.note(&checked);
        checked.map(drop)
    }

    /// Checks the same by one check for all that wait for it. The check begins after the call.
    pub(super) async fn check_together(self: &Arc<Self>, connection: &Connection) -> Result<(), Error> {
        let (cluster, context) = (Arc::clone(self), connection.context.clone());
        let checked = connection.checks.ask((), |mut serving| async move {
            loop {
                let mut calls = serving.calls(usize::MAX);
                if calls.is_empty() {
                    return;
                }
                // `None`: all callers have given up.
                if let Some(checked) = wanted(cluster.check(&context), &mut calls).await {
                    for call in calls {
                        call.answer(checked.clone());
                    }
                }
            }
        });
        checked.await.unwrap_or_else(|| Err(Error::unavailable(&self.name, "the check of the settings was broken off")))
    }
}

#[async_trait]
impl Connector for Arc<Cluster> {
    type Connection = Connection;

    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<Connection, Error> {
        let Options { user, secure, authority, timeout } = &self.options;
        let lost = Arc::<Lost>::default();
        let events = Arc::clone(&lost);
        // The client would wait for a lost server as long as for a slow one.
        let noted = move |event| {
            if matches!(event, Event::Disconnected | Event::Closed) {
                events.note();
            }
            std::future::ready(())
        };
        let mut options = ConnectOptions::new()
            .name("snowmint")
            .connection_timeout(*timeout / u32::try_from(self.servers.len()).unwrap_or(u32::MAX))
            .request_timeout(Some(*timeout))
            .max_reconnects(self.servers.len())
            .ignore_discovered_servers()
            .event_callback(noted);
        options = match user.clone() {
            Some((token, password)) if password.is_empty() => options.token(token),
            Some((user, password)) => options.user_and_password(user, password),
            None => options,
        };
        if *secure {
            tls::prepare();
            options = options.require_tls(true);
        }
        if let Some(authority) = authority {
            options = options.tls_client_config(authority.clone());
        }
        let connected = options.connect(self.servers.as_slice()).await;
        let client = connected.map_err(|error| match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                Error::invalid_store(&self.name, &error).with_source(error)
            }
            _ => Error::of_driver(&self.name, error),
        })?;
        let mut context = async_nats::jetstream::new(client);
        context.set_timeout(*timeout);
        if self.bucket.info(&self.name, &context).await?.is_none() {
            self.bucket.make(&self.name, &context).await?;
        }
        self.check(&context).await?;
        let stream = context.get_stream_no_info(&self.bucket.stream).await;
        let stream = stream.map_err(|error| Error::of_driver(&self.name, error))?;
        Ok(Connection { context, stream, lost, checks: Gather::default() })
    }

    async fn is_alive(&self, connection: &Connection, _: Duration) -> bool {
        !connection.lost.is_lost.load(Ordering::Acquire)
    }
}

/// Makes the options of TLS with these certificates of authorities in PEM.
fn trusting(ca: &str) -> Result<ClientConfig, String> {
    tls::prepare();
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("it has no certificate in PEM".to_owned());
    }
    Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}
