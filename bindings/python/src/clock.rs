//! The system's clock, read without the standard library, whose conversions cost 2 of the 51 ns of a `next_id`.
#![allow(unsafe_code)]

use snowmint_core::SystemHost;

/// Returns the system's time, Unix ms.
#[cfg(unix)]
#[inline]
#[allow(clippy::useless_conversion, reason = "of 32 bits on some platforms")]
pub(crate) fn unix_ms() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer leads to a `timespec` on the stack, which the call only writes.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    let whole_ms = i64::from(now.tv_sec).checked_mul(1000).filter(|_| done == 0);
    let ms = whole_ms.and_then(|ms| ms.checked_add(i64::from(now.tv_nsec) / 1_000_000));
    ms.unwrap_or_else(SystemHost::unix_ms)
}

/// Returns the system's time, Unix ms.
#[cfg(not(unix))]
#[inline]
pub(crate) fn unix_ms() -> i64 {
    SystemHost::unix_ms()
}
