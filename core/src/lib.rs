#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
// Casts to `usize` and `u32` here follow a check of the range, on the line before or in the type's constructor.
#![allow(clippy::cast_possible_truncation)]

#[cfg(feature = "names")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod error;
mod forms;
mod generator;
mod id;
mod int;
mod layout;
pub mod lease;
#[doc(hidden)]
pub mod mutant;
mod numbers;
mod random;
pub mod store;
mod sync;
pub mod time;
mod wide;
mod window;

/// Items that the crates of this repository share. They may change in any version.
#[doc(hidden)]
pub mod host {
    pub use crate::error::What;
    pub use crate::forms::prefix::any_prefix;
    pub use crate::forms::text::wide;
    pub use crate::generator::whole_ms;
    pub use crate::numbers::fields::{Fields, UNDEFINED};
    pub use crate::random::mix;
}

pub use self::error::{Error, ErrorKind};
pub use self::forms::name::Name;
pub use self::forms::text::{IdText, TextForm};
pub use self::forms::{names, prefix, scatter, shown};
#[doc(hidden)]
pub use self::generator::Minter;
#[cfg(feature = "std")]
pub use self::generator::SystemHost;
pub use self::generator::{CycleClock, Host, LocalRun, Options, Run, SequenceStart, Snowflake, Words};
pub use self::id::Id;
pub use self::int::{Integer, MAX_BATCH};
pub use self::layout::{Field, Layout, LayoutId, MAX_FIELDS, MAX_NODE_BITS, Nodes, Part, Parts, ShownNodes, layouts};
#[cfg(feature = "formatted")]
pub use self::numbers::formatted;
pub use self::numbers::{native, section, segment, sequence, ticket};
pub use self::store::{bytes, durability, pin, place};
pub use self::wide::ksuid::Ksuid;
#[cfg(feature = "mask")]
pub use self::wide::mask;
pub use self::wide::object_id::ObjectId;
pub use self::wide::type_id::TypeId;
pub use self::wide::ulid::Ulid;
pub use self::wide::uuid::{Uuid, UuidForm, UuidVariant};
pub use self::wide::xid::Xid;
pub use self::wide::{ids, ksuid, object_id, ulid, uuid, xid};
pub use self::window::Window;
