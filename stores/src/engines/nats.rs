//! NATS `JetStream`: a KV bucket. The key of a record is `PREFIX.records.KEY` with dots for slashes, its version is a
//! hash of the value and of the revision of the bucket that wrote it. NATS compares no values, so a write reads and compares
//! the record first, and then names its revision. A process that is suspended between the two for longer than the timeout
//! writes nothing. A counter is a string of decimal digits at `PREFIX.counters.COUNTER`.
//!
//! The leader of the bucket's stream answers reads. No quorum confirms them, so a leader that does not yet know its successor
//! may return a record that is some moments old. Writes and additions are always confirmed by a quorum.
//!
//! A confirmed write is durable only with `sync_interval: always`, which `settings` reads from the monitoring port of each
//! server that holds the bucket, at a claim and with each write.

mod bucket;
mod monitor;
mod settings;
mod subject;

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{Context, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_nats::{ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use async_trait::async_trait;
use futures_util::future::join_all;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use snowmint_core::durability::Engine;
use snowmint_core::mutant;
use snowmint_core::time::parse_rfc3339;
use tokio::sync::Notify;

use self::bucket::Bucket;
use self::monitor::Monitors;
use super::client::address::Address;
use super::client::reconnect::{Connector, Reconnecting};
use super::client::tls;
use super::settings::{Settings, of_server};
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version::{self, Look};
use crate::store::{CounterStore, Found, RecordStore, ServerSettings, Version, WriteOutcome};

/// The bucket of a URL without a path.
const DEFAULT_BUCKET: &str = "snowmint";
/// The usual monitoring port.
const MONITOR_PORT: u16 = 8222;
/// The header that marks a deleted key.
const OPERATION_HEADER: &str = "KV-Operation";
/// A revision that no message has.
const NO_REVISION: Version = 1 << 62;
/// Reads of a list that are on their way at a time.
const MAX_CONCURRENT: usize = 64;

/// A store on a NATS server or cluster.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::nats::Nats;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Nats::connect(&Url::parse("natss://me:secret@nats1,nats2,nats3/ids")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
pub struct Nats {
    cluster: Reconnecting<Cluster>,
    prefix: String,
}

struct Cluster {
    servers: Vec<ServerAddr>,
    options: Options,
    bucket: Bucket,
    monitors: Monitors,
    name: String,
    allow_unsafe: bool,
    settings: Settings,
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
struct Connection {
    context: Context,
    stream: Stream<()>,
    lost: Arc<Lost>,
}

/// Notes the end of a connection.
#[derive(Default)]
struct Lost {
    is_lost: AtomicBool,
    notify: Notify,
}

impl Lost {
    fn note(&self) {
        self.is_lost.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    /// Waits for the end of the connection.
    async fn wait(&self) {
        let noted = self.notify.notified();
        tokio::pin!(noted);
        noted.as_mut().enable();
        if !self.is_lost.load(Ordering::Acquire) {
            noted.await;
        }
    }
}

impl Nats {
    /// Connects, makes the bucket if it is missing, and checks that its servers keep confirmed writes.
    ///
    /// # Errors
    /// `StoreUnavailable` if no server answers; `InvalidStore` for a wrong URL, and if the server refuses the user; `UnsafeStore`, which names the setting.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::nats::Nats;
    /// use snowmint_stores::{RecordStore, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Nats::connect(&Url::parse("natss://me:secret@nats1,nats2,nats3/ids")?).await?;
    /// println!("{}", store.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let Address { user, hosts, path, ca, monitor } = Address::of(url, 4222)?;
        let name = format!("NATS at {}", url.place());
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
            Ok(urls) => Monitors { urls, timeout: url.timeout },
            Err(why) => return refused(&why),
        };
        let cluster = Cluster {
            servers,
            options: Options { user, secure, authority, timeout: url.timeout },
            bucket,
            monitors,
            name,
            allow_unsafe: url.allow_unsafe,
            settings: Settings::new(url.allow_standby),
        };
        let nats = Self { cluster: Reconnecting::new(cluster, url.timeout), prefix: subject::of(&url.prefix) };
        nats.cluster.connect().await?;
        Ok(nats)
    }

    fn record(&self, key: &str) -> String {
        self.cluster.connector().bucket.subject(&format!("{}.records.{}", self.prefix, subject::of(key)))
    }

    fn counter(&self, counter: &str) -> String {
        self.cluster.connector().bucket.subject(&format!("{}.counters.{}", self.prefix, subject::of(counter)))
    }

    fn unavailable(&self, why: impl fmt::Display) -> Error {
        Error::unavailable(self.name(), why)
    }

    /// Runs an operation, which ends early if the connection is lost.
    async fn run<T, F, Answer>(&self, operation: F) -> Result<T, Error>
    where
        T: Send,
        F: FnOnce(Connection) -> Answer + Send,
        Answer: Future<Output = Result<T, Error>> + Send,
    {
        self.cluster
            .run(|connection| async move {
                let lost = Arc::clone(&connection.lost);
                tokio::select! {
                    answer = operation(connection) => answer,
                    () = lost.wait() => Err(self.unavailable("the connection was lost")),
                }
            })
            .await
    }

    /// Runs a step that writes, and checks the settings meanwhile. The answer counts only if the check passes.
    async fn checked<T, F, Answer>(&self, operation: F) -> Result<T, Error>
    where
        T: Send,
        F: FnOnce(Connection) -> Answer + Send,
        Answer: Future<Output = Result<T, Error>> + Send,
    {
        self.run(|connection| async move {
            let context = connection.context.clone();
            let check = self.cluster.connector().check(&context);
            let (answer, checked) = tokio::join!(operation(connection), check);
            checked?;
            answer
        })
        .await
    }

    /// Reads the last value of a subject and its revision. A value of a deleted key is `None`.
    async fn get(&self, stream: &Stream<()>, subject: &str) -> Result<(Option<Vec<u8>>, Version), Error> {
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(there) => {
                let is_deleted = there.headers.get(OPERATION_HEADER).is_some();
                Ok(((!is_deleted).then(|| there.payload.to_vec()), there.sequence))
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok((None, 0)),
            Err(error) => Err(Error::of_driver(self.name(), error)),
        }
    }

    /// Writes a value over this revision, and returns the new revision. `None` if the subject has another revision.
    async fn put(
        &self,
        context: &Context,
        subject: &str,
        value: Vec<u8>,
        revision: Version,
    ) -> Result<Option<Version>, Error> {
        let message = PublishMessage::build().payload(value.into()).expected_last_subject_sequence(revision);
        let confirmed = async { context.send_publish(subject.to_owned(), message).await?.await }.await;
        match confirmed {
            Ok(confirmed) => Ok(Some(confirmed.sequence)),
            Err(error) if is_conflict(&error) => Ok(None),
            Err(error) => Err(Error::of_driver(self.name(), error)),
        }
    }

    /// Lists the records under a prefix whose other tokens match a wildcard.
    async fn records(&self, prefix: &str, wildcard: &str) -> Result<Vec<(String, Found)>, Error> {
        let Cluster { bucket, name, .. } = self.cluster.connector();
        let directory = self.record(prefix.trim_end_matches('/')) + ".";
        self.run(|Connection { context, stream, .. }| async move {
            let subjects = bucket.subjects(name, &context, &format!("{directory}{wildcard}")).await?;
            let mut list = Vec::with_capacity(subjects.len());
            for page in subjects.chunks(MAX_CONCURRENT) {
                let reads = page.iter().map(|subject| self.get(&stream, subject));
                for (subject, answer) in page.iter().zip(join_all(reads).await) {
                    let tokens = subject.strip_prefix(directory.as_str()).into_iter().flat_map(|rest| rest.split('.'));
                    let parts: Option<Vec<_>> = tokens.map(subject::part).collect();
                    if let ((Some(value), revision), Some(parts)) = (answer?, parts) {
                        list.push((parts.join("/"), Found { version: version::of(&value, revision), value }));
                    }
                }
            }
            Ok(list)
        })
        .await
    }

    fn number(&self, subject: &str, value: &[u8]) -> Result<u64, Error> {
        let digits = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| self.unavailable(format_args!("the value at {subject} is not a number")))
    }
}

/// Returns whether a write was refused because of the subject's revision: then it certainly changed nothing.
fn is_conflict(error: &PublishError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    error.kind() == PublishErrorKind::WrongLastSequence
        || source.is_some_and(|source| source.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT)
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

impl Cluster {
    /// Checks that the bucket and its servers keep confirmed writes.
    async fn check(&self, context: &Context) -> Result<(), Error> {
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
            // A server that ends closes its monitoring first. Then it is not unsafe but away.
            self.bucket.info(&self.name, context).await?;
        }
        self.settings.note(&checked);
        checked.map(drop)
    }
}

#[async_trait]
impl Connector for Cluster {
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
        Ok(Connection { context, stream, lost })
    }

    async fn is_alive(&self, connection: &Connection, _: Duration) -> bool {
        !connection.lost.is_lost.load(Ordering::Acquire)
    }
}

