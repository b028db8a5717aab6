//! `ZooKeeper`. Slashes of keys are colons in the names of nodes, so that no node is both a record and the parent of others:
//! the record `leases/orders/5` is the node `/PREFIX/records/leases:orders/5`, the counter `segments/orders` is
//! `/PREFIX/counters/segments:orders`, in decimal digits. A chroot stands before; missing parents are made.
//!
//! The version of a record is that of its node and 1, so after 2^32 - 1 writes a node takes no more; a counter neither.
//! Before a read the server catches up with its leader by `sync`. That is not confirmed by a quorum, so a leader that has
//! just been deposed and does not know it yet may give a record of moments ago; writes and additions are always checked
//! by the leader with its quorum.
//!
//! A client cannot see whether the servers run with `forceSync=no`, under which confirmed writes can be lost: they must not.

mod secure;
mod version;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::segment::LAST;
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error as Refusal, SessionState, Stat};

use super::client::address::Address;
use super::client::reconnect::{Connector, Reconnecting};
use crate::error::Error;
use crate::store::counter::full;
use crate::store::url::Url;
use crate::store::{Found, Store, Version, Wrote};

/// How long a session lasts without us; nothing hangs on it, as all nodes are persistent.
const SESSION: Duration = Duration::from_secs(10);
/// Records and counters outlive their session.
const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());

/// A store on a `ZooKeeper` ensemble.
pub struct Zookeeper {
    ensemble: Reconnecting<Ensemble>,
    root: String,
}

/// The client talks through a thread that there is one of in a process. A forked child is without it, and has no way to
/// start it again.
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
    tls: Option<secure::Tls>,
    name: String,
    timeout: Duration,
}

impl Zookeeper {
    /// Connects.
    ///
    /// # Errors
    /// `StoreUnavailable`, if no server can be reached.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let Address { user, hosts, path, ca } = Address::of(url, 2181)?;
        let name = format!("ZooKeeper at {}", url.place());
        refuse_in_child(&name)?;
        let refused = |why: &str| Err(Error::unavailable(&name, why));
        if user.is_some() {
            return refused("no user or password can be given: restrict access by the network or by TLS");
        }
        let tls = match (url.scheme == "zookeepers", ca) {
            (false, None) => None,
            (false, Some(_)) => return refused("ca= is for zookeepers://"),
            (true, ca) => match secure::options(ca.as_deref(), &hosts) {
                Ok(tls) => Some(tls),
                Err(why) => return refused(&why),
            },
        };
        // Each host has its part of the time.
        let timeout = url.timeout / u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let ensemble = Ensemble { hosts: hosts.join(","), tls, name, timeout };
        let zookeeper = Self {
            ensemble: Reconnecting::new(ensemble, url.timeout),
            root: format!("{}/{}", path.trim_end_matches('/'), url.prefix),
        };
        zookeeper.ensemble.connect().await?;
        Ok(zookeeper)
    }

    /// The node of a record's directory, and the name of the record in it.
    fn record<'a>(&self, key: &'a str) -> (String, &'a str) {
        let (directory, part) = key.rsplit_once('/').unwrap_or(("", key));
        // A directory is nothing but letters, so a colon alone is not one.
        let directory = if directory.is_empty() { ":".to_owned() } else { directory.replace('/', ":") };
        (format!("{}/records/{directory}", self.root), part)
    }

    fn counter(&self, counter: &str) -> String {
        format!("{}/counters/{}", self.root, counter.replace('/', ":"))
    }

    fn unavailable(&self, why: impl fmt::Display) -> Error {
        Error::unavailable(self.name(), why)
    }

    /// What is at a node, not older than this call.
    async fn get(&self, client: &Client, path: &str) -> Result<Option<(Vec<u8>, Stat)>, Error> {
        // Both are sent now, one after the other.
        let (synced, got) = (client.sync(path), client.get_data(path));
        synced.await.map_err(|error| self.unavailable(error))?;
        match got.await {
            Ok(there) => Ok(Some(there)),
            Err(Refusal::NoNode) => Ok(None),
            Err(error) => Err(self.unavailable(error)),
        }
    }

    /// Makes a node, and its parents where they are missing; nothing if it is there.
    async fn create(&self, client: &Client, path: &str, data: &[u8]) -> Result<Option<Stat>, Error> {
        let mut made = client.create(path, data, &PERSISTENT).await;
        if made == Err(Refusal::NoNode) {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            client.mkdir(parent, &PERSISTENT).await.map_err(|error| self.unavailable(error))?;
            // The first attempt has certainly done nothing.
            made = client.create(path, data, &PERSISTENT).await;
        }
        match made {
            Ok((stat, _)) => Ok(Some(stat)),
            Err(Refusal::NodeExists) => Ok(None),
            Err(error) => Err(self.unavailable(error)),
        }
    }

    /// Replaces what is at a node if it still is of that version; nothing if it is not.
    async fn set(&self, client: &Client, path: &str, data: &[u8], version: i32) -> Result<Option<Stat>, Error> {
        // To the server this one means: whatever is there.
        if version == -1 {
            return Err(self.unavailable(format_args!("{path} has been written 2^32 - 1 times and takes no more")));
        }
        match client.set_data(path, data, Some(version)).await {
            Ok(stat) => Ok(Some(stat)),
            Err(Refusal::BadVersion | Refusal::NoNode) => Ok(None),
            Err(error) => Err(self.unavailable(error)),
        }
    }

    fn number(&self, path: &str, data: &[u8]) -> Result<u64, Error> {
        let digits = std::str::from_utf8(data).ok().and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| self.unavailable(format_args!("what is at {path} is no number")))
    }
}

