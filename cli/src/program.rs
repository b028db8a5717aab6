//! The command line of the packages for Python and Node, which have no verb of a server.

use std::ffi::OsString;
use std::fmt::Display;

use clap::Parser;
use clap::error::ContextKind;
use snowmint::host::{Backend, Connect};
use snowmint_core::ErrorKind;
use snowmint_stores::Error;

use crate::arguments::{PackageVerb, SequenceVerb};
use crate::exit::{Exit, of_arguments};
use crate::verbs::sequence::virtual_range;

/// What a host language gives to the verbs.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Connects to a store of another URL than `file:DIRECTORY`.
    pub connect: Option<Connect>,
}

/// Mint and read IDs of the Snowflake family.
#[derive(Debug, Parser)]
#[command(name = "snowmint", version, max_term_width = 80, after_help = after_help())]
struct Arguments {
    #[command(subcommand)]
    verb: PackageVerb,
}

/// The verbs that need a store, or are a server. The program of the crate `snowmint-server` has them.
const SERVER_VERBS: [&str; 9] =
    ["serve", "lease", "namespace", "sequence", "segment", "key", "backup", "fence", "completions"];
/// The verbs of `sequence` that need a store.
const SEQUENCE_VERBS: [&str; 5] = ["create", "next", "set", "format", "show"];
/// The stores that no driver of Python or Node opens. The program has them.
const PROGRAM_SCHEMES: [&str; 3] = ["nats", "natss", "zookeeper"];
/// The stores that are opened by drivers of the host language, where the host has a function for that.
const DRIVER_SCHEMES: [&str; 10] =
    ["etcd", "etcds", "mariadb", "memory", "mysql", "postgres", "postgresql", "redis", "rediss", "sqlite"];

fn after_help() -> String {
    let [verbs @ .., last] = SERVER_VERBS;
    format!(
        "Exit codes: 0 for success, 1 for a failure or an unknown ID, 2 for wrong input.\n\
         The program of the crate snowmint-server also has the verbs {} and {last}.",
        verbs.join(", ")
    )
}

/// Returns the message for a verb or a store that only the program has.
fn missing(what: impl Display) -> String {
    format!(
        "this package has no {what}: install the program of the crate snowmint-server, as a file of a release or by cargo \
         install snowmint-server"
    )
}

/// Connects as the host does, and says which program has the stores that the host lacks.
fn connect(given: Option<Connect>) -> Connect {
    Connect::new(move |url| {
        let scheme = url.split(':').next().unwrap_or_default();
        if PROGRAM_SCHEMES.contains(&scheme) || (given.is_none() && DRIVER_SCHEMES.contains(&scheme)) {
            // The program that cargo installs has every store but this one.
            let features = if scheme.starts_with("etcd") { " --features etcd" } else { "" };
            let message = format!("{}{features}", missing(format_args!("store {scheme}")));
            return Err(Error::new(ErrorKind::InvalidStore, message));
        }
        given.as_ref().map_or_else(|| Backend::of_url(url), |given| given.connect(url))
    })
}

/// Runs the command line `arguments`, of which the first is the name of the program. Returns the exit code.
///
/// # Examples
/// ```
/// let code = snowmint_cli::main(["snowmint", "inspect", "1541815603606036480"].map(Into::into), &Default::default());
/// assert_eq!(code, 0);
/// let code = snowmint_cli::main(["snowmint", "serve"].map(Into::into), &Default::default());
/// assert_eq!(code, 2);
/// ```
pub fn main(arguments: impl IntoIterator<Item = OsString>, host: &Host) -> u8 {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let done = match Arguments::try_parse_from(&arguments) {
        Ok(Arguments { verb: PackageVerb::Common(verb) }) => {
            verb.run(&Host { connect: Some(connect(host.connect.clone())) })
        }
        Ok(Arguments { verb: PackageVerb::Sequence(SequenceVerb::Virtual { name, json }) }) => {
            virtual_range(&name, json)
        }
        Err(error) => {
            let unknown = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
            let of_sequence = arguments.get(1).is_some_and(|verb| verb == "sequence");
            let (of, verbs) = if of_sequence { ("sequence ", &SEQUENCE_VERBS[..]) } else { ("", &SERVER_VERBS[..]) };
            if !verbs.contains(&unknown.as_str()) {
                return of_arguments(&error, arguments.get(1));
            }
            Err(Exit::Wrong(missing(format_args!("verb {of}{unknown}"))))
        }
    };
    done.unwrap_or_else(Exit::report)
}
