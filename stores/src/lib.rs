#![doc = include_str!("../README.md")]

mod apart;
mod ask;
mod attended;
mod claim;
#[cfg(feature = "engines")]
mod drivers;
#[cfg(feature = "engines")]
mod engines;
mod entropy;
mod environment;
mod error;
#[cfg(feature = "engines")]
pub mod fence;
mod file;
mod fork;
mod generator;
mod given;
mod heeding;
mod held;
mod holding;
mod label;
mod lease;
mod lessor;
#[cfg(feature = "engines")]
mod lock;
mod minter;
mod namespace;
#[cfg(feature = "engines")]
mod numbers;
pub mod object_id;
#[cfg(feature = "engines")]
mod owner;
mod plain;
mod plan;
mod process;
#[cfg(feature = "engines")]
mod remote;
#[cfg(feature = "engines")]
mod runtime;
pub mod scripts;
mod service_clock;
mod steady;
mod store;
mod surroundings;
mod system;
mod token;
pub mod ulid;
pub mod uuid;

#[cfg(feature = "file")]
pub use self::engines::directory::Directory;
#[cfg(feature = "etcd")]
pub use self::engines::etcd;
#[cfg(feature = "memory")]
pub use self::engines::memory;
#[cfg(feature = "mysql")]
pub use self::engines::mysql;
#[cfg(feature = "postgres")]
pub use self::engines::postgres;
#[cfg(feature = "redis")]
pub use self::engines::redis;
#[cfg(feature = "sql")]
pub use self::engines::sql::SqlStore;
#[cfg(feature = "sqlite")]
pub use self::engines::sqlite;
#[cfg(feature = "zookeeper")]
pub use self::engines::zookeeper;
pub use self::error::Error;
#[doc(hidden)]
pub use self::file::record;
pub use self::file::{SlotState, Slots};
pub use self::generator::{Generator, Status, release_given};
pub use self::given::{BlockingStore, Given};
pub use self::lease::OnLost;
pub use self::lessor::{LeaseTerms, Lent, Lessor};
pub use self::namespace::Namespace;
pub use self::plan::{Config, Connect, Environment, LeaseStore};
pub use self::store::{
    Found, MAX_KEY_BYTES, MAX_VALUE_BYTES, NumberSource, SegmentTable, Store, Tag, TicketServer, Version, Wrote,
};
pub use self::surroundings::{refuse_default_database, refuse_lossy_place};
pub use self::system::SystemHost;
#[cfg(feature = "engines")]
pub use self::{
    drivers::{Granted, Leases},
    engines::connect,
    numbers::{
        Key, LocalNumbers, MAX_WAIT_MS, NativeNumbers, SectionHolder, Sections, SectionsOptions, Segments,
        SegmentsOptions, Sequences, Tickets,
    },
    store::url::Url,
};
