//! `ZooKeeper`. Slashes in keys become colons in the names of znodes, so that no znode is both a record and a parent: the
//! record `leases/orders/5` is the znode `/PREFIX/records/leases:orders/5`, the counter `segments/orders` is
//! `/PREFIX/counters/segments:orders`, in decimal digits. A chroot comes first. Missing parents are made.
//!
//! The version of a record is a hash of its value and of its znode's version. A znode accepts at most 2^32 - 1 writes.
//! `ZooKeeper` compares no values, so a write reads and compares the record first, and then names the znode's version. A process
//! that is suspended between the two for longer than the timeout writes nothing.
//!
//! Before a read the server catches up with its leader by `sync`. No quorum confirms that, so a leader that does not yet know
//! its successor may return a record that is some moments old. Writes and additions are always confirmed by a quorum.
//!
//! Servers must not run with `forceSync=no`, which can lose confirmed writes and which a client cannot see.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use zookeeper_client::{
    Acls, Client, CreateMode, CreateOptions, Error as Refusal, MultiReadResult, SessionState, Stat,
};

use super::client::address::Address;
use super::client::reconnect::{Connector, Reconnecting};
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version::{self, Look};
use crate::store::{CounterStore, RecordStore, Version, Versioned, WriteOutcome};

/// The time after which servers end the session of a lost client. All znodes are persistent, so nothing depends on it.
const SESSION_TIMEOUT: Duration = Duration::from_secs(10);
/// How many znodes one request reads: their answer is far below the 1 MB that a client takes.
const MAX_READS: usize = 250;
/// Records and counters outlive the session.
const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());

/// A store on a `ZooKeeper` ensemble.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::zookeeper::Zookeeper;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Zookeeper::connect(&Url::parse("zookeeper://zk1,zk2,zk3/ids")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Zookeeper {
    ensemble: Reconnecting<Ensemble>,
    root: String,
}

/// Refuses a forked child: the client's one thread of this process does not run there, and cannot be started again.
fn refuse_in_child(name: &str) -> Result<(), Error> {
    static THREAD_OF: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    match THREAD_OF.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire) {
        Err(there) if there != process => Err(Error::unavailable(
            name,
            "this process was forked from one that is connected to a ZooKeeper: connect only after forking, or use the service",
        )),
        _ => Ok(()),
    }
}

struct Ensemble {
    hosts: String,
    name: String,
    timeout: Duration,
}

