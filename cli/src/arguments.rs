//! The verbs and flags of the command line.
#![allow(clippy::doc_markdown, missing_docs, reason = "comments are the help")]

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use snowmint_core::prefix::Prefix;
use snowmint_core::{Options, TextForm, time};
use snowmint_inspect::audit::DEFAULT_JITTER_MS;

/// The last lines of the help.
pub const AFTER_HELP: &str = "snowmint VERB --help shows examples of a verb.\n\
    Exit codes: 0 for success, 1 for a failure or an unknown ID, 2 for wrong input.";

/// The verbs that need no store but the slots of this machine.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Mint IDs, one per line
    #[command(after_help = "Examples:
  snowmint gen
  snowmint gen -n 3 --prefix user
  snowmint gen --layout twitter --node 5")]
    Gen(Gen),
    /// Show the time, the node and the other parts of IDs
    ///
    /// Without --layout, each ID is shown in every layout that could have minted it.
    #[command(after_help = "Examples:
  snowmint inspect 1541815603606036480
  snowmint inspect --layout twitter 1541815603606036480")]
    Inspect(Inspect),
    /// Show all presets, or the given layouts
    #[command(after_help = "Examples:
  snowmint layouts
  snowmint layouts twitter")]
    Layouts(Layouts),
    /// Examine what a generator would do here, and say what to fix
    ///
    /// Connects to the store as a generator does, which makes missing tables, and claims no node. Exit code 1:
    /// something must be fixed.
    #[command(after_help = "Example:
  snowmint doctor --namespace orders")]
    Doctor(Doctor),
    /// Find out why a list of IDs has duplicates
    ///
    /// Finds nodes that two processes share, clocks that stepped back, and more. Reads one ID per line, in the order in
    /// which they were written down, or a column of a CSV file. Exit code 0: nothing found; 1: findings; 2: lines that
    /// are no ID, which are reported and passed over, or other wrong input.
    #[command(after_help = "Examples:
  snowmint audit ids.txt
  snowmint audit --column id --svg audit.svg orders.csv")]
    Audit(Audit),
    /// Mask IDs, so that they show neither time nor order
    ///
    /// --decode unmasks them. IDs are masked by FF1, and UUIDs of version 7 by UUIDv47. A mask hides, and does not
    /// authenticate.
    #[command(after_help = "Examples:
  export SNOWMINT_MASK_KEY=$(openssl rand -hex 16)
  snowmint mask 1541815603606036480")]
    Mask(Mask),
}

/// The verbs of the packages.
#[derive(Debug, Subcommand)]
pub enum PackageVerb {
    #[command(flatten)]
    Common(Verb),
    /// List a range of numbers by its name
    #[command(after_help = "Example:
  snowmint sequence virtual seq_1_to_15_step_3")]
    #[command(subcommand)]
    Sequence(SequenceVerb),
    /// Only the program of the crate snowmint-server has this verb
    #[command(name = SERVER_VERBS[0], aliases = &SERVER_VERBS[1..], hide = true, disable_help_flag = true)]
    OfServer(Rest),
}

/// The verbs that need a store, or are a server. The program of the crate `snowmint-server` has them.
pub const SERVER_VERBS: [&str; 8] = ["serve", "lease", "namespace", "segment", "key", "backup", "fence", "completions"];
/// The verbs of `sequence` that need a store.
const STORE_VERBS: [&str; 5] = ["create", "next", "set", "format", "show"];

