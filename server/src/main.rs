//! `snowmint`: mints and reads IDs, and serves IDs and numbers over HTTP and the Redis protocol.

mod arguments;
mod auth;
mod connections;
mod exit;
mod files;
mod http;
mod json;
mod metrics;
mod monitor;
mod resp;
mod service;
mod tls;
mod verbs;
mod watched;

use std::process::ExitCode;

use clap::Parser as _;

use self::arguments::{Arguments, Verb};
use self::exit::Exit;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::of_arguments(&error),
    };
    let done = match arguments.verb {
        Verb::Gen(options) => verbs::generate(&options),
        Verb::Inspect(options) => verbs::inspect(&options),
        Verb::Layouts(options) => verbs::layouts(&options),
        Verb::Doctor(options) => verbs::doctor(&options),
        Verb::Audit(options) => verbs::audit(&options),
        Verb::Mask(options) => verbs::mask(&options),
        Verb::Lease(options) => verbs::lease(&options),
        Verb::Namespace(options) => verbs::namespace(&options),
        Verb::Sequence(options) => verbs::sequence(&options),
        Verb::Segment(options) => verbs::segment(&options),
        Verb::Key(options) => verbs::key(&options),
        Verb::Backup(options) => verbs::backup(&options),
        Verb::Fence(options) => verbs::fence(&options),
        Verb::Serve(options) => verbs::serve(&options),
        Verb::Completions { shell } => verbs::completions(shell),
    };
    done.unwrap_or_else(Exit::report)
}
