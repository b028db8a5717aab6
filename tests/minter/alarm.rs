//! Forks in a signal handler.
#![allow(unsafe_code, reason = "signals and fork are C interfaces")]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};
use std::{io, ptr, thread};

unsafe extern "C" {
    /// As `fork`, but takes no locks: glibc's `fork` waits for the allocator's, which the interrupted code may hold.
    fn _Fork() -> libc::pid_t;
}

/// The child that the signal handler has forked: 0 in the child, -1 before.
static FORKED: AtomicI32 = AtomicI32::new(-1);

extern "C" fn fork_in_handler(_: libc::c_int) {
    // SAFETY: the calls take no pointers.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    if thread == process {
        // SAFETY: the child continues where the signal has interrupted the parent.
        let child = unsafe { _Fork() };
        FORKED.store(child, Ordering::Release);
        if child == 0 {
            let stuck: extern "C" fn(libc::c_int) = stuck;
            // SAFETY: the handler is a function without captures.
            unsafe {
                libc::signal(libc::SIGALRM, stuck as libc::sighandler_t);
                libc::alarm(TIMEOUT_S);
            }
        }
    } else {
        // The system picks any thread, but only the first thread mints, so the signal is sent on.
        // SAFETY: the call takes no pointers.
        unsafe { libc::syscall(libc::SYS_tgkill, process, process, libc::SIGALRM) };
    }
}

/// Ends a child that waits for a lock without an owner that could free it.
extern "C" fn stuck(_: libc::c_int) {
    leave(NO_THREADS);
}

/// Forks in a signal handler, `us` µs from now.
pub(crate) fn fork_after(us: i64) -> io::Result<()> {
    // For its first thread, the standard library takes the lock of the dynamic linker, which a child of `_Fork` could never
    // take again.
    thread::spawn(|| {}).join().map_err(|_| io::ErrorKind::Other)?;
    let handler: extern "C" fn(libc::c_int) = fork_in_handler;
    let once = libc::timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 };
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: never, it_value: once };
    // SAFETY: all zero is an action without flags and mask, and the handler is a function without captures.
    let set = unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut())
    };
    // SAFETY: the call reads the timer; null skips its former value.
    let armed = unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) };
    if set == 0 && armed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The exit status of a child that cannot start a thread: its parent had the lock of the dynamic linker at the fork, and `_Fork`
/// leaves it taken for ever.
pub(crate) const NO_THREADS: i32 = 3;

/// How long a child may take to claim a node and to mint, in seconds.
const TIMEOUT_S: libc::c_uint = 20;

/// Ends the process at once, so that it releases no lease.
pub(crate) fn leave(status: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

/// Waits until the handler has forked. Returns the child's process number, 0 in the child.
pub(crate) fn forked() -> i32 {
    loop {
        match FORKED.load(Ordering::Acquire) {
            -1 => thread::yield_now(),
            pid => return pid,
        }
    }
}
