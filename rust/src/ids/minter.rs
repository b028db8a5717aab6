//! What a process remembers to mint UUIDs, ULIDs and `ObjectId`s: one state for all its threads. A forked child starts
//! with none of it.

use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use snowmint_core::mutant;
use snowmint_core::object_id::ObjectIdState;
use snowmint_core::ulid::UlidState;
use snowmint_core::uuid::{GregorianState, V7State};
use snowmint_stores::Error;
use snowmint_stores::process::fork::PerProcess;

use crate::ids::entropy::Entropy;

/// Counters, and random bits not used yet.
#[derive(Debug, Default)]
pub(crate) struct Minter {
    pub(crate) entropy: Entropy,
    pub(crate) gregorian: GregorianState,
    pub(crate) v7: V7State,
    pub(crate) ulid: UlidState,
    pub(crate) object_id: ObjectIdState,
}

/// The most words of random bits that one ID takes.
const WORDS_AN_ID: usize = 4;

static MINTER: PerProcess<Mutex<Minter>> = PerProcess::new();

/// Has `step` mint with the state of this process, while no other thread does.
#[inline]
pub(crate) fn mint<T>(mut step: impl FnMut(&mut Minter) -> Result<T, snowmint_core::Error>) -> Result<T, Error> {
    loop {
        let shared = shared();
        let mut minter = shared.lock().unwrap_or_else(PoisonError::into_inner);
        minter.entropy.hold(WORDS_AN_ID)?;
        let minted = step(&mut minter)?;
        drop(minter);
        // If a signal handler has forked meanwhile, and this is the child, the parent gets the same.
        if MINTER.existing().is_some_and(|now| ptr::eq(now, shared)) || mutant::removes("renew") {
            return Ok(minted);
        }
    }
}

#[inline]
fn shared() -> &'static Mutex<Minter> {
    if mutant::removes("renew") {
        static INHERITED: LazyLock<Mutex<Minter>> = LazyLock::new(Mutex::default);
        return &INHERITED;
    }
    MINTER.get()
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
    #[allow(unsafe_code, reason = "a C interface")]
    fn fork() -> Option<libc::pid_t> {
        // SAFETY: the child mints, writes to a pipe and ends, all of which it may although it was forked from a thread.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "a process can be forked");
        (child > 0).then_some(child)
    }

    #[allow(unsafe_code, reason = "a C interface")]
    fn wait(child: libc::pid_t) {
        // SAFETY: a child of this process, not waited for yet.
        unsafe { libc::waitpid(child, ptr::null_mut(), 0) };
    }

    #[allow(unsafe_code, reason = "a C interface")]
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
            let uuid = mint(|minter| {
                let uuid = minter.v7.next(1000, || minter.entropy.word())?;
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
        // The child's counter began at a random number of its own.
        assert!(uuids[0].abs_diff(theirs[0]) >> 32 > 1000);
    }
}
