//! The system's time for minting, by the processor's counter of cycles where there is one that can be trusted.

use snowmint_core::SystemHost;

/// Returns the system's time, Unix ms. Reads the clock once in a ms, and in between the counter of this processor.
///
/// A clock that is set is followed at the end of its ms. Callers whose call fails read the clock itself.
#[inline]
pub fn unix_ms() -> i64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return counter::unix_ms();
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    SystemHost::unix_ms()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod counter {
    #![allow(unsafe_code, reason = "the counter is an instruction of the processor")]

    use std::arch::x86_64::{__cpuid, _rdtsc};
    use std::cell::Cell;
    use std::env;
    use std::sync::LazyLock;
    use std::time::{Instant, SystemTime};

    use snowmint_core::CycleClock;

    use super::SystemHost;

    thread_local! {
        static CLOCK: Cell<CycleClock> = const { Cell::new(CycleClock::new()) };
    }

    #[inline]
    pub(super) fn unix_ms() -> i64 {
        // SAFETY: every processor of this architecture has the instruction, which reads no memory.
        let counter = unsafe { _rdtsc() };
        CLOCK.with(|cell| {
            let mut clock = cell.get();
            let ms = clock.unix_ms(counter);
            cell.set(clock);
            ms.unwrap_or_else(|| read(cell, counter))
        })
    }

    /// Reads the clock.
    #[cold]
    #[inline(never)]
    fn read(cell: &Cell<CycleClock>, counter: u64) -> i64 {
        let Ok(since) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) else { return SystemHost::unix_ms() };
        let Ok(unix_ms) = i64::try_from(since.as_millis()) else { return SystemHost::unix_ms() };
        let mut clock = cell.get();
        if clock.show(counter, unix_ms, u64::from(since.subsec_nanos() % 1_000_000)) && *TRUSTED {
            clock.learn(counter, u64::try_from(STARTED.elapsed().as_nanos()).unwrap_or(0));
        }
        cell.set(clock);
        unix_ms
    }

    static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// Whether the counter has the same speed in all states of the processor, and time is not faked by `faketime`.
    static TRUSTED: LazyLock<bool> = LazyLock::new(|| {
        const POWER: u32 = 0x8000_0007;
        #[allow(unused_unsafe, reason = "the instruction is safe with later compilers")]
        // SAFETY: every processor of this architecture has the instruction.
        let invariant = unsafe { __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & (1 << 8) != 0 };
        invariant && !env::var_os("LD_PRELOAD").is_some_and(|names| names.to_string_lossy().contains("faketime"))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_clock_before_and_after() {
        for _ in 0..1_000_000 {
            let before = SystemHost::unix_ms();
            let now = unix_ms();
            let after = SystemHost::unix_ms();
            assert!((before..=after).contains(&now), "{now} is not within {before} and {after}");
        }
    }
}
