//! IDs of more than 64 bits, and the states that mint them.

pub mod ids;
pub mod ksuid;
#[cfg(feature = "mask")]
pub mod mask;
pub mod object_id;
#[cfg(feature = "serde")]
mod serde;
pub mod type_id;
pub mod ulid;
pub mod uuid;
pub mod xid;
