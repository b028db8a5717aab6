//! A clock that never steps.

#[cfg(not(target_os = "linux"))]
use std::sync::OnceLock;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

/// µs since some time before, of a clock that neither steps nor stops while the machine sleeps, where there is one.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn steady_us() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // A boot is less than 2^63 µs ago.
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}

/// µs since some time before, of a clock that never steps.
#[cfg(not(target_os = "linux"))]
pub(crate) fn steady_us() -> i64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    i64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_micros()).unwrap_or(i64::MAX)
}

/// The same in ms.
#[cfg(feature = "engines")]
pub(crate) fn steady_ms() -> u64 {
    steady_us().unsigned_abs() / 1000
}
