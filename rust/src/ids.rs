//! IDs of more than 64 bits, minted with state of this process.

pub mod ksuid;
pub(crate) mod minter;
pub mod object_id;
pub mod type_id;
pub mod ulid;
pub mod uuid;
pub mod xid;
