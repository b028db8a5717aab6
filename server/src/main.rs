//! `snowmint`: mints and reads IDs, and serves IDs and numbers over HTTP and the Redis protocol.

mod arguments;
mod auth;
mod connections;
mod definition;
mod files;
mod http;
mod metrics;
mod monitor;
mod monitored_store;
mod range_log;
mod resp;
mod service;
mod tls;
mod verbs;

use std::process::ExitCode;

use clap::Parser as _;
use snowmint_cli::{Exit, Host, of_arguments};

use self::arguments::{Arguments, Verb};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return of_arguments(&error, std::env::args_os().nth(1).as_ref()).into(),
    };
    let done = match arguments.verb {
        Verb::Common(verb) => verb.run(&Host::default()),
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
    done.unwrap_or_else(Exit::report).into()
}