impl Zookeeper {
    /// Connects.
    ///
    /// # Errors
    /// `StoreUnavailable` if no server answers; `InvalidStore` for a wrong URL.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::zookeeper::Zookeeper;
    /// use snowmint_stores::{RecordStore, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Zookeeper::connect(&Url::parse("zookeeper://zk1,zk2,zk3/ids")?).await?;
    /// println!("{}", store.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let Address { user, hosts, path, .. } = Address::of(url, 2181)?;
        let name = url.named("ZooKeeper");
        refuse_in_child(&name)?;
        let refused = |why: &str| Err(Error::invalid_store(&name, why));
        if user.is_some() {
            return refused("a user or password is not supported: restrict access by the network");
        }
        if url.scheme == "zookeepers" {
            return refused("TLS is not supported: begin the URL with zookeeper://, and encrypt by a tunnel");
        }
        // Each host gets an equal part of the time.
        let timeout = url.timeout / u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let ensemble = Ensemble { hosts: hosts.join(","), name, timeout };
        let zookeeper = Self {
            ensemble: Reconnecting::new(ensemble, url.timeout),
            root: format!("{}/{}", path.trim_end_matches('/'), url.prefix),
        };
        zookeeper.ensemble.connect().await?;
        Ok(zookeeper)
    }

    /// Returns the znode of a record's directory, and the record's name in it.
    fn record<'a>(&self, key: &'a str) -> (String, &'a str) {
        let (directory, part) = key.rsplit_once('/').unwrap_or(("", key));
        // A colon alone is never the name of a directory.
        let directory = if directory.is_empty() { ":".to_owned() } else { directory.replace('/', ":") };
        (format!("{}/records/{directory}", self.root), part)
    }

    fn counter(&self, counter: &str) -> String {
        format!("{}/counters/{}", self.root, counter.replace('/', ":"))
    }

    fn unavailable(&self, why: impl fmt::Display) -> Error {
        Error::unavailable(self.name(), why)
    }

    /// Reads a znode, as of this call or later. `None` if it does not exist.
    async fn get(&self, client: &Client, path: &str) -> Result<Option<(Vec<u8>, Stat)>, Error> {
        // Both requests are sent now, in this order.
        let (synced, got) = (client.sync(path), client.get_data(path));
        synced.await.map_err(|error| Error::of_driver(self.name(), error))?;
        match got.await {
            Ok(there) => Ok(Some(there)),
            Err(Refusal::NoNode) => Ok(None),
            Err(error) => Err(Error::of_driver(self.name(), error)),
        }
    }

    /// Reads znodes, each with the name of its record, which comes back with the record.
    async fn get_all(&self, client: &Client, paths: Vec<(String, String)>) -> Result<Vec<(String, Versioned)>, Error> {
        let failed = |error| Error::of_driver(self.name(), error);
        // All requests are sent before the first answer is awaited.
        let mut asked = Vec::new();
        for some in paths.chunks(MAX_READS) {
            let mut reader = client.new_multi_reader();
            for (path, _) in some {
                reader.add_get_data(path).map_err(failed)?;
            }
            asked.push(reader.commit());
        }
        let mut found = Vec::with_capacity(paths.len());
        for answer in asked {
            found.extend(answer.await.map_err(failed)?);
        }
        let record = |((_, name), found)| match found {
            MultiReadResult::Data { data, stat } => {
                Ok((name, Versioned { version: of(&data, stat.version), value: data }))
            }
            MultiReadResult::Error { err } => Err(failed(err)),
            other => Err(self.unavailable(format_args!("an answer to a read is {other:?}"))),
        };
        paths.into_iter().zip(found).map(record).collect()
    }

    /// Makes a znode and its missing parents. `None` if the znode exists.
    async fn create(&self, client: &Client, path: &str, data: &[u8]) -> Result<Option<Stat>, Error> {
        let mut made = client.create(path, data, &PERSISTENT).await;
        if made == Err(Refusal::NoNode) {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            client.mkdir(parent, &PERSISTENT).await.map_err(|error| Error::of_driver(self.name(), error))?;
            // The first attempt certainly changed nothing.
            made = client.create(path, data, &PERSISTENT).await;
        }
        match made {
            Ok((stat, _)) => Ok(Some(stat)),
            Err(Refusal::NodeExists) => Ok(None),
            Err(error) => Err(Error::of_driver(self.name(), error)),
        }
    }

    /// Replaces the value of a znode of this version. `None` if it has another version.
    async fn set(&self, client: &Client, path: &str, data: &[u8], version: i32) -> Result<Option<Stat>, Error> {
        // For the server -1 means any version.
        if version == -1 {
            return Err(self.unavailable(format_args!("{path} has been written 2^32 - 1 times and accepts no more")));
        }
        match client.set_data(path, data, Some(version)).await {
            Ok(stat) => Ok(Some(stat)),
            Err(Refusal::BadVersion | Refusal::NoNode) => Ok(None),
            Err(error) => Err(Error::of_driver(self.name(), error)),
        }
    }

    fn number(&self, path: &str, data: &[u8]) -> Result<u64, Error> {
        let digits = std::str::from_utf8(data).ok().and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| self.unavailable(format_args!("the value at {path} is not a number")))
    }
}

/// Returns the version of a record. Its znode begins at version 0, and continues at -2^31 after 2^31 - 1.
fn of(value: &[u8], node: i32) -> Version {
    version::of(value, u64::from(node.cast_unsigned()) + 1)
}

#[async_trait]
impl Connector for Ensemble {
    type Connection = Client;

    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<Client, Error> {
        let connector = Client::connector()
            .with_session_timeout(SESSION_TIMEOUT.max(self.timeout * 2))
            .with_connection_timeout(self.timeout)
            .with_fail_eagerly();
        connector.connect(&self.hosts).await.map_err(|error| Error::of_driver(&self.name, error))
    }

    async fn is_alive(&self, client: &Client, _: Duration) -> bool {
        client.state() == SessionState::SyncConnected
    }
}

