//! The atomic word: core's own, `portable-atomic`'s on targets without 64-bit atomics, or loom's under its model checker.

#[cfg(all(not(loom), target_has_atomic = "64"))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(all(not(loom), not(target_has_atomic = "64")))]
pub(crate) use portable_atomic::{AtomicU64, Ordering};
