//! The system's time for minting. Uses the processor's cycle counter if it is reliable.

use snowmint_core::SystemHost;

/// Returns the system's time, Unix ms. Reads the clock once in a ms, and in between the counter of this processor.
///
/// Follows a change of the clock at the end of the current ms. After a failure, callers read the clock itself.
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
    use std::time::{Instant, SystemTime};
    use std::{env, fs};

    use once_cell::race::OnceBool;
    use snowmint_core::CycleClock;

    use super::SystemHost;

    thread_local! {
        static CLOCK: Cell<CycleClock> = const { Cell::new(CycleClock::new()) };
        /// The first reading of this thread.
        static STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    /// Whether the counter is used. Not a lock, which a forked child could find taken for ever.
    static TRUSTED: OnceBool = OnceBool::new();

    #[inline]
    pub(super) fn unix_ms() -> i64 {
        if !TRUSTED.get_or_init(|| is_invariant() && kernel_uses_it() && !is_faked()) {
            return SystemHost::unix_ms();
        }
        let counter = cycles();
        CLOCK.with(|cell| {
            let mut clock = cell.get();
            let ms = clock.unix_ms(counter);
            cell.set(clock);
            ms.unwrap_or_else(|| read(cell, counter))
        })
    }

    #[inline]
    fn cycles() -> u64 {
        // SAFETY: every processor of this architecture has the instruction, which reads no memory.
        unsafe { _rdtsc() }
    }

    /// Reads the clock.
    #[cold]
    #[inline(never)]
    fn read(cell: &Cell<CycleClock>, counter: u64) -> i64 {
        let Ok(since) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) else { return SystemHost::unix_ms() };
        let Ok(unix_ms) = i64::try_from(since.as_millis()) else { return SystemHost::unix_ms() };
        let mut clock = cell.get();
        if clock.show(counter, unix_ms, u64::from(since.subsec_nanos() % 1_000_000)) {
            let (before, now, after) = (cycles(), Instant::now(), cycles());
            let started = STARTED.get().unwrap_or(now);
            STARTED.set(Some(started));
            clock.learn([before, after], u64::try_from(now.duration_since(started).as_nanos()).unwrap_or(0));
        }
        cell.set(clock);
        unix_ms
    }

    /// Returns whether the counter has the same speed in all states of the processor.
    fn is_invariant() -> bool {
        const POWER: u32 = 0x8000_0007;
        #[allow(unused_unsafe, reason = "the instruction is safe with later compilers")]
        // SAFETY: every processor of this architecture has the instruction.
        unsafe {
            __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & (1 << 8) != 0
        }
    }

    /// Returns whether Linux makes its own time from the counter; it stops where the counter proves wrong, and a virtual
    /// machine that emulates the counter is slow to read it. True for other systems.
    fn kernel_uses_it() -> bool {
        let source = fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        source.map_or(true, |name| ["tsc", "kvm-clock"].iter().any(|known| name.contains(known)))
    }

    /// Returns whether `faketime` replaces the clock.
    fn is_faked() -> bool {
        env::var_os("LD_PRELOAD").is_some_and(|names| names.to_string_lossy().contains("faketime"))
    }
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
