//! The command line of the packages for Python and Node, which have no verb of a server.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ContextKind;
use snowmint::Connect;

use crate::arguments::Verb;
use crate::exit::{Exit, of_arguments};

/// What a host language gives to the verbs.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Connects to a store of another URL than `file:DIRECTORY`.
    pub connect: Option<Connect>,
}

/// Mint and read IDs of the Snowflake family.
#[derive(Debug, Parser)]
#[command(name = "snowmint", version, max_term_width = 80)]
#[command(after_help = "Exit codes: 0 for success, 1 for a failure or an unknown ID, 2 for wrong input.\n\
    The program of the crate snowmint-server also has the verbs serve, lease, namespace, sequence, segment, key, backup, fence \
    and completions.")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs that need a store, or are a server.
const OF_THE_SERVER: [&str; 9] =
    ["serve", "lease", "namespace", "sequence", "segment", "key", "backup", "fence", "completions"];

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
        Ok(Arguments { verb }) => verb.run(host),
        Err(error) => {
            let unknown = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
            let Some(verb) = OF_THE_SERVER.into_iter().find(|verb| unknown.as_deref() == Some(verb)) else {
                return of_arguments(&error, arguments.get(1));
            };
            Err(Exit::Wrong(format!(
                "this package has no verb {verb}: install the program of the crate snowmint-server, by cargo install \
                 snowmint-server or as a file of a release"
            )))
        }
    };
    done.unwrap_or_else(Exit::report)
}
