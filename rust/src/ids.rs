//! 128-bit and 96-bit IDs, minted with state of this process.

pub(crate) mod minter;
pub mod object_id;
pub mod ulid;
pub mod uuid;
