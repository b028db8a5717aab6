//! A clock that never steps.

use std::sync::OnceLock;
use std::time::Instant;

/// Ms since some time before, of a clock that neither steps nor stops while the machine sleeps, where there is one.
#[cfg(target_os = "linux")]
pub(crate) fn steady_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // Both are positive; a boot is less than 2^63 ms ago.
    now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000
}

/// Ms since some time before, of a clock that never steps.
#[cfg(not(target_os = "linux"))]
pub(crate) fn steady_ms() -> u64 {
    since_first_call()
}

#[cfg_attr(target_os = "linux", allow(dead_code, reason = "there is a better one"))]
fn since_first_call() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    // Ages of processes are far below 2^64 ms.
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}
