//! Redis, a single server: no replicas, no Sentinel, no Cluster, as their failovers lose confirmed writes.
//!
//! The records of a directory (a key up to its last slash) are the fields of one hash, `PREFIX:records:DIRECTORY`, so that
//! a list is one command. A value is the version in decimal digits, a colon, and the bytes. A counter is a string of
//! decimal digits at `PREFIX:counters:COUNTER`.
//!
//! Steps of several commands are scripts in Lua, which the server runs alone. Each writes once, so the append-only file has
//! all of it or nothing. Numbers stay strings: Lua's numbers are doubles, exact only up to 2^53. A script is sent as a whole:
//! by its hash a new server would refuse it at first, and the second try would have no look at the settings behind it.
//!
//! A confirmed write is durable only with `appendonly yes` and `appendfsync always`. `settings` checks both.

mod settings;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{
    AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, RedisResult, TlsCertificates, Value, cmd, pipe,
};
use async_trait::async_trait;
use snowmint_core::durability::Engine;
use snowmint_core::mutant;

use super::client::address::Address;
use super::client::reconnect::{Connector, Reconnecting};
use super::client::tls;
use super::settings::{Settings, of_server};
use crate::error::Error;
use crate::gather::{Gather, wanted};
use crate::scripts::{REDIS_ADD, REDIS_WRITE};
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version;
use crate::store::{CounterStore, RecordStore, ServerSettings, Version, Versioned, WriteOutcome};

/// Lowers a counter. Key: a counter. Arguments: the number that it must have, and its new number. Returns 1, or 0 if it has
/// another number. Not for clients of other languages, which send a request again: a second copy could lower the counter below
/// numbers of another process.
const LOWER: &str = include_str!("redis/lower.lua");

/// A connection that was idle for this long is tested by a `PING`, as the server may have been restarted.
const PING_AFTER: Duration = Duration::from_millis(100);

/// A store on a Redis server.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::redis::Redis;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Redis::connect(&Url::parse("redis://:secret@cache/0")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
pub struct Redis {
    server: Reconnecting<Arc<Server>>,
    prefix: String,
}

struct Server {
    client: Client,
    name: String,
    timeout: Duration,
    allow_unsafe: bool,
    settings: Settings,
}

/// A connection, and the requests that wait until its last pipeline is answered.
#[derive(Clone)]
struct Connection {
    client: MultiplexedConnection,
    waiting: Gather<Cmd, Result<Value, Error>>,
}

impl Redis {
    /// Connects, and checks that the server keeps confirmed writes.
    ///
    /// # Errors
    /// `StoreUnavailable` if the server does not answer; `InvalidStore` if the server refuses the user; `UnsafeStore`, which names the setting.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::redis::Redis;
    /// use snowmint_stores::{RecordStore, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Redis::connect(&Url::parse("redis://:secret@cache/0")?).await?;
    /// println!("{}", store.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let name = url.named("Redis");
        let settings = Settings::new(url.allow_standby);
        let (timeout, allow_unsafe) = (url.timeout, url.allow_unsafe);
        let server = Server { client: client(url)?, name, timeout, allow_unsafe, settings };
        let redis = Self { server: Reconnecting::new(Arc::new(server), url.timeout), prefix: url.prefix.clone() };
        redis.server.connect().await?;
        redis.server.connector().settings.refuse_standby()?;
        Ok(redis)
    }

    /// Returns the hash and the field of a record.
    fn record<'a>(&self, key: &'a str) -> (String, &'a str) {
        let (directory, field) = key.rsplit_once('/').unwrap_or(("", key));
        (format!("{}:records:{directory}", self.prefix), field)
    }

    fn counter(&self, counter: &str) -> String {
        format!("{}:counters:{counter}", self.prefix)
    }

    /// Sends a request together with all that wait, and behind them a look at the settings, in one pipeline. The answers count
    /// only if the look passes.
    async fn ask<T: FromRedisValue>(&self, request: Cmd) -> Result<T, Error> {
        let server = self.server.connector();
        let answer = self.server.run(|connection| server.ask(connection, request)).await?;
        T::from_redis_value(answer).map_err(|error| of_client(self.name(), error.into()))
    }

    fn found(&self, key: &str, stored: &[u8]) -> Result<Versioned, Error> {
        let (version, value) = stored.iter().position(|byte| *byte == b':').map_or((stored, stored), |colon| {
            let (version, value) = stored.split_at(colon);
            (version, &value[1..])
        });
        std::str::from_utf8(version)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .filter(|version| *version > 0)
            .map(|version| Versioned { value: value.to_vec(), version })
            .ok_or_else(|| {
                Error::unavailable(self.name(), format_args!("the value at {key} is not a record of snowmint"))
            })
    }
}

