//! Forking, by the C library and around it.
#![allow(unsafe_code, reason = "fork is a C interface")]

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

/// Runs `child` in a child of `fork`, which then exits. Returns the child's process number.
pub(crate) fn fork(child: impl FnOnce() -> io::Result<()>) -> io::Result<i32> {
    // SAFETY: the child runs code that waits for no lock of other threads, and exits without unwinding further.
    in_child(unsafe { libc::fork() }, child)
}

/// As `fork`, but by the system call, so that no handler of `pthread_atfork` runs.
///
/// A thread that begins or ends holds a lock of the dynamic linker, which `fork` frees in the child, and the system call does
/// not. So this waits until all other threads sleep.
pub(crate) fn raw_clone(child: impl FnOnce() -> io::Result<()>) -> io::Result<i32> {
    while !other_threads_sleep()? {
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: as in `fork`; without flags that share memory a clone is a fork.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    in_child(i32::try_from(pid).map_err(io::Error::other)?, child)
}

/// Returns whether all threads but this one sleep, by proc(5).
fn other_threads_sleep() -> io::Result<bool> {
    let own = fs::read_link("/proc/thread-self")?;
    for thread in fs::read_dir("/proc/self/task")? {
        let thread = thread?;
        // A thread may end meanwhile. Its state follows its name, which is in brackets.
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit(") ").next().unwrap_or_default();
        if !own.ends_with(thread.file_name()) && !state.starts_with('S') {
            return Ok(false);
        }
    }
    Ok(true)
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
