//! Atomic words: of the crate `core`, of `portable-atomic` on targets without 64-bit atomics, of loom in its model
//! checker.

#[cfg(all(not(loom), target_has_atomic = "64"))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(all(not(loom), not(target_has_atomic = "64")))]
pub(crate) use portable_atomic::{AtomicU64, Ordering};
