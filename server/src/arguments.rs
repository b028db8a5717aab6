//! The verbs and flags of the command line.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

pub mod operate;
pub mod serve;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use snowmint_cli::integer;
use snowmint_core::segment::Pacer;

/// Mint and read IDs of the Snowflake family, and serve them.
#[derive(Debug, Parser)]
#[command(name = "snowmint", version, max_term_width = 80)]
#[command(after_help = "Exit codes: 0 for success, 1 for a failure or an unknown ID, 2 for wrong input.")]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    #[command(flatten)]
    Common(snowmint_cli::Verb),
    /// List leases, and release the node of a stopped holder
    Lease(operate::Lease),
    /// List, make and remove namespaces
    Namespace(operate::Namespaces),
    /// Create and use named sequences
    Sequence(operate::Sequence),
    /// Create segment tags, and take numbers from them
    Segment(operate::Segment),
    /// List, raise, lower and delete keys of the Redis protocol
    Key(operate::Key),
    /// Copy a store in a SQLite file into a new file, while servers and generators use it
    ///
    /// The copy is the state at one moment. A copy of the file alone, by cp, lacks what is in the write-ahead log beside it. After
    /// the copy was restored, run snowmint fence.
    Backup(operate::Backup),
    /// Raise every window end and counter, after a restored backup, a failover that lost writes, or lost records
    ///
    /// Stop all servers and generators of the store first. You may start them again as soon as this command ends: until the
    /// time of --until no node is granted, known to the store or new, and a claim waits or fails. With file:DIRECTORY the
    /// command also raises the slots in that directory.
    Fence(operate::Fence),
    /// Serve IDs and numbers over HTTP and the Redis protocol
    Serve(Box<serve::Serve>),
    /// Print the completion script of a shell
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
