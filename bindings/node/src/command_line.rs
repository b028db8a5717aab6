//! The command line, for `npx snowmint`.

use std::iter::once;

use napi_derive::napi;
use snowmint_cli::Host;

/// Runs the command line on the thread of the caller. `words` stand after the name of the program. Returns the exit code.
#[napi(catch_unwind)]
pub fn main(words: Vec<String>) -> u32 {
    interruptible();
    let arguments = once("snowmint".to_owned()).chain(words).map(Into::into);
    snowmint_cli::main(arguments, &Host::default()).into()
}

/// Lets the signals that ask a program to end have their usual effect. Node's handlers raise the signal again, without an end
/// if a verb listens to it too.
#[cfg(unix)]
#[allow(unsafe_code, reason = "signals have a C interface")]
fn interruptible() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the default action runs no code of the process.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

#[cfg(not(unix))]
const fn interruptible() {}
