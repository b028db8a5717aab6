//! The atomic word: core's own, or `portable-atomic` on targets without 64-bit atomics.

#[cfg(target_has_atomic = "64")]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(target_has_atomic = "64"))]
pub(crate) use portable_atomic::{AtomicU64, Ordering};
