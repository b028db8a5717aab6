//! A clock that never steps.

#[cfg(not(target_os = "linux"))]
use std::sync::OnceLock;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

/// Returns µs since a fixed instant, by a clock that neither steps nor stops while the machine sleeps.
#[cfg(target_os = "linux")]
#[inline]
pub fn monotonic_us() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // A boot is less than 2^63 µs ago.
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}

/// Returns µs since a fixed instant, by a clock that never steps.
#[cfg(not(target_os = "linux"))]
#[inline]
pub fn monotonic_us() -> i64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    i64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_micros()).unwrap_or(i64::MAX)
}

/// Returns ms since a fixed instant, by the clock of [`monotonic_us`].
#[cfg(feature = "numbers")]
pub fn monotonic_ms() -> u64 {
    monotonic_us().unsigned_abs() / 1000
}
