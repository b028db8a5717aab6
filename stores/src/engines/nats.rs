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

mod batch;
mod bucket;
mod cluster;
mod monitor;
mod settings;
mod subject;

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::sync::Arc;

use async_nats::HeaderMap;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{Context, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_trait::async_trait;
use futures_util::future::join_all;
use snowmint_core::durability::Engine;
use snowmint_core::time::parse_rfc3339;

use self::cluster::{Cluster, Connection};
use super::client::reconnect::{Connector, Reconnecting};
use super::settings::of_server;
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version::{self, Look};
use crate::store::{CounterStore, RecordStore, ServerSettings, Version, Versioned, WriteOutcome};

/// The header that marks a deleted key.
const OPERATION_HEADER: &str = "KV-Operation";
/// A revision that no message has.
const NO_REVISION: Version = 1 << 62;
/// Reads of a list that are on their way at a time.
const MAX_CONCURRENT: usize = 64;

/// The last values of subjects, and their revisions. The value of a deleted key is `None`.
type Values = HashMap<String, (Option<Vec<u8>>, Version)>;

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
    cluster: Reconnecting<Arc<Cluster>>,
    prefix: String,
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
        let prefix = subject::of(&url.prefix);
        let nats = Self { cluster: Reconnecting::new(Arc::new(Cluster::of(url)?), url.timeout), prefix };
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
            let check = self.cluster.connector().check_together(&connection);
            let (answer, checked) = tokio::join!(operation(connection.clone()), check);
            checked?;
            answer
        })
        .await
    }

    /// Reads the last value of a subject and its revision. A value of a deleted key is `None`.
    async fn get(&self, stream: &Stream<()>, subject: &str) -> Result<(Option<Vec<u8>>, Version), Error> {
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(there) => Ok(((!is_deleted(&there.headers)).then(|| there.payload.to_vec()), there.sequence)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok((None, 0)),
            Err(error) => Err(Error::of_driver(self.name(), error)),
        }
    }

    /// Reads the last values of these subjects from the leader, each by a request.
    async fn each(&self, stream: &Stream<()>, subjects: &[String]) -> Result<Values, Error> {
        let mut values = Values::with_capacity(subjects.len());
        for page in subjects.chunks(MAX_CONCURRENT) {
            let reads = page.iter().map(|subject| self.get(stream, subject));
            for (subject, answer) in page.iter().zip(join_all(reads).await) {
                values.insert(subject.clone(), answer?);
            }
        }
        Ok(values)
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
    async fn records(&self, prefix: &str, wildcard: &str) -> Result<Vec<(String, Versioned)>, Error> {
        let Cluster { bucket, name, .. } = self.cluster.connector().as_ref();
        let patience = self.cluster.connector().timeout() / 4;
        let directory = self.record(prefix.trim_end_matches('/')) + ".";
        self.run(|Connection { context, stream, .. }| async move {
            let subjects = bucket.subjects(name, &context, &format!("{directory}{wildcard}")).await?;
            let mut list = Vec::with_capacity(subjects.names.len());
            for page in subjects.names.chunks(batch::MAX_SUBJECTS) {
                let batch = if subjects.batches {
                    let values = batch::last_values(&context, &bucket.stream, page, subjects.newest, patience).await;
                    values.map_err(|error| self.unavailable(error))?
                } else {
                    None
                };
                let values = match batch {
                    Some(values) => values,
                    None => self.each(&stream, page).await?,
                };
                for (subject, (value, revision)) in values {
                    let tokens = subject.strip_prefix(directory.as_str()).into_iter().flat_map(|rest| rest.split('.'));
                    let parts: Option<Vec<_>> = tokens.map(subject::part).collect();
                    if let Some((value, parts)) = value.zip(parts) {
                        list.push((parts.join("/"), Versioned { version: version::of(&value, revision), value }));
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

/// Returns whether a message with these headers marks a deleted key.
fn is_deleted(headers: &HeaderMap) -> bool {
    headers.get(OPERATION_HEADER).is_some()
}

/// Returns whether a write was refused because of the subject's revision: then it certainly changed nothing.
fn is_conflict(error: &PublishError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    error.kind() == PublishErrorKind::WrongLastSequence
        || source.is_some_and(|source| source.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT)
}

#[async_trait]
impl RecordStore for Nats {
    fn name(&self) -> &str {
        self.cluster.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let subject = self.record(key);
        let (value, revision) =
            self.run(|connection| async move { self.get(&connection.stream, &subject).await }).await?;
        Ok(value.map(|value| Versioned { version: version::of(&value, revision), value }))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let subject = self.record(key);
        let written = self
            .checked(|Connection { context, stream, .. }| async move {
                if expected > 0 {
                    let look = Look::new(self.cluster.connector().timeout());
                    return match self.get(&stream, &subject).await? {
                        (Some(present), revision) if version::of(&present, revision) == expected => {
                            look.refuse_late(self.name())?;
                            self.put(&context, &subject, value.to_vec(), revision).await
                        }
                        (Some(_), _) => Ok(None),
                        // Sends the request even so, as the reply shows whether the bucket accepts writes.
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

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.records(prefix, "*").await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
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
        let Cluster { bucket, name, monitors, .. } = self.cluster.connector().as_ref();
        self.run(|Connection { context, .. }| async move {
            let Some(info) = bucket.info(name, &context).await? else { return Ok(None) };
            let servers = info.servers(&context.client().server_info().server_name);
            Ok(Some(of_server(Engine::Nats, settings::read(&info, &servers, monitors).await)))
        })
        .await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let Cluster { bucket, name, .. } = self.cluster.connector().as_ref();
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
