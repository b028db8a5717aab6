//! What operators' verbs take.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

use clap::{Args, Subcommand};
use snowmint_core::sequence::{Dialect, Kind};
use snowmint_core::time;

/// Which store.
#[derive(Args)]
pub struct Place {
    /// The store's URL (else the SQLite file of this user, as for serve)
    #[arg(long, env = "SNOWMINT_STORE", value_name = "URL", hide_env_values = true, global = true)]
    pub store: Option<String>,
    /// A JSON object a line
    #[arg(long, global = true)]
    pub json: bool,
}

// A password may be in the URL.
impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("json", &self.json).finish_non_exhaustive()
    }
}

#[derive(Debug, Args)]
pub struct Lease {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub verb: LeaseVerb,
}

#[derive(Debug, Subcommand)]
pub enum LeaseVerb {
    /// Show who has which node, and until when. The slots of this machine: --store file:/var/tmp/snowmint
    Ls {
        /// Only of this namespace
        namespace: Option<String>,
    },
    /// Give a node back whose holder is gone for good, or reset an end that lies far ahead because a clock was ahead. The
    /// holder has to be stopped: it may mint up to the end that it knows. A slot that a live holder has locked is refused
    Release {
        namespace: String,
        node: u32,
        /// No ID of the node is later than this: RFC 3339 or Unix ms (now)
        #[arg(long, value_name = "TIME", value_parser = instant)]
        until: Option<i64>,
        /// The holder is stopped
        #[arg(long, required = true)]
        stopped: bool,
    },
}

#[derive(Debug, Args)]
pub struct Sequence {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub verb: SequenceVerb,
}

#[derive(Debug, Subcommand)]
pub enum SequenceVerb {
    /// Define a sequence, in the words of SQL's CREATE SEQUENCE
    Create {
        name: String,
        /// Where it begins (ascending its minimum, descending its maximum)
        #[arg(long, allow_hyphen_values = true)]
        start: Option<i128>,
        /// The step
        #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
        increment: i128,
        #[arg(long, allow_hyphen_values = true)]
        min: Option<i128>,
        #[arg(long, allow_hyphen_values = true)]
        max: Option<i128>,
        /// How many a session takes at a time (pg 1, the others 1000)
        #[arg(long)]
        cache: Option<i128>,
        /// Go on after the last value
        #[arg(long)]
        cycle: bool,
        /// Whose setval: pg, mariadb, tidb
        #[arg(long, default_value = "pg", value_parser = dialect)]
        dialect: Dialect,
        /// smallint, integer, bigint, "bigint unsigned"
        #[arg(long = "type", value_name = "TYPE", default_value = "bigint", value_parser = kind)]
        kind: Kind,
    },
    /// Take values
    Next {
        name: String,
        /// How many
        #[arg(short = 'n', long, default_value_t = 1)]
        count: u64,
    },
    /// Set what comes next, as setval does
    Set {
        name: String,
        #[arg(allow_hyphen_values = true)]
        value: i128,
        /// The value itself comes next
        #[arg(long)]
        not_called: bool,
        /// In which round (mariadb)
        #[arg(long)]
        round: Option<u64>,
    },
    /// Show how it is defined
    Show { name: String },
}

#[derive(Debug, Args)]
pub struct Segment {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub verb: SegmentVerb,
}

#[derive(Debug, Subcommand)]
pub enum SegmentVerb {
    /// Make a tag
    Create {
        tag: String,
        /// The first number
        #[arg(long, default_value_t = 1)]
        start: u64,
        /// How many numbers the first fetches take
        #[arg(long, default_value_t = 1000)]
        step: u64,
        /// For people
        #[arg(long, default_value = "")]
        description: String,
    },
    /// Take numbers that follow each other
    Next {
        tag: String,
        /// How many
        #[arg(short = 'n', long, default_value_t = 1)]
        count: u64,
    },
    /// Show the tags
    Ls,
}

#[derive(Debug, Args)]
pub struct Fence {
    #[command(flatten)]
    pub place: Place,
    /// No ID of any holder is later than this: RFC 3339 or Unix ms. Late enough is one window and max_ahead_ms after the last
    /// holder was stopped. From now on no node mints an ID before this time
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub until: i64,
    /// Allow a time more than a day ahead. A fence cannot be lowered
    #[arg(long)]
    pub far: bool,
    /// No counter gave more than N numbers beyond what the store says. A counter, sequence or user that the store does not
    /// know begins N numbers later, also a new one
    #[arg(long, value_name = "N")]
    pub skip: u64,
    /// Names of tickets that no service gave: those that one gave are known
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub tickets: Vec<String>,
    /// All servers and generators of the store are stopped
    #[arg(long, required = true)]
    pub stopped: bool,
}

fn instant(text: &str) -> Result<i64, String> {
    let ms = text.parse().ok().or_else(|| time::parse_rfc3339(text.as_bytes()));
    ms.ok_or_else(|| "a time is RFC 3339, such as 2026-01-31T12:00:00Z, or Unix ms".to_owned())
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::find(name).map_err(|error| error.to_string())
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::find(name).map_err(|error| error.to_string())
}
