#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "engines"),
    allow(rustdoc::broken_intra_doc_links, reason = "the guide links to items of the stores, which are off")
)]

#[cfg(feature = "engines")]
mod engines;
mod error;
#[cfg(feature = "engines")]
pub mod fence;
#[cfg(feature = "numbers")]
mod gather;
mod grant;
#[cfg(feature = "numbers")]
mod numbers;
mod process;
pub mod scripts;
mod store;

#[cfg(feature = "file")]
pub use self::engines::directory::Directory;
#[cfg(feature = "etcd")]
pub use self::engines::etcd;
#[cfg(feature = "memory")]
pub use self::engines::memory;
#[cfg(feature = "mysql")]
pub use self::engines::mysql;
#[cfg(feature = "nats")]
pub use self::engines::nats;
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
#[cfg(feature = "numbers")]
pub use self::numbers::{
    Formatted, FormattedNumber, Key, LocalNumbers, MAX_WAIT_MS, NativeNumbers, SectionHolder, Sections,
    SectionsOptions, Segments, SegmentsOptions, Sequences, Tickets,
};
pub use self::store::{
    CounterStore, MAX_KEY_BYTES, MAX_VALUE_BYTES, NumberSource, Ranges, RecordStore, SegmentTable, ServerSettings, Tag,
    TakenRange, TicketServer, Version, Versioned, WriteOutcome,
};
#[cfg(feature = "engines")]
pub use self::{
    engines::{connect, connect_to},
    store::url::Url,
};

/// Parts for the crates above this one: grants of nodes, and the state of a process. They may change in any version.
#[doc(hidden)]
pub mod host {
    #[cfg(feature = "engines")]
    pub use crate::engines::{connected, longest_call};
    pub use crate::grant::{Claimer, Look, Namespace, Outcome, Refusal, StoreLease, Terms, claim_node, look};
    #[cfg(feature = "engines")]
    pub use crate::grant::{Granted, Leases, NamespaceNodes, Share};
    #[cfg(feature = "numbers")]
    pub use crate::numbers::NativeTarget;
    pub use crate::process::*;
    pub use crate::store::filesystem::{
        refuse_default_database, refuse_default_slots, refuse_lossy_place, refuse_lossy_slots,
    };
    pub use crate::store::plain_file;
    pub use crate::store::{NumberService, Served};
}
