//! Redis, a single server: no replicas, no Sentinel, no Cluster, as their failovers lose confirmed writes.
//!
//! The records of a directory (a key up to its last slash) are the fields of one hash, `PREFIX:records:DIRECTORY`, so that
//! a list is one command. A value is the version in decimal digits, a colon, and the bytes. A counter is a string of
//! decimal digits at `PREFIX:counters:COUNTER`.
//!
//! A confirmed write is durable only with `appendonly yes` and `appendfsync always`. `settings` checks both.

mod scripts;
mod settings;

use std::fmt;
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, RedisResult, TlsCertificates, cmd};
use async_trait::async_trait;
use snowmint_core::durability::Engine;
use snowmint_core::mutant;

use self::scripts::Scripts;
use super::client::address::Address;
use super::client::reconnect::{Connector, Reconnecting};
use super::client::tls;
use super::settings::{Settings, of_server};
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::{Found, ServerSettings, Store, Version, Wrote};

/// A connection that was idle for this long is tested by a `PING`, as the server may have been restarted.
const IDLE: Duration = Duration::from_millis(100);

/// A store on a Redis server.
pub struct Redis {
    server: Reconnecting<Server>,
    prefix: String,
    scripts: Scripts,
}

struct Server {
    client: Client,
    name: String,
    timeout: Duration,
    allow_unsafe: bool,
    settings: Settings,
}

impl Redis {
    /// Connects, and checks that the server keeps confirmed writes.
    ///
    /// # Errors
    /// `StoreUnavailable` if the server does not answer; `InvalidStore` if the server refuses the user; `UnsafeStore`, which names the setting.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let name = format!("Redis at {}", url.place());
        let settings = Settings::new(url.allow_standby);
        let (timeout, allow_unsafe) = (url.timeout, url.allow_unsafe);
        let server = Server { client: client(url)?, name, timeout, allow_unsafe, settings };
        let redis = Self {
            server: Reconnecting::new(server, url.timeout),
            prefix: url.prefix.clone(),
            scripts: Scripts::default(),
        };
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

    async fn ask<T: FromRedisValue + Send>(&self, command: Cmd) -> Result<T, Error> {
        self.checked(|mut connection| async move { command.query_async(&mut connection).await }).await
    }

    async fn invoke<T: FromRedisValue + Send>(&self, invocation: ::redis::ScriptInvocation<'_>) -> Result<T, Error> {
        self.checked(|mut connection| async move { invocation.invoke_async(&mut connection).await }).await
    }

    /// Sends a request and a check of the settings in one round trip. The answer counts only if the check passes.
    async fn checked<T, Answer>(&self, ask: impl FnOnce(MultiplexedConnection) -> Answer + Send) -> Result<T, Error>
    where
        T: Send,
        Answer: Future<Output = RedisResult<T>> + Send,
    {
        let both = |connection: MultiplexedConnection| async move {
            let (answer, checked) = tokio::join!(ask(connection.clone()), self.server.connector().check(&connection));
            checked?;
            answer.map_err(|error| of_client(self.name(), error))
        };
        self.server.run(both).await
    }

    fn found(&self, key: &str, stored: &[u8]) -> Result<Found, Error> {
        let (version, value) = stored.iter().position(|byte| *byte == b':').map_or((stored, stored), |colon| {
            let (version, value) = stored.split_at(colon);
            (version, &value[1..])
        });
        std::str::from_utf8(version)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .filter(|version| *version > 0)
            .map(|version| Found { value: value.to_vec(), version })
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

/// `StoreUnavailable` or `InvalidStore`, with the client's error.
fn of_client(store: &str, error: RedisError) -> Error {
    let misconfigured = Engine::Redis.is_misconfigured("", &error.to_string());
    if misconfigured { Error::invalid_store(store, &error).with_source(error) } else { Error::of_driver(store, error) }
}

impl Server {
    /// Checks that the server keeps confirmed writes, and notes a setting by which a failover could lose them.
    async fn check(&self, connection: &MultiplexedConnection) -> Result<(), Error> {
        if self.allow_unsafe || mutant::removes("settings") {
            return Ok(());
        }
        let checked = settings::check(connection.clone(), &self.name).await;
        self.settings.note(&checked);
        checked.map(drop)
    }
}

#[async_trait]
impl Connector for Server {
    type Connection = MultiplexedConnection;

    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<MultiplexedConnection, Error> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout));
        let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
        let mut connection = connected.map_err(|error| of_client(&self.name, error))?;
        // The first request fails if the server needs a password and the URL has none.
        let pong: Result<(), _> = cmd("PING").query_async(&mut connection).await;
        pong.map_err(|error| of_client(&self.name, error))?;
        self.check(&connection).await?;
        Ok(connection)
    }

    async fn is_alive(&self, connection: &MultiplexedConnection, idle: Duration) -> bool {
        let mut connection = connection.clone();
        idle < IDLE || cmd("PING").query_async::<()>(&mut connection).await.is_ok()
    }
}

#[async_trait]
impl Store for Redis {
    fn name(&self) -> &str {
        self.server.connector().name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let (hash, field) = self.record(key);
        let stored: Option<Vec<u8>> = self.ask(cmd("HGET").arg(hash).arg(field).to_owned()).await?;
        stored.map(|stored| self.found(key, &stored)).transpose()
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        let Some(version) = expected.checked_add(1) else { return Ok(Wrote::Conflict) };
        let (hash, field) = self.record(key);
        let mut stored = format!("{version}:").into_bytes();
        stored.extend_from_slice(value);
        let mut invocation = self.scripts.write.prepare_invoke();
        invocation.key(hash).arg(field).arg(expected.to_string()).arg(stored);
        let written: bool = self.invoke(invocation).await?;
        Ok(if written { Wrote::Version(version) } else { Wrote::Conflict })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        let (hash, _) = self.record(prefix);
        let stored: Vec<(String, Vec<u8>)> = self.ask(cmd("HGETALL").arg(hash).to_owned()).await?;
        stored
            .into_iter()
            .map(|(part, stored)| self.found(&format!("{prefix}{part}"), &stored).map(|found| (part, found)))
            .collect()
    }

    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let full = || full(self.name(), counter);
        if sum(0, delta).is_none() {
            return Err(full());
        }
        // The sum for a new counter, or an empty text if it would be too large.
        let first = sum(start, delta).map_or(String::new(), |sum| sum.to_string());
        let mut invocation = self.scripts.add.prepare_invoke();
        invocation.key(self.counter(counter)).arg(delta.to_string()).arg(first);
        let sum: Option<String> = self.invoke(invocation).await?;
        let sum = sum.ok_or_else(full)?;
        sum.parse().map_err(|_| {
            Error::unavailable(self.name(), format_args!("the counter {counter} is {sum:?}, not a number"))
        })
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.server.run(|connection| async move { self.server.connector().check(&connection).await }).await?;
        self.server.connector().settings.refuse_standby()
    }

    fn standby_risk(&self) -> Option<Error> {
        self.server.connector().settings.risk()
    }

    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        let found = self.server.run(|connection| settings::read(connection, self.name())).await?;
        Ok(Some(of_server(Engine::Redis, found)))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let mut invocation = self.scripts.lower.prepare_invoke();
        invocation.key(self.counter(counter)).arg(end.to_string()).arg(start.to_string());
        self.invoke(invocation).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let (seconds, micros): (i64, i64) = self.ask(cmd("TIME")).await?;
        Ok(seconds.checked_mul(1000).and_then(|ms| ms.checked_add(micros / 1000)))
    }
}

// The client holds the password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redis({})", self.name())
    }
}