#[async_trait]
impl RecordStore for Nats {
    fn name(&self) -> &str {
        self.cluster.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let subject = self.record(key);
        let (value, revision) =
            self.run(|connection| async move { self.get(&connection.stream, &subject).await }).await?;
        Ok(value.map(|value| Found { version: version::of(&value, revision), value }))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let subject = self.record(key);
        let written = self
            .checked(|Connection { context, stream, .. }| async move {
                if expected > 0 {
                    let look = Look::new(self.cluster.connector().options.timeout);
                    return match self.get(&stream, &subject).await? {
                        (Some(present), revision) if version::of(&present, revision) == expected => {
                            look.refuse_late(self.name())?;
                            self.put(&context, &subject, value.to_vec(), revision).await
                        }
                        (Some(_), _) => Ok(None),
                        // Sent all the same, as it shows whether the bucket accepts writes.
                        (None, _) => self.put(&context, &subject, value.to_vec(), NO_REVISION).await,
                    };
                }
                let written = self.put(&context, &subject, value.to_vec(), 0).await?;
                if written.is_some() {
                    return Ok(written);
                }
                // Over a deleted key a new record has the revision of the deletion.
                match self.get(&stream, &subject).await? {
                    (None, deleted) => self.put(&context, &subject, value.to_vec(), deleted).await,
                    (Some(_), _) => Ok(None),
                }
            })
            .await?;
        Ok(written.map_or(WriteOutcome::Conflict, |revision| WriteOutcome::Version(version::of(value, revision))))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        self.records(prefix, "*").await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Found)>>, Error> {
        self.records(prefix, ">").await.map(Some)
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.checked(|_| async { Ok(()) }).await?;
        self.cluster.connector().settings.refuse_standby()
    }

