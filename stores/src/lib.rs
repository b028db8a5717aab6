#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "engines")]
mod engines;
mod error;
#[cfg(feature = "engines")]
pub mod fence;
mod generator;
mod grant;
mod ids;
mod lease;
#[cfg(feature = "engines")]
mod lock;
#[cfg(feature = "engines")]
mod numbers;
#[cfg(feature = "engines")]
mod owner;
mod process;
pub mod scripts;
mod slots;
mod store;

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
pub use self::generator::options::{Connect, LeaseOptions, LeaseStore};
pub use self::generator::status::Status;
pub use self::generator::system::SystemHost;
pub use self::generator::{Generator, release_callers_stores};
pub use self::grant::{Claimer, Namespace, Terms};
pub use self::ids::{object_id, ulid, uuid};
pub use self::lease::backend::{Backend, Identity};
pub use self::lease::key::ClockId;
pub use self::lease::lessor::{Lessor, LessorGrant};
pub use self::lease::on_lost::OnLost;
pub use self::process::environment::Environment;
#[doc(hidden)]
pub use self::slots::record;
pub use self::slots::{SlotDirectory, SlotState, Slots};
pub use self::store::blocking::BlockingStore;
pub use self::store::filesystem::{refuse_default_database, refuse_lossy_place};
pub use self::store::{
    Found, MAX_KEY_BYTES, MAX_VALUE_BYTES, NumberSource, SegmentTable, Store, Tag, TicketServer, Version, Wrote,
};
#[cfg(feature = "engines")]
pub use self::{
    engines::connect,
    grant::{Granted, Leases},
    numbers::{
        Key, LocalNumbers, MAX_WAIT_MS, NativeNumbers, SectionHolder, Sections, SectionsOptions, Segments,
        SegmentsOptions, Sequences, Tickets,
    },
    store::url::Url,
};
