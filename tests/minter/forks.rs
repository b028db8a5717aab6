//! Forking, by the C library and around it.
#![allow(unsafe_code, reason = "fork is a C interface")]

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `child` in a child of `fork`, which then exits. Returns the child's process number.
pub(crate) fn fork(child: impl FnOnce() -> io::Result<()>) -> io::Result<i32> {
    // SAFETY: the child runs code that waits for no lock of other threads, and exits without unwinding further.
    in_child(unsafe { libc::fork() }, child)
}

/// As `fork`, but by the system call, so that no handler of `pthread_atfork` runs.
pub(crate) fn raw_clone(child: impl FnOnce() -> io::Result<()>) -> io::Result<i32> {
    // SAFETY: as in `fork`; without flags that share memory a clone is a fork.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    in_child(i32::try_from(pid).map_err(io::Error::other)?, child)
}

fn in_child(pid: i32, child: impl FnOnce() -> io::Result<()>) -> io::Result<i32> {
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => match catch_unwind(AssertUnwindSafe(child)) {
            Ok(done) => std::process::exit(i32::from(done.is_err())),
            // Without destructors, which may wait for threads that the child does not have.
            // SAFETY: ends the process.
            Err(_) => unsafe { libc::_exit(101) },
        },
        pid => Ok(pid),
    }
}

/// Waits for a child and returns its exit status.
pub(crate) fn wait(pid: i32) -> io::Result<i32> {
    let mut status = 0;
    // SAFETY: `status` is an int to write to.
    if unsafe { libc::waitpid(pid, &raw mut status, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 })
}