fn client(url: &Url) -> Result<Client, Error> {
    let ca = Address::of(url, 6379)?.ca;
    let place = url.rest.split_once('?').map_or(url.rest.as_str(), |(place, _)| place);
    tls::prepare();
    match ca {
        Some(ca) => {
            Client::build_with_tls(place, TlsCertificates { client_tls: None, root_cert: Some(ca.into_bytes()) })
        }
        None => Client::open(place),
    }
    .map_err(|error| Error::invalid_store(&format!("Redis at {}", url.place()), error))
}

/// Returns the command that runs a script on a key.
fn script(script: &str, key: String) -> Cmd {
    cmd("EVAL").arg(script).arg(1).arg(key).to_owned()
}

/// `StoreUnavailable` or `InvalidStore`, with the client's error.
fn of_client(store: &str, error: RedisError) -> Error {
    match Engine::Redis.misconfigured("", &error.to_string()) {
        Some(cure) => Error::invalid_store(store, format_args!("{error}{cure}")).with_source(error),
        None => Error::of_driver(store, error),
    }
}

impl Server {
    /// Sends a request as [`Redis::ask`] does.
    async fn ask(self: &Arc<Self>, connection: Connection, request: Cmd) -> Result<Value, Error> {
        let (server, mut client) = (Arc::clone(self), connection.client);
        let answer = connection.waiting.ask(request, |mut serving| async move {
            loop {
                let mut calls = serving.calls(usize::MAX);
                if calls.is_empty() {
                    return;
                }
                let requests = calls.iter().map(|call| call.asked.clone()).collect();
                match wanted(server.send(&mut client, requests), &mut calls).await {
                    Some(Ok(answers)) => calls.into_iter().zip(answers).for_each(|(call, answer)| call.answer(answer)),
                    Some(Err(error)) => calls.into_iter().for_each(|call| call.answer(Err(error.clone()))),
                    // All callers have given up.
                    None => {}
                }
            }
        });
        answer.await.unwrap_or_else(|| Err(Error::unavailable(&self.name, "the request was broken off")))
    }

    /// Sends requests in one pipeline, with a look at the settings behind them. Returns the answer to each.
    async fn send(
        &self,
        client: &mut MultiplexedConnection,
        requests: Vec<Cmd>,
    ) -> Result<Vec<Result<Value, Error>>, Error> {
        let (mut all, count) = (pipe(), requests.len());
        for request in requests {
            all.add_command(request);
        }
        let looks = self.looks() && !mutant::removes("behind");
        if looks {
            settings::look(&mut all);
        } else {
            self.check(client.clone()).await?;
        }
        let answers: Vec<RedisResult<Value>> =
            all.ignore_errors().query_async(client).await.map_err(|error| of_client(&self.name, error))?;
        let mut answers = answers.into_iter();
        let answered = answers.by_ref().take(count).map(|answer| answer.map_err(|error| of_client(&self.name, error)));
        let answered = answered.collect();
        if looks {
            self.judge(answers)?;
        }
        Ok(answered)
    }

    fn looks(&self) -> bool {
        !self.allow_unsafe && !mutant::removes("settings")
    }

