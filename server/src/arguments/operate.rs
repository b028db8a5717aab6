//! The flags of the operators' verbs.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

use std::path::PathBuf;

use clap::{Args, Subcommand};
use snowmint_cli::instant;
use snowmint_core::Window;
use snowmint_core::formatted::{Overflow, Period, Zone};
use snowmint_core::lease::Reservation;
use snowmint_core::segment::LAST;
use snowmint_core::sequence::{Dialect, Kind};

/// The store that a verb works on.
#[derive(Args)]
pub struct Place {
    /// URL of the store [default: the SQLite file of this user, as for serve]
    #[arg(long, env = "SNOWMINT_STORE", value_name = "URL", hide_env_values = true, global = true)]
    pub store: Option<String>,
    /// Print one JSON object per line
    #[arg(long, global = true)]
    pub json: bool,
}

// The URL may contain a password.
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
    /// List the nodes, their holders and the ends of their windows
    ///
    /// Slots of this machine: --store file:/var/tmp/snowmint
    Ls {
        /// List this namespace only
        namespace: Option<String>,
    },
    /// Release the node of a stopped holder
    ///
    /// For a holder that is gone for good, or a window that ends far ahead because a clock was ahead. Stop the holder
    /// first: it may mint until the end of its window. If a machine has reserved the node, also remove the directory
    /// .reserved of its slots, or start the machine anew. A slot that a live holder has locked is refused.
    Release {
        /// Namespace of the lease
        namespace: String,
        /// Number of the node
        node: u32,
        /// No ID of the node is later than this time, in RFC 3339 or Unix ms [default: now]
        #[arg(long, value_name = "TIME", value_parser = instant)]
        until: Option<i64>,
        /// Confirm that the holder is stopped
        #[arg(long, required = true)]
        stopped: bool,
    },
}

#[derive(Debug, Args)]
pub struct Namespaces {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub verb: NamespaceVerb,
}

#[derive(Debug, Subcommand)]
pub enum NamespaceVerb {
    /// List the namespaces and their layouts
    Ls,
    /// Make a namespace, so that clients of a service may use it
    ///
    /// It keeps its layout for good.
    Create {
        /// Name of the namespace [default: the one of the layout]
        namespace: Option<String>,
        /// Name of a preset, or text of a layout
        #[arg(long, env = "SNOWMINT_LAYOUT", default_value = "snowmint")]
        layout: String,
    },
    /// Remove a namespace whose nodes are all free
    ///
    /// It is no longer listed, and does not count for --max-namespaces of a service. Its records stay, so that no ID
    /// repeats when it is made again.
    Rm {
        /// Name of the namespace
        namespace: String,
    },
}

#[derive(Debug, Args)]
pub struct Key {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub verb: KeyVerb,
}

