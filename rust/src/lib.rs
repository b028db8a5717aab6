#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod clock;
mod cycles;
mod doctor;
mod environment;
mod generator;
mod ids;
mod lease;
mod prefixed_id;
mod reservations;
mod slots;
mod snowflake;

pub use snowmint_core::formatted;
#[cfg(feature = "mask")]
pub use snowmint_core::mask::{Mask, MaskKey, UuidMask};
pub use snowmint_core::{
    ErrorKind, Field, Id, Integer, Ksuid, Layout, MAX_BATCH, Name, Nodes, ObjectId, Options, Parts, SequenceStart,
    TextForm, TypeId, Ulid, Uuid, UuidVariant, Window, Xid, layouts, prefix, scatter,
};
#[cfg(feature = "audit")]
pub use snowmint_inspect::audit;
pub use snowmint_inspect::{inspect, sql};
pub use snowmint_stores::Error;
#[cfg(feature = "engines")]
pub use snowmint_stores::{Formatted, FormattedNumber};

pub use self::clock::Clock;
pub use self::generator::options::LeaseOptions;
pub use self::generator::status::Status;
pub use self::ids::{ksuid, object_id, type_id, ulid, uuid, xid};
pub use self::lease::store::LeaseStore;
pub use self::prefixed_id::{IdKind, PrefixedId};
pub use self::slots::{SlotState, Slots};
pub use self::snowflake::{Ids, LocalSnowflake, Snowflake};

/// Additional functions for the bindings to other languages, the command line and the service. They may change in any
/// version.
#[doc(hidden)]
pub mod host {
    pub use crate::cycles::unix_ms;
    pub mod doctor {
        pub use crate::doctor::{Facts, Finding, Level, examine};
    }
    pub use crate::environment::Environment;
    pub use crate::generator::system::SystemHost;
    pub use crate::generator::{ProcessGenerator, forget_clock, release_callers_stores, release_leases};
    pub use crate::ids::minter::host_locks;
    pub use crate::lease::backend::Backend;
    pub use crate::lease::key::ClockId;
    pub use crate::lease::lessor::{Lessor, LessorGrant};
    pub use crate::lease::store::Connect;
    pub use crate::slots::{SlotDirectory, record};
}

/// The crates below this one: the rules, and the stores.
pub use {snowmint_core as core, snowmint_stores as stores};
