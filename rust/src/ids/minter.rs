//! The states of this process that mint UUIDs, ULIDs and `ObjectId`s, shared by all threads. A forked child starts
//! without them.
#![allow(unsafe_code, reason = "the lock may be the host's")]

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use snowmint_core::ids::{Pool, States};
use snowmint_core::{ErrorKind, mutant};
use snowmint_stores::Error;
use snowmint_stores::host::fork::PerProcess;
use snowmint_stores::host::lock;

static STATES: PerProcess<Shared> = PerProcess::new();
/// Whether the host lets one thread at a time mint.
static HOST_LOCKS: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct Shared {
    lock: Mutex<()>,
    states: UnsafeCell<States>,
}

// SAFETY: one thread at a time uses the states, by the lock or by the host's.
unsafe impl Sync for Shared {}

/// Says that the host lets one thread at a time mint, as CPython's global interpreter lock does. Then no call takes a lock of
/// this module: a lock takes as much time as the rest of a UUID.
///
/// # Safety
/// From now on no two threads call functions of [`uuid`](crate::uuid), [`ulid`](crate::ulid), [`object_id`](crate::object_id),
/// [`ksuid`](crate::ksuid), [`xid`](crate::xid) or [`type_id`](crate::type_id) at the same time.
#[doc(hidden)]
pub unsafe fn host_locks() {
    HOST_LOCKS.store(true, Ordering::Relaxed);
}

/// Calls `step` with the states of this process, for one thread at a time.
#[inline]
pub(crate) fn mint<T>(mut step: impl FnMut(&mut States) -> Result<T, snowmint_core::Error>) -> Result<T, Error> {
    loop {
        let shared = shared();
        let locked = (!HOST_LOCKS.load(Ordering::Relaxed)).then(|| lock(&shared.lock));
        // SAFETY: no other thread is here, by the lock or by the promise of `host_locks`. `step` and `fill` do not mint.
        let states = unsafe { &mut *shared.states.get() };
        if states.pool.is_dry() {
            fill(&mut states.pool)?;
        }
        let minted = step(states)?;
        drop(locked);
        // If a signal handler forked meanwhile and this is the child, then the parent mints the same ID.
        if STATES.existing().is_some_and(|now| ptr::eq(now, shared)) || mutant::removes("renew") {
            return Ok(minted);
        }
    }
}

/// Fills the pool by `ChaCha20` under a new key of the operating system. A byte of the system itself costs ten times as much.
#[cold]
fn fill(pool: &mut Pool) -> Result<(), Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| {
        Error::new(ErrorKind::StoreUnavailable, format!("the system gives no random bytes: {error}"))
    })?;
    let mut numbers = ChaCha20Rng::from_seed(key);
    pool.numbers().fill_with(|| numbers.next_u32());
    pool.filled(Pool::SIZE);
    Ok(())
}

#[inline]
fn shared() -> &'static Shared {
    if mutant::removes("renew") {
        static INHERITED: LazyLock<Shared> = LazyLock::new(Shared::default);
        return &INHERITED;
    }
    STATES.get()
}

/// The system's time: 100 ns since 1970.
pub(crate) fn unix_100ns() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos() / 100).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos() / 100).map_or(i64::MIN, |units| -units),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read, Write, pipe};

    /// Forks; in the child, where the answer is `None`, the caller has to end the process.
    fn fork() -> Option<libc::pid_t> {
        // SAFETY: the child mints, writes to a pipe and ends, all of which it may although it was forked from a thread.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "a process can be forked");
        (child > 0).then_some(child)
    }

    fn wait(child: libc::pid_t) {
        // SAFETY: a child of this process, not waited for yet.
        unsafe { libc::waitpid(child, ptr::null_mut(), 0) };
    }

    fn end() -> ! {
        // SAFETY: without handlers, which are the test runner's.
        unsafe { libc::_exit(0) }
    }

    fn read(mut from: PipeReader) -> Vec<u8> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("a pipe");
        bytes
    }

    #[test]
    fn a_child_forked_in_the_midst_of_minting_begins_again_with_a_state_of_its_own() {
        let (from, mut to) = pipe().expect("a pipe");
        let mut forked = None;
        let mut steps = 0;
        let uuids: [u128; 3] = std::array::from_fn(|_| {
            let uuid = mint(|states| {
                let uuid = states.v7(1000)?;
                steps += 1;
                // The lock is held, the counter has moved on, and nothing is handed out yet.
                if forked.is_none() {
                    forked = Some(fork());
                }
                Ok(uuid)
            });
            uuid.expect("the system has random bits").to_bits()
        });
        let Some(Some(child)) = forked else {
            // Minted again, once.
            let ok = steps == 4 && to.write_all(&uuids.map(u128::to_be_bytes).concat()).is_ok();
            if ok { end() } else { std::process::abort() }
        };
        wait(child);
        drop(to);
        let theirs: Vec<_> = read(from).as_chunks().0.iter().map(|bytes| u128::from_be_bytes(*bytes)).collect();
        assert_eq!((steps, theirs.len()), (3, 3));
        for uuids in [&uuids[..], &theirs] {
            assert!(uuids.is_sorted_by(|a, b| a < b));
        }
        assert!(theirs.iter().all(|uuid| !uuids.contains(uuid)), "{uuids:x?} {theirs:x?}");
        // The child's counter began at another random number.
        assert!(uuids[0].abs_diff(theirs[0]) >> 32 > 1000);
    }
}
