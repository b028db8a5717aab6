#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod clock;
mod cycles;
pub mod doctor;
mod environment;
mod generator;
mod id;
mod ids;
mod lease;
mod prefixed_id;
mod slots;
mod snowflake;

#[cfg(feature = "mask")]
pub use snowmint_core::mask::{Mask, MaskKey, UuidMask};
pub use snowmint_core::{
    ErrorKind, Field, Integer, Ksuid, Layout, MAX_BATCH, Name, ObjectId, Options, Parts, SequenceStart, TextForm,
    TypeId, Ulid, Uuid, UuidVariant, Window, Xid, layouts, prefix, scatter,
};
#[cfg(feature = "audit")]
pub use snowmint_inspect::audit;
pub use snowmint_inspect::{inspect, sql};
pub use snowmint_stores::Error;

pub use self::clock::Clock;
#[doc(hidden)]
pub use self::cycles::unix_ms;
pub use self::environment::Environment;
pub use self::generator::options::{Connect, LeaseOptions, LeaseStore};
pub use self::generator::status::Status;
pub use self::generator::system::SystemHost;
pub use self::generator::{Generator, forget_clock, release_callers_stores, release_leases};
pub use self::id::Id;
#[doc(hidden)]
pub use self::ids::minter::host_locks;
pub use self::ids::{ksuid, object_id, type_id, ulid, uuid, xid};
pub use self::lease::backend::Backend;
pub use self::lease::key::ClockId;
pub use self::lease::lessor::{Lessor, LessorGrant};
pub use self::lease::on_lost::OnLost;
pub use self::prefixed_id::{IdKind, PrefixedId};
#[doc(hidden)]
pub use self::slots::record;
pub use self::slots::{SlotDirectory, SlotState, Slots};
pub use self::snowflake::{Ids, LocalSnowflake, Snowflake};

/// The crates below this one: the rules, and the stores.
pub use {snowmint_core as core, snowmint_stores as stores};
