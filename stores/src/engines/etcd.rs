//! etcd. The key of a record is `PREFIX/records/KEY`, its version is a hash of the value and of the
//! revision that wrote it. A counter is a string of
//! decimal digits at `PREFIX/counters/COUNTER`. Keys are not attached to leases of etcd, so they stay.
//!
//! Reads are linearizable. Members must not run with `--unsafe-no-fsync`, which can lose confirmed writes and which a client
//! cannot see.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use etcd_client::{
    Certificate, Client, Compare, CompareOp, ConnectOptions, GetOptions, KeyValue, KvClient, ResponseHeader,
    TlsOptions, Txn, TxnOp, TxnOpResponse, TxnResponse,
};
use snowmint_core::mutant;
use tokio::time::timeout;

use super::client::address::Address;
use super::client::reconnect::{Connector, Reconnecting};
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version;
use crate::store::{CounterStore, RecordStore, Version, Versioned, WriteOutcome};

/// The most records of one message, which must stay below 4 MB.
const MAX_PAGE_RECORDS: i64 = 1000;
/// The idle time before a connection is tested. Members refuse tests more often than every 5 s.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(10);

/// A store on an etcd cluster.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::etcd::Etcd;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Etcd::connect(&Url::parse("etcd://etcd1,etcd2,etcd3")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Etcd {
    cluster: Reconnecting<Cluster>,
    prefix: String,
}

struct Cluster {
    members: Vec<String>,
    /// The index of the member to try first. The client's own choice among several would include members that are down.
    first: AtomicUsize,
    options: ConnectOptions,
    /// Time limit for connecting to one member.
    share: Duration,
    name: String,
    probe: String,
}

impl Cluster {
    async fn connect_to(&self, member: &str) -> Result<KvClient, etcd_client::Error> {
        let mut kv = Client::connect([member], Some(self.options.clone())).await?.kv_client();
        // The client connects at the first request.
        kv.get(self.probe.as_str(), Some(GetOptions::new().with_count_only())).await?;
        Ok(kv)
    }
}

/// Returns whether a member refuses the user: no such user, a wrong password, no permission, or no users at all.
fn refuses_user(error: &etcd_client::Error) -> bool {
    const INVALID_ARGUMENT: i32 = 3;
    const PERMISSION_DENIED: i32 = 7;
    const FAILED_PRECONDITION: i32 = 9;
    matches!(error, etcd_client::Error::GRpcStatus(status)
        if [INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION].contains(&i32::from(status.code())))
}