    /// Checks that the server keeps confirmed writes.
    async fn check(&self, mut connection: MultiplexedConnection) -> Result<(), Error> {
        if self.looks() { self.judge(settings::ask(&mut connection, &self.name).await?.into_iter()) } else { Ok(()) }
    }

    /// Judges the answers to a look, and notes a setting by which a failover could lose confirmed writes.
    fn judge(&self, answers: impl Iterator<Item = RedisResult<Value>>) -> Result<(), Error> {
        let checked = settings::judge(answers, &self.name);
        self.settings.note(&checked);
        checked.map(drop)
    }
}

#[async_trait]
impl Connector for Arc<Server> {
    type Connection = Connection;

    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<Connection, Error> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout));
        let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
        let mut client = connected.map_err(|error| of_client(&self.name, error))?;
        // The first request fails if the server needs a password and the URL has none.
        let pong: Result<(), _> = cmd("PING").query_async(&mut client).await;
        pong.map_err(|error| of_client(&self.name, error))?;
        self.check(client.clone()).await?;
        Ok(Connection { client, waiting: Gather::default() })
    }

    async fn is_alive(&self, connection: &Connection, idle: Duration) -> bool {
        let mut client = connection.client.clone();
        idle < PING_AFTER || cmd("PING").query_async::<()>(&mut client).await.is_ok()
    }
}

#[async_trait]
impl RecordStore for Redis {
    fn name(&self) -> &str {
        self.server.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let (hash, field) = self.record(key);
        let stored: Option<Vec<u8>> = self.ask(cmd("HGET").arg(hash).arg(field).to_owned()).await?;
        stored.map(|stored| self.found(key, &stored)).transpose()
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let version = version::fresh(expected)?;
        let (hash, field) = self.record(key);
        let mut stored = format!("{version}:").into_bytes();
        stored.extend_from_slice(value);
        let script = script(REDIS_WRITE, hash).arg(field).arg(expected.to_string()).arg(stored).to_owned();
        let written: bool = self.ask(script).await?;
        Ok(if written { WriteOutcome::Version(version) } else { WriteOutcome::Conflict })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        let (hash, _) = self.record(prefix);
        let stored: Vec<(String, Vec<u8>)> = self.ask(cmd("HGETALL").arg(hash).to_owned()).await?;
        stored
            .into_iter()
            .map(|(part, stored)| self.found(&format!("{prefix}{part}"), &stored).map(|found| (part, found)))
            .collect()
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.server.run(|connection| self.server.connector().check(connection.client)).await?;
        self.server.connector().settings.refuse_standby()
    }

    fn standby_risk(&self) -> Option<Error> {
        self.server.connector().settings.risk()
    }

    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        let ask = |mut connection: Connection| async move { settings::ask(&mut connection.client, self.name()).await };
        let found = settings::read(self.server.run(ask).await?.into_iter(), self.name())?;
        Ok(Some(of_server(Engine::Redis, found)))
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let (seconds, micros): (i64, i64) = self.ask(cmd("TIME")).await?;
        Ok(seconds.checked_mul(1000).and_then(|ms| ms.checked_add(micros / 1000)))
    }
}

#[async_trait]
impl CounterStore for Redis {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let full = || full(self.name(), counter);
        if sum(0, delta).is_none() {
            return Err(full());
        }
        // The sum for a new counter, or an empty text if it would be too large.
        let first = sum(start, delta).map_or(String::new(), |sum| sum.to_string());
        let script = script(REDIS_ADD, self.counter(counter)).arg(delta.to_string()).arg(first).to_owned();
        let sum: Option<String> = self.ask(script).await?;
        let sum = sum.ok_or_else(full)?;
        sum.parse().map_err(|_| {
            Error::unavailable(self.name(), format_args!("the counter {counter} is {sum:?}, not a number"))
        })
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.ask(script(LOWER, self.counter(counter)).arg(end.to_string()).arg(start.to_string()).to_owned()).await
    }
}

// The client holds the password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redis({})", self.name())
    }
}