#[derive(Debug, Subcommand)]
pub enum KeyVerb {
    /// List the keys
    Ls,
    /// Show the last number that servers may have given of a key
    Show {
        /// Name of the key
        key: String,
    },
    /// Raise a key, or make it: the next number is above the value
    Set {
        /// Name of the key
        key: String,
        /// A number that is given already, 0 to 2^63-2
        value: u64,
    },
    /// Delete a key
    ///
    /// When it is used again, it continues above its numbers.
    Rm {
        /// Name of the key
        key: String,
    },
    /// Lower a key that was raised by mistake, and print its old number
    ///
    /// Numbers that were given above the value come again. Stop the servers first: those that have the key open keep
    /// their numbers.
    Lower {
        /// Name of the key
        key: String,
        /// The next number is this value plus 1
        value: u64,
        /// Confirm that all servers of the store are stopped
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
    /// Create a sequence, with the options of SQL's CREATE SEQUENCE
    Create {
        /// Name of the sequence
        name: String,
        /// First value [default: the minimum if ascending, the maximum if descending]
        #[arg(long, allow_hyphen_values = true)]
        start: Option<i128>,
        /// Distance between two values, negative if descending
        #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
        increment: i128,
        /// Lowest value
        #[arg(long, allow_hyphen_values = true)]
        min: Option<i128>,
        /// Highest value
        #[arg(long, allow_hyphen_values = true)]
        max: Option<i128>,
        /// How many values a session takes at a time [default: 1 for pg, 1000 for mariadb and tidb]
        #[arg(long)]
        cache: Option<i128>,
        /// Begin again after the last value
        #[arg(long)]
        cycle: bool,
        /// Database whose setval is followed: pg, mariadb, tidb
        #[arg(long, default_value = "pg", value_parser = dialect)]
        dialect: Dialect,
        /// Type of the values: smallint, integer, bigint, "bigint unsigned"
        #[arg(long = "type", value_name = "TYPE", default_value = "bigint", value_parser = kind)]
        kind: Kind,
    },
    /// Take the next values
    Next {
        /// Name of the sequence
        name: String,
        /// How many values to take
        #[arg(short = 'n', long, default_value_t = 1)]
        count: u64,
    },
    /// Set the current value, as setval does: the next value follows it
    Set {
        /// Name of the sequence
        name: String,
        /// The current value
        #[arg(allow_hyphen_values = true)]
        value: i128,
        /// Give the value itself next, not the value after it
        #[arg(long)]
        not_called: bool,
        /// Round of a cycling sequence (mariadb)
        #[arg(long)]
        round: Option<u64>,
    },
    /// Take the next number as a text, such as INV-2026-000042
    ///
    /// Each period has a separate sequence, which the first use makes.
    Format {
        /// Name of the numbers
        name: String,
        /// Form of the texts: {yyyy} {yy} {MM} {dd} {HH} for the date, {000000} for the counter, {luhn} or {mod97} at
        /// the end
        pattern: String,
        /// When the counter begins again: none, year, month, day
        #[arg(long, default_value = "none", value_parser = period)]
        period: Period,
        /// Zone of the dates: Z, UTC, or an offset such as +01:00
        #[arg(long, default_value = "Z", allow_hyphen_values = true, value_parser = zone)]
        zone: Zone,
        /// What happens to a number with more digits than the counter: error, grow
        #[arg(long, default_value = "error", value_parser = overflow)]
        overflow: Overflow,
    },
    /// List the numbers of a range by its name, one per line
    ///
    /// The SEQUENCE engine of MariaDB has the same names. The verb needs no store.
    Virtual {
        /// Name of the range: seq_1_to_15_step_3, or seq_1_to_15
        name: String,
    },
    /// Show the definition of a sequence
    Show {
        /// Name of the sequence
        name: String,
    },
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
    /// Create a tag
    Create {
        /// Name of the tag
        tag: String,
        /// First number
        #[arg(long, default_value_t = 1)]
        start: u64,
        /// How many numbers the first fetches take
        #[arg(long, default_value_t = 1000, value_parser = super::step)]
        step: u64,
        /// Note for people who read the table
        #[arg(long, default_value = "")]
        description: String,
    },
    /// Take a run of numbers without gaps
    Next {
        /// Name of the tag
        tag: String,
        /// How many numbers to take
        #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        count: u64,
    },
    /// List the tags
    Ls,
}

#[derive(Debug, Args)]
pub struct Backup {
    #[command(flatten)]
    pub place: Place,
    /// New file for the copy
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct Fence {
    #[command(flatten)]
    pub place: Place,
    /// New IDs begin at this time, in RFC 3339 or Unix ms, and no ID of any holder is later
    ///
    /// With auto it is now plus --max-window-ms, or the newest end of a window in the store if that is later.
    #[arg(long, value_name = "TIME", default_value = "auto", value_parser = instant_or_auto)]
    pub until: Until,
    /// No holder had a longer window_ms and max_ahead_ms together, or reservation [default: an hour, the most that
    /// snowmint allows, or the longest reservation that a namespace notes]
    ///
    /// Take the longest of your generators. Clients of a service had at most its --max-window-ms plus 60000.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(Window::MIN_MS..=Reservation::MAX_MS))]
    pub max_window_ms: Option<u64>,
    /// Accept a store without any record, as after all of it was lost
    #[arg(long)]
    pub empty: bool,
    /// Allow a time more than a day ahead, although a fence cannot be lowered
    #[arg(long)]
    pub far: bool,
    /// No counter gave more than N numbers above the store's record
    ///
    /// Counters, sequences and users without a record, new ones too, begin N numbers later.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=LAST))]
    pub skip: u64,
    /// Names of tickets that the store does not list, because an early version took them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub tickets: Vec<String>,
    /// Confirm that all servers and generators of the store are stopped
    #[arg(long, required = true)]
    pub stopped: bool,
}

/// The time of a fence: Unix ms, or nothing for `auto`.
#[derive(Clone, Copy, Debug)]
pub struct Until(pub Option<i64>);

fn instant_or_auto(text: &str) -> Result<Until, String> {
    if text == "auto" { Ok(Until(None)) } else { instant(text).map(|ms| Until(Some(ms))) }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::find(name).map_err(|error| error.to_string())
}

fn period(name: &str) -> Result<Period, String> {
    Period::find(name).map_err(|error| error.to_string())
}

fn zone(text: &str) -> Result<Zone, String> {
    Zone::parse(text).map_err(|error| error.to_string())
}

fn overflow(name: &str) -> Result<Overflow, String> {
    Overflow::find(name).map_err(|error| error.to_string())
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::find(name).map_err(|error| error.to_string())
}