#[async_trait]
impl Connector for Ensemble {
    type Connection = Client;

    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<Client, Error> {
        let connector = Client::connector()
            .with_session_timeout(SESSION.max(self.timeout * 2))
            .with_connection_timeout(self.timeout)
            .with_fail_eagerly();
        let connected = match &self.tls {
            Some(tls) => secure::connect(connector, tls, &self.hosts).await,
            None => connector.connect(&self.hosts).await,
        };
        connected.map_err(|error| Error::unavailable(&self.name, error))
    }

    async fn is_alive(&self, client: &Client, _: Duration) -> bool {
        client.state() == SessionState::SyncConnected
    }
}

#[async_trait]
impl Store for Zookeeper {
    fn name(&self) -> &str {
        self.ensemble.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let (directory, part) = self.record(key);
        let path = format!("{directory}/{part}");
        let there = self.ensemble.run(|client| async move { self.get(&client, &path).await }).await?;
        Ok(there.map(|(value, stat)| Found { value, version: version::of(stat.version) }))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        let (directory, part) = self.record(key);
        let path = format!("{directory}/{part}");
        let written = self
            .ensemble
            .run(|client| async move {
                match version::to_node(expected) {
                    _ if expected == 0 => self.create(&client, &path, value).await,
                    Some(version) => self.set(&client, &path, value, version).await,
                    None => Ok(None),
                }
            })
            .await?;
        Ok(written.map_or(Wrote::Conflict, |stat| Wrote::Version(version::of(stat.version))))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        let (directory, _) = self.record(prefix);
        self.ensemble
            .run(|client| async move {
                let (synced, parts) = (client.sync(&directory), client.list_children(&directory));
                synced.await.map_err(|error| self.unavailable(error))?;
                let parts = match parts.await {
                    Ok(parts) => parts,
                    Err(Refusal::NoNode) => return Ok(vec![]),
                    Err(error) => return Err(self.unavailable(error)),
                };
                // All are asked for before the first answer is waited for.
                let asked: Vec<_> = parts.iter().map(|part| client.get_data(&format!("{directory}/{part}"))).collect();
                let mut list = Vec::with_capacity(parts.len());
                for (part, answer) in parts.into_iter().zip(asked) {
                    let (value, stat) = answer.await.map_err(|error| self.unavailable(error))?;
                    list.push((part, Found { value, version: version::of(stat.version) }));
                }
                Ok(list)
            })
            .await
    }

    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let path = self.counter(counter);
        let sum = self
            .ensemble
            .run(|client| async move {
                loop {
                    let there = self.get(&client, &path).await?;
                    let number = there.as_ref().map_or(Ok(start), |(data, _)| self.number(&path, data))?;
                    let Some(sum) = number.checked_add(delta).filter(|sum| *sum <= LAST) else { return Ok(None) };
                    let digits = sum.to_string();
                    let done = match there {
                        Some((_, stat)) => self.set(&client, &path, digits.as_bytes(), stat.version).await?,
                        None => self.create(&client, &path, digits.as_bytes()).await?,
                    };
                    // If somebody was faster, it is certain that nothing was done.
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

impl fmt::Debug for Zookeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zookeeper({})", self.name())
    }
}
