//! The command line, for `npx snowmint`.

use std::iter::once;

use napi_derive::napi;
use snowmint_cli::Host;

/// Runs the command line on the thread of the caller. `words` follow the name of the program. Returns the exit code.
#[napi(catch_unwind)]
pub fn main(words: Vec<String>) -> u32 {
    let arguments = once("snowmint".to_owned()).chain(words).map(Into::into);
    snowmint_cli::main(arguments, &Host::default()).into()
}
