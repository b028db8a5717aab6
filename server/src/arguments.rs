//! The verbs and flags of the command line.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

pub mod operate;
pub mod serve;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use snowmint_cli::{AFTER_HELP, integer};
use snowmint_core::segment::Pacer;

/// Mint and read IDs of the Snowflake family, and serve them.
#[derive(Debug, Parser)]
#[command(name = "snowmint", version, max_term_width = 80)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    #[command(flatten)]
    Common(snowmint_cli::Verb),
    /// List leases, and release the node of a stopped holder
    #[command(after_help = "Examples:
  snowmint lease ls
  snowmint lease release orders 5 --stopped")]
    Lease(operate::Lease),
    /// List, make and remove namespaces
    #[command(after_help = "Examples:
  snowmint namespace create orders --layout twitter
  snowmint namespace ls")]
    Namespace(operate::Namespaces),
    /// Create and use named sequences
    #[command(after_help = "Examples:
  snowmint sequence create invoices --start 1000
  snowmint sequence next invoices -n 3")]
    Sequence(operate::Sequence),
    /// Create segment tags, and take numbers from them
    #[command(after_help = "Examples:
  snowmint segment create orders
  snowmint segment next orders -n 3")]
    Segment(operate::Segment),
    /// List, raise, lower and delete keys of the Redis protocol
    #[command(after_help = "Examples:
  snowmint key set visits 41
  snowmint key show visits")]
    Key(operate::Key),
    /// Copy a store in a SQLite file into a new file while it is in use
    ///
    /// The copy is the state at one moment. A copy of the file alone, by cp, lacks the write-ahead log beside it. After
    /// the copy was restored, run snowmint fence.
    #[command(after_help = "Example:
  snowmint backup ids-backup.db")]
    Backup(operate::Backup),
    /// Raise all windows and counters after a store has lost writes
    ///
    /// A store has lost writes after a restored backup, after some failovers, and when records vanished.
    ///
    /// Stop all servers and generators of the store first. You may start them again as soon as this command ends: until
    /// the time of --until no node is granted, known to the store or new, and a claim waits or fails. With
    /// file:DIRECTORY the command also raises the slots in that directory.
    #[command(after_help = "Example:
  snowmint fence --skip 100000 --stopped")]
    Fence(operate::Fence),
    /// Serve IDs and numbers over HTTP and the Redis protocol
    #[command(after_help = "Examples:
  snowmint serve
  snowmint serve --store sqlite:ids.db --http 127.0.0.1:8000 --redis off")]
    Serve(Box<serve::Serve>),
    /// Print the completion script of a shell
    #[command(after_help = "Example:
  eval \"$(snowmint completions bash)\"")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Reads how many numbers a fetch takes.
fn step(text: &str) -> Result<u64, String> {
    let given = integer(text).map_err(|_| "a step is a whole number".to_owned())?;
    Pacer::new(given).map(|pacer| pacer.step(0)).map_err(|error| error.to_string())
}
