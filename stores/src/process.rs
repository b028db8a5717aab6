//! What belongs to one process: its identity, memory that a forked child sees wiped, threads and clocks.
//!
//! The crate `snowmint` builds its generators, leases and slots on it. Other users do not need it.

pub mod background;
pub mod fork;
pub mod label;
mod lock;
pub mod monotonic;
pub mod nonce;
mod owner;
mod reserve;
#[cfg(feature = "numbers")]
mod runtime;
pub mod wake;

pub use self::lock::lock;
pub use self::owner::Owner;
#[cfg(feature = "numbers")]
pub(crate) use self::owner::forked;
pub use self::reserve::reserve;
#[cfg(feature = "numbers")]
pub use self::runtime::{adopt, runtime};