impl Etcd {
    /// Connects.
    ///
    /// # Errors
    /// `StoreUnavailable` if no member answers; `InvalidStore` for a wrong URL, and if the members refuse the user.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::etcd::Etcd;
    /// use snowmint_stores::{RecordStore, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Etcd::connect(&Url::parse("etcd://etcd1,etcd2,etcd3")?).await?;
    /// println!("{}", store.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let Address { user, hosts, path, ca, .. } = Address::of(url, 2379)?;
        let name = url.named("etcd");
        if !path.trim_matches('/').is_empty() {
            return Err(Error::invalid_store(
                &name,
                "the URL must not have a path: set the keys' prefix with the option prefix=NAME",
            ));
        }
        let secure = url.scheme == "etcds";
        let mut options = ConnectOptions::new()
            .with_connect_timeout(url.timeout)
            .with_timeout(url.timeout)
            .with_keep_alive(KEEP_ALIVE_AFTER, url.timeout)
            .with_tcp_keepalive(KEEP_ALIVE_AFTER)
            // A member without its cluster refuses at once instead of waiting.
            .with_require_leader(true)
            // Members refuse an expired token before they change anything.
            .with_auto_token_refresh(true);
        if let Some((user, password)) = user {
            options = options.with_user(user, password);
        }
        if secure {
            options = options.with_tls(match ca {
                Some(ca) => TlsOptions::new().ca_certificate(Certificate::from_pem(ca)),
                None => TlsOptions::new().with_webpki_roots(),
            });
        } else if ca.is_some() {
            return Err(Error::invalid_store(&name, "the option ca is for etcds:// only"));
        }
        let scheme = if secure { "https" } else { "http" };
        let members: Vec<_> = hosts.iter().map(|host| format!("{scheme}://{host}")).collect();
        let probe = format!("{}/records/", url.prefix);
        let share = url.timeout / u32::try_from(members.len()).unwrap_or(u32::MAX);
        let cluster = Cluster { members, first: AtomicUsize::new(0), options, share, name, probe };
        let etcd = Self { cluster: Reconnecting::new(cluster, url.timeout), prefix: url.prefix.clone() };
        etcd.cluster.connect().await?;
        Ok(etcd)
    }

    fn record(&self, key: &str) -> String {
        format!("{}/records/{key}", self.prefix)
    }

    fn counter(&self, counter: &str) -> String {
        format!("{}/counters/{counter}", self.prefix)
    }

    fn unavailable(&self, why: impl fmt::Display) -> Error {
        Error::unavailable(self.name(), why)
    }

    async fn get(&self, kv: &mut KvClient, key: String) -> Result<Option<KeyValue>, Error> {
        let mut answer = kv.get(key, None).await.map_err(|error| Error::of_driver(self.name(), error))?;
        Ok(answer.take_kvs().pop())
    }

    fn found(&self, there: KeyValue) -> Result<Versioned, Error> {
        let version = self.version(there.value(), there.mod_revision())?;
        Ok(Versioned { value: there.into_key_value().1, version })
    }

    fn version(&self, value: &[u8], revision: i64) -> Result<Version, Error> {
        let revision = u64::try_from(revision).map_err(|_| self.unavailable("a revision below 0"))?;
        Ok(version::of(value, revision))
    }

    fn number(&self, there: &KeyValue) -> Result<u64, Error> {
        let digits = there.value_str().ok().and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| {
            self.unavailable(format_args!("the value at {} is not a number", String::from_utf8_lossy(there.key())))
        })
    }

    /// Lists the records directly under a prefix, or also those deeper below it.
    async fn records(&self, prefix: &str, deep: bool) -> Result<Vec<(String, Versioned)>, Error> {
        let prefix = self.record(prefix);
        self.cluster
            .run(|mut kv| async move {
                let mut list = Vec::new();
                let end = GetOptions::new().with_prefix();
                let mut page = kv.get(prefix.as_str(), Some(end.with_limit(MAX_PAGE_RECORDS))).await;
                // All pages show one revision.
                let revision = page.as_ref().ok().and_then(|page| page.header()).map_or(0, ResponseHeader::revision);
                loop {
                    let mut answer = page.map_err(|error| Error::of_driver(self.name(), error))?;
                    let more = answer.more();
                    let mut last = Vec::new();
                    for there in answer.take_kvs() {
                        there.key().clone_into(&mut last);
                        let part = there.key_str().ok().and_then(|key| key.strip_prefix(prefix.as_str()));
                        if let Some(part) = part.filter(|part| deep || !part.contains('/')).map(str::to_owned) {
                            list.push((part, self.found(there)?));
                        }
                    }
                    if !more || last.is_empty() {
                        return Ok(list);
                    }
                    // From the first possible key after the last one, to the end of the prefix, which ends in a slash.
                    last.push(0);
                    let end = format!("{}0", prefix.trim_end_matches('/'));
                    let options =
                        GetOptions::new().with_range(end).with_limit(MAX_PAGE_RECORDS).with_revision(revision);
                    page = kv.get(last, Some(options)).await;
                }
            })
            .await
    }
}

#[async_trait]
impl Connector for Cluster {
    type Connection = KvClient;

    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<KvClient, Error> {
        // Another member than the last time, as that connection is lost.
        let first = self.first.fetch_add(1, Ordering::Relaxed) % self.members.len();
        let (later, sooner) = self.members.split_at(first);
        let mut why = Error::unavailable(&self.name, "it has no members");
        for member in sooner.iter().chain(later) {
            match timeout(self.share, self.connect_to(member)).await {
                Ok(Ok(kv)) => return Ok(kv),
                Ok(Err(error)) => {
                    let message = format!("{member}: {error}");
                    why = if refuses_user(&error) {
                        Error::invalid_store(&self.name, message)
                    } else {
                        Error::unavailable(&self.name, message)
                    }
                    .with_source(error);
                }
                Err(_) => {
                    let ms = self.share.as_millis();
                    why = Error::unavailable(&self.name, format_args!("{member}: no answer within {ms} ms"));
                }
            }
        }
        Err(why)
    }