/// All words after a verb.
#[derive(Debug, Args)]
pub struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub enum SequenceVerb {
    /// List the numbers of a range by its name, one per line
    ///
    /// The SEQUENCE engine of MariaDB has the same names.
    Virtual {
        /// Name of the range: seq_1_to_15_step_3, or seq_1_to_15
        name: String,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Only the program of the crate snowmint-server has this verb
    #[command(name = STORE_VERBS[0], aliases = &STORE_VERBS[1..], hide = true, disable_help_flag = true)]
    OfServer(Rest),
}

#[derive(Debug, Args)]
pub struct Gen {
    /// How many IDs to mint
    #[arg(short = 'n', long, default_value_t = 1)]
    pub count: u64,
    /// Name of a preset, or text of a layout
    #[arg(long, env = "SNOWMINT_LAYOUT", default_value = "snowmint")]
    pub layout: String,
    /// Text form of fixed width: decimal, hex, base32, base36, base58, base62 [default: the number without padding]
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub format: Option<TextForm>,
    /// Prefix before each ID, with 13 characters after it: user_1asd13xh1f800
    #[arg(long, value_parser = prefix, conflicts_with = "format")]
    pub prefix: Option<Prefix>,
    /// Node: 5, or datacenter=0,worker=5. With a store or a namespace it is leased, and datacenter=0 is any node with this
    /// part. Without them no other generator may use it [default: SNOWMINT_NODE, otherwise any node]
    #[arg(long)]
    pub node: Option<String>,
    /// Store to lease a node from [default: SNOWMINT_STORE, otherwise the slots of this machine]
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Namespace in which each lease has its own node [default: SNOWMINT_NAMESPACE, otherwise the layout's]
    #[arg(long)]
    pub namespace: Option<String>,
    /// How long a batch may wait for the clock
    #[arg(long, value_name = "MS", default_value_t = Options::DEFAULT.max_wait_ms)]
    pub max_wait_ms: u64,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Inspect {
    /// IDs to read [default: the lines of standard input]
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub ids: Vec<String>,
    /// Read the IDs in this layout only: name of a preset, or text of a layout
    #[arg(long)]
    pub layout: Option<String>,
    /// Text form of the IDs: decimal, hex, base32, base36, base58, base62
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub format: Option<TextForm>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Audit {
    /// File to read [default: standard input]
    pub file: Option<PathBuf>,
    /// Name of a preset, or text of a layout
    #[arg(long, default_value = "snowmint")]
    pub layout: String,
    /// Text form of the IDs: decimal, hex, base32, base36, base58, base62 [default: the number without padding]
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub format: Option<TextForm>,
    /// Prefix of each ID, with 13 characters after it: user_1asd13xh1f800
    #[arg(long, value_parser = prefix, conflicts_with = "format")]
    pub prefix: Option<Prefix>,
    /// Column with the IDs: the file is CSV
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// When the system began, in RFC 3339 or Unix ms: earlier IDs are findings [default: the epoch of the layout]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub since: Option<i64>,
    /// Later IDs are in the future, in RFC 3339 or Unix ms [default: a minute from now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub until: Option<i64>,
    /// How late a line is at most, because threads overtake each other: smaller steps back are no finding
    #[arg(long, value_name = "MS", default_value_t = DEFAULT_JITTER_MS)]
    pub jitter_ms: u64,
    /// The IDs have no order: report only findings that need none
    #[arg(long)]
    pub unordered: bool,
    /// Write a picture of the nodes over time, with the findings marked
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print the report as a JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Mask {
    /// IDs to mask [default: the lines of standard input]
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub ids: Vec<String>,
    /// Unmask the IDs
    #[arg(long)]
    pub decode: bool,
    /// Public text, such as the name of a table: IDs with another tweak have other masks
    #[arg(long, default_value = "", hide_default_value = true)]
    pub tweak: String,
    /// Mask the numbers of up to that many decimal digits among themselves: 6 to 18
    #[arg(long)]
    pub digits: Option<i64>,
    /// Secret: 32 hexadecimal digits, such as those of openssl rand -hex 16. Better in the variable than here
    #[arg(long, env = "SNOWMINT_MASK_KEY", hide_env_values = true)]
    pub key: String,
}

impl fmt::Debug for Mask {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("ids", &self.ids).field("decode", &self.decode).finish_non_exhaustive()
    }
}

#[derive(Debug, Args)]
pub struct Layouts {
    /// Names of presets, or texts of layouts [default: all presets]
    #[arg(value_name = "LAYOUT")]
    pub layouts: Vec<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Doctor {
    /// Name of a preset, or text of a layout
    #[arg(long, env = "SNOWMINT_LAYOUT", default_value = "snowmint")]
    pub layout: String,
    /// Node that the generator is given: 5, or datacenter=0,worker=5 [default: SNOWMINT_NODE, otherwise a leased node]
    #[arg(long)]
    pub node: Option<String>,
    /// Store of the generator's lease [default: SNOWMINT_STORE, otherwise the slots of this machine]
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Namespace of the lease [default: SNOWMINT_NAMESPACE, otherwise the layout's]
    #[arg(long)]
    pub namespace: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

// The URL may contain a password.
impl fmt::Debug for Doctor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doctor").field("layout", &self.layout).field("node", &self.node).finish_non_exhaustive()
    }
}

fn form(name: &str) -> Result<TextForm, String> {
    TextForm::find(name).map_err(|error| error.to_string())
}

fn prefix(text: &str) -> Result<Prefix, String> {
    Prefix::new(text).map_err(|error| error.to_string())
}

/// Reads an instant in RFC 3339 or Unix ms.
///
/// # Errors
/// The message for the user.
pub fn instant(text: &str) -> Result<i64, String> {
    time::parse_instant(text).map_err(str::to_owned)
}
