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

pub mod bytes;
pub mod durability;
mod error;
mod generator;
#[doc(hidden)]
pub mod host;
pub mod ids;
mod int;
pub mod ksuid;
mod layout;
pub mod layouts;
pub mod lease;
#[cfg(feature = "mask")]
pub mod mask;
#[doc(hidden)]
pub mod mutant;
mod name;
#[cfg(feature = "names")]
pub mod names;
pub mod object_id;
pub mod pin;
pub mod place;
pub mod prefix;
mod random;
pub mod scatter;
pub mod section;
pub mod segment;
pub mod sequence;
#[cfg(feature = "serde")]
mod serde;
pub mod shown;
pub mod store;
mod sync;
mod text;
pub mod ticket;
pub mod time;
pub mod ulid;
pub mod uuid;
mod window;
pub mod xid;

pub use self::error::{Error, ErrorKind};
#[doc(hidden)]
pub use self::generator::Minter;
#[cfg(feature = "std")]
pub use self::generator::SystemHost;
pub use self::generator::{CycleClock, Host, LocalRun, Options, Run, SequenceStart, Snowflake, Words};
pub use self::int::{Integer, MAX_BATCH};
pub use self::ksuid::Ksuid;
pub use self::layout::{Field, Layout, MAX_FIELDS, MAX_NODE_BITS, Numbers, Part, Parts};
pub use self::name::Name;
pub use self::object_id::ObjectId;
pub use self::prefix::TypeId;
pub use self::text::{IdText, TextForm};
pub use self::ulid::Ulid;
pub use self::uuid::{Uuid, UuidForm, UuidVariant};
pub use self::window::Window;
pub use self::xid::Xid;