    async fn is_alive(&self, _: &KvClient, _: Duration) -> bool {
        // The client itself reconnects.
        true
    }
}

#[async_trait]
impl RecordStore for Etcd {
    fn name(&self) -> &str {
        self.cluster.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let key = self.record(key);
        let there = self.cluster.run(|mut kv| async move { self.get(&mut kv, key).await }).await?;
        there.map(|there| self.found(there)).transpose()
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let key = self.record(key);
        let answer = self.cluster.run(|mut kv| async move {
            let mut unchanged = vec![Compare::mod_revision(key.as_str(), CompareOp::Equal, 0)];
            if expected > 0 {
                let there = self.get(&mut kv, key.clone()).await?;
                // Sends the request also without a record, as the reply shows whether the members accept writes.
                let revision = there.as_ref().map_or(i64::MAX, KeyValue::mod_revision);
                unchanged = vec![Compare::mod_revision(key.as_str(), CompareOp::Equal, revision)];
                if let Some(there) = there {
                    if self.version(there.value(), revision)? != expected {
                        return Ok(None);
                    }
                    // A restored backup may count to the same revision.
                    if !mutant::removes("versions") {
                        unchanged.push(Compare::value(key.as_str(), CompareOp::Equal, there.value()));
                    }
                }
            }
            let step = Txn::new().when(unchanged).and_then([TxnOp::put(key, value, None)]);
            kv.txn(step).await.map(Some).map_err(|error| Error::of_driver(self.name(), error))
        });
        let Some(answer) = answer.await?.filter(TxnResponse::succeeded) else { return Ok(WriteOutcome::Conflict) };
        let header = answer.header().ok_or_else(|| self.unavailable("an answer without a revision"))?;
        self.version(value, header.revision()).map(WriteOutcome::Version)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.records(prefix, false).await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        self.records(prefix, true).await.map(Some)
    }
}

#[async_trait]
impl CounterStore for Etcd {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let key = self.counter(counter);
        let sum = self
            .cluster
            .run(|mut kv| async move {
                let mut there = self.get(&mut kv, key.clone()).await?;
                loop {
                    let (number, revision) = match &there {
                        Some(there) => (self.number(there)?, there.mod_revision()),
                        None => (start, 0),
                    };
                    let Some(sum) = sum(number, delta) else { return Ok(None) };
                    let step = Txn::new()
                        .when([Compare::mod_revision(key.as_str(), CompareOp::Equal, revision)])
                        .and_then([TxnOp::put(key.as_str(), sum.to_string(), None)])
                        .or_else([TxnOp::get(key.as_str(), None)]);
                    let answer = kv.txn(step).await.map_err(|error| Error::of_driver(self.name(), error))?;
                    if answer.succeeded() {
                        return Ok(Some(sum));
                    }
                    // Another client was faster, so this step certainly changed nothing.
                    there = match answer.op_responses().pop() {
                        Some(TxnOpResponse::Get(mut answer)) => answer.take_kvs().pop(),
                        _ => return Err(self.unavailable("an answer without the present value")),
                    };
                }
            })
            .await?;
        sum.ok_or_else(|| full(self.name(), counter))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let key = self.counter(counter);
        let step = Txn::new()
            .when([Compare::value(key.as_str(), CompareOp::Equal, end.to_string())])
            .and_then([TxnOp::put(key, start.to_string(), None)]);
        let answer = self
            .cluster
            .run(|mut kv| async move { kv.txn(step).await.map_err(|error| Error::of_driver(self.name(), error)) })
            .await?;
        Ok(answer.succeeded())
    }
}
