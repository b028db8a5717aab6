//! What belongs to one process: its identity, memory that a forked child sees wiped, threads and clocks.

pub mod background;
pub mod environment;
pub mod fork;
pub mod label;
pub mod monotonic;
pub mod nonce;
mod owner;
#[cfg(feature = "engines")]
pub mod runtime;
pub(crate) mod wake;

pub use self::owner::Owner;