    fn standby_risk(&self) -> Option<Error> {
        self.cluster.connector().settings.risk()
    }

    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        let Cluster { bucket, name, monitors, .. } = self.cluster.connector();
        self.run(|Connection { context, .. }| async move {
            let Some(info) = bucket.info(name, &context).await? else { return Ok(None) };
            let servers = info.servers(&context.client().server_info().server_name);
            Ok(Some(of_server(Engine::Nats, settings::read(&info, &servers, monitors).await)))
        })
        .await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let Cluster { bucket, name, .. } = self.cluster.connector();
        let info = self.run(|connection| async move { bucket.info(name, &connection.context).await }).await?;
        Ok(info.and_then(|info| info.ts).and_then(|time| parse_rfc3339(time.as_bytes())))
    }
}

#[async_trait]
impl CounterStore for Nats {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let subject = self.counter(counter);
        let sum = self
            .checked(|Connection { context, stream, .. }| async move {
                loop {
                    let (there, revision) = self.get(&stream, &subject).await?;
                    let number = there.map_or(Ok(start), |value| self.number(&subject, &value))?;
                    let Some(sum) = sum(number, delta) else { return Ok(None) };
                    // If another client was faster, this step certainly changed nothing.
                    if self.put(&context, &subject, sum.to_string().into_bytes(), revision).await?.is_some() {
                        return Ok(Some(sum));
                    }
                }
            })
            .await?;
        sum.ok_or_else(|| full(self.name(), counter))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let subject = self.counter(counter);
        self.checked(|Connection { context, stream, .. }| async move {
            let (Some(there), revision) = self.get(&stream, &subject).await? else { return Ok(false) };
            if self.number(&subject, &there)? != end {
                return Ok(false);
            }
            Ok(self.put(&context, &subject, start.to_string().into_bytes(), revision).await?.is_some())
        })
        .await
    }
}

// The options hold the password.
impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nats({})", self.name())
    }
}
