//! One file for each engine.

use std::sync::Arc;

use snowmint_core::ErrorKind;

use crate::error::Error;
use crate::store::CounterStore;
use crate::store::url::Url;

mod client;
mod connected;
#[cfg(feature = "file")]
pub(crate) mod directory;
#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "nats")]
pub mod nats;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "redis", feature = "nats", feature = "sql"))]
mod settings;
#[cfg(feature = "sql")]
pub(crate) mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;

pub use self::connected::{connected, longest_call};

/// Connects to the store of a [`Url`], and checks that its settings keep confirmed writes.
///
/// | URL | feature | store |
/// | --- | --- | --- |
/// | `memory:NAME` | `memory` | memory of this process, for tests; a new store for each call without a name |
/// | `file:DIRECTORY` | `file` | files of one machine |
/// | `sqlite:PATH` | `sqlite` | a database file of one machine |
/// | `postgres://USER:PASSWORD@HOST:PORT/DATABASE` | `postgres` | `PostgreSQL` |
/// | `mysql://USER:PASSWORD@HOST:PORT/DATABASE` | `mysql` | `MariaDB`, `MySQL` |
/// | `redis://USER:PASSWORD@HOST:PORT/DB`, `rediss://` for TLS | `redis` | Redis |
/// | `etcd://USER:PASSWORD@HOST:PORT,HOST:PORT`, `etcds://` for TLS | `etcd` | etcd |
/// | `zookeeper://HOST:PORT,HOST:PORT/CHROOT` | `zookeeper` | `ZooKeeper`, without TLS |
/// | `nats://USER:PASSWORD@HOST:PORT,HOST:PORT/BUCKET?monitor=http://HOST:PORT`, `natss://` for TLS | `nats` | NATS `JetStream` |
///
/// # Errors
/// `InvalidStore` for an unknown scheme, a scheme whose feature is off, and a wrong URL, user or database.
/// `StoreUnavailable` for a server without an answer. `UnsafeStore` names setting, value and cure.
///
/// # Examples
/// ```
/// use snowmint_stores::connect;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// assert_eq!(store.name(), "memory");
/// assert_eq!(connect("oracle://db").await.expect_err("no such engine").code(), "INVALID_STORE");
/// # Ok(())
/// # }
/// ```
pub async fn connect(url: &str) -> Result<Arc<dyn CounterStore>, Error> {
    connect_to(Url::parse(url)?).await
}

/// Connects to the store of a URL that was read, as [`connect`].
///
/// # Errors
/// As [`connect`].
///
/// # Examples
/// ```
/// use snowmint_stores::{Url, connect_to};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect_to(Url::parse("memory:orders")?).await?;
/// assert_eq!(store.add("counter", 5, 1).await?, 6);
/// # Ok(())
/// # }
/// ```
pub async fn connect_to(url: Url) -> Result<Arc<dyn CounterStore>, Error> {
    match find(&url.scheme)? {
        #[cfg(feature = "memory")]
        Engine::Memory => Ok(memory::Memory::named(url.place())),
        #[cfg(feature = "file")]
        Engine::File => Ok(Arc::new(directory::Directory::connect(url).await?)),
        #[cfg(feature = "sqlite")]
        Engine::Sqlite => Ok(Arc::new(sqlite::Sqlite::connect(&url).await?)),
        #[cfg(feature = "postgres")]
        Engine::Postgres => Ok(Arc::new(postgres::Postgres::connect(&url).await?)),
        #[cfg(feature = "mysql")]
        Engine::Mysql => Ok(Arc::new(mysql::Mysql::connect(&url).await?)),
        #[cfg(feature = "redis")]
        Engine::Redis => Ok(Arc::new(redis::Redis::connect(&url).await?)),
        #[cfg(feature = "etcd")]
        Engine::Etcd => Ok(Arc::new(etcd::Etcd::connect(&url).await?)),
        #[cfg(feature = "zookeeper")]
        Engine::Zookeeper => Ok(Arc::new(zookeeper::Zookeeper::connect(&url).await?)),
        #[cfg(feature = "nats")]
        Engine::Nats => Ok(Arc::new(nats::Nats::connect(&url).await?)),
    }
}

/// The engines of this build.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    #[cfg(feature = "memory")]
    Memory,
    #[cfg(feature = "file")]
    File,
    #[cfg(feature = "sqlite")]
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    Mysql,
    #[cfg(feature = "redis")]
    Redis,
    #[cfg(feature = "etcd")]
    Etcd,
    #[cfg(feature = "zookeeper")]
    Zookeeper,
    #[cfg(feature = "nats")]
    Nats,
}

/// Finds the engine of a URL's scheme.
pub(crate) fn find(scheme: &str) -> Result<Engine, Error> {
    match scheme {
        #[cfg(feature = "memory")]
        "memory" => Ok(Engine::Memory),
        #[cfg(feature = "file")]
        "file" => Ok(Engine::File),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Engine::Sqlite),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Engine::Postgres),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => Ok(Engine::Mysql),
        #[cfg(feature = "redis")]
        "redis" | "rediss" => Ok(Engine::Redis),
        #[cfg(feature = "etcd")]
        "etcd" | "etcds" => Ok(Engine::Etcd),
        #[cfg(feature = "zookeeper")]
        "zookeeper" | "zookeepers" => Ok(Engine::Zookeeper),
        #[cfg(feature = "nats")]
        "nats" | "natss" => Ok(Engine::Nats),
        scheme => Err(Error::new(ErrorKind::InvalidStore, no_such(scheme))),
    }
}

fn no_such(scheme: &str) -> String {
    const SCHEMES: &str = "memory, file, sqlite, postgres, mysql, redis, etcd, zookeeper and nats";
    if SCHEMES.split([',', ' ']).any(|known| known == scheme && known != "and") {
        format!("this build has no {scheme} store: build it with the feature {scheme}")
    } else {
        format!("no such store: {scheme}. Known stores are {SCHEMES}")
    }
}
