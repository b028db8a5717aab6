//! The command line of the packages for Python and Node, which have no verb of a server.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;

use clap::Parser;
use snowmint::host::{Backend, Connect};
use snowmint_core::ErrorKind;
use snowmint_stores::Error;

use crate::arguments::{AFTER_HELP, PackageVerb, SERVER_VERBS, SequenceVerb};
use crate::exit::{Exit, of_arguments};
use crate::verbs::sequence::virtual_range;

/// The functions that a host language gives to the verbs.
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

/// The stores that no driver of Python or Node opens. The program has them.
const PROGRAM_SCHEMES: [&str; 3] = ["nats", "natss", "zookeeper"];
/// The stores that are opened by drivers of the host language, where the host has a function for that.
const DRIVER_SCHEMES: [&str; 10] =
    ["etcd", "etcds", "mariadb", "memory", "mysql", "postgres", "postgresql", "redis", "rediss", "sqlite"];

fn after_help() -> String {
    format!(
        "{AFTER_HELP}\nThe program of the crate snowmint-server also has the verbs {}, and all of sequence.",
        SERVER_VERBS.join(", ")
    )
}

/// Returns the message for a verb or a store that only the program has.
fn missing(what: impl Display) -> String {
    format!(
        "this package has no {what}: install the program of the crate snowmint-server, as a file of a release or by cargo \
         install snowmint-server"
    )
}

/// Returns the message for a verb that only the program has.
fn of_server(verb: &[OsString]) -> Exit {
    Exit::Wrong(missing(format_args!("verb {}", verb.join(OsStr::new(" ")).display())))
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
        Ok(Arguments { verb: PackageVerb::OfServer(_) }) => Err(of_server(&arguments[1..2])),
        Ok(Arguments { verb: PackageVerb::Sequence(SequenceVerb::OfServer(_)) }) => Err(of_server(&arguments[1..3])),
        Err(error) => return of_arguments(&error, arguments.get(1)),
    };
    done.unwrap_or_else(Exit::report)
}