#[async_trait]
impl RecordStore for Zookeeper {
    fn name(&self) -> &str {
        self.ensemble.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let (directory, part) = self.record(key);
        let path = format!("{directory}/{part}");
        let there = self.ensemble.run(|client| async move { self.get(&client, &path).await }).await?;
        Ok(there.map(|(value, stat)| Versioned { version: of(&value, stat.version), value }))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let (directory, part) = self.record(key);
        let path = format!("{directory}/{part}");
        let written = self
            .ensemble
            .run(|client| async move {
                if expected == 0 {
                    return self.create(&client, &path, value).await;
                }
                let look = Look::new(self.ensemble.connector().timeout);
                match self.get(&client, &path).await? {
                    Some((present, stat)) if of(&present, stat.version) == expected => {
                        look.refuse_late(self.name())?;
                        self.set(&client, &path, value, stat.version).await
                    }
                    Some(_) => Ok(None),
                    // Sends the request even so, as the reply shows whether the servers accept writes. No znode
                    // has this version.
                    None => self.set(&client, &path, value, i32::MAX).await,
                }
            })
            .await?;
        Ok(written.map_or(WriteOutcome::Conflict, |stat| WriteOutcome::Version(of(value, stat.version))))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        let (directory, _) = self.record(prefix);
        self.ensemble
            .run(|client| async move {
                let (synced, parts) = (client.sync(&directory), client.list_children(&directory));
                synced.await.map_err(|error| Error::of_driver(self.name(), error))?;
                let parts = match parts.await {
                    Ok(parts) => parts,
                    Err(Refusal::NoNode) => return Ok(vec![]),
                    Err(error) => return Err(Error::of_driver(self.name(), error)),
                };
                let parts = parts.into_iter().map(|part| (format!("{directory}/{part}"), part)).collect();
                self.get_all(&client, parts).await
            })
            .await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        let (root, colons) = (format!("{}/records", self.root), prefix.replace('/', ":"));
        let list = self.ensemble.run(|client| async move {
            let failed = |error| Error::of_driver(self.name(), error);
            let (synced, directories) = (client.sync(&root), client.list_children(&root));
            synced.await.map_err(failed)?;
            let directories = match directories.await {
                Ok(directories) => directories,
                Err(Refusal::NoNode) => return Ok(vec![]),
                Err(error) => return Err(failed(error)),
            };
            // A znode for each directory: `leases:orders` has the records below `leases/orders/`.
            let below = directories.iter().filter(|directory| format!("{directory}:").starts_with(&colons));
            // All requests are sent before the first answer is awaited.
            let asked: Vec<_> = below.map(|name| (name, client.list_children(&format!("{root}/{name}")))).collect();
            let mut records = Vec::new();
            for (name, answer) in asked {
                let directory = format!("{}/", name.replace(':', "/"));
                let rest = directory.strip_prefix(prefix).unwrap_or_default();
                for part in answer.await.map_err(failed)? {
                    records.push((format!("{root}/{name}/{part}"), format!("{rest}{part}")));
                }
            }
            self.get_all(&client, records).await
        });
        list.await.map(Some)
    }
}

#[async_trait]
impl CounterStore for Zookeeper {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let path = self.counter(counter);
        let sum = self
            .ensemble
            .run(|client| async move {
                loop {
                    let there = self.get(&client, &path).await?;
                    let number = there.as_ref().map_or(Ok(start), |(data, _)| self.number(&path, data))?;
                    let Some(sum) = sum(number, delta) else { return Ok(None) };
                    let digits = sum.to_string();
                    let done = match there {
                        Some((_, stat)) => self.set(&client, &path, digits.as_bytes(), stat.version).await?,
                        None => self.create(&client, &path, digits.as_bytes()).await?,
                    };
                    // If another client was faster, this step certainly changed nothing.
                    if done.is_some() {
                        return Ok(Some(sum));
                    }
                }
            })
            .await?;
        sum.ok_or_else(|| full(self.name(), counter))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let path = self.counter(counter);
        self.ensemble
            .run(|client| async move {
                let Some((data, stat)) = self.get(&client, &path).await? else { return Ok(false) };
                if self.number(&path, &data)? != end {
                    return Ok(false);
                }
                Ok(self.set(&client, &path, start.to_string().as_bytes(), stat.version).await?.is_some())
            })
            .await
    }
}
