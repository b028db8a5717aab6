//! The flags of `snowmint serve`. Each one has a variable of the environment.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::Uri;
use bytesize::ByteSize;
use clap::builder::{FalseyValueParser, RangedU64ValueParser};
use clap::{Args, ValueEnum};
use snowmint_core::Window;
use snowmint_core::bytes::{LABEL_BYTES, refuse_label};
use snowmint_core::lease::Reservation;
use snowmint_core::section::{MAX_SIZE, MEMORY_BYTES, refuse_little_memory};

use crate::connections::Limits;

/// The format of the log.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LogFormat {
    /// Lines for people
    Text,
    /// One JSON object per line
    Json,
}

/// The answer to `GET key` of the Redis protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Get {
    /// The next number, which is taken
    Next,
    /// The last number that was given, as Redis would answer; takes none
    Peek,
}

#[derive(Args)]
pub struct Serve {
    /// Address for HTTP; `off` for none
    #[arg(help_heading = "Addresses")]
    #[arg(long, env = "SNOWMINT_HTTP", value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub http: String,
    /// Address for the Redis protocol; `off` for none
    #[arg(help_heading = "Addresses")]
    #[arg(long, env = "SNOWMINT_REDIS", value_name = "ADDR", default_value = "127.0.0.1:6389")]
    pub redis: String,
    /// Address for health checks and metrics alone: /healthz, /readyz and /metrics, which --http serves too; `off` for
    /// none
    #[arg(help_heading = "Addresses")]
    #[arg(long, env = "SNOWMINT_HEALTH", value_name = "ADDR", default_value = "off")]
    pub health: String,
    /// Store of leases and numbers: sqlite:PATH, postgres://..., mysql://..., redis://..., etcd://..., zookeeper://...,
    /// nats://..., file:DIRECTORY [default: a SQLite file of this user; required in a container or pod]
    #[arg(help_heading = "Stores")]
    #[arg(long, env = "SNOWMINT_STORE", value_name = "URL", hide_env_values = true)]
    pub store: Option<String>,
    /// Store of the tickets of /v1/tickets, once for each of several independent stores [default: --store]
    ///
    /// The stores count in turn, and any of them may be down. All servers of the service name the same stores in the
    /// same order. Where MySQL has Flickr's table Tickets64, all tickets come from it. In the variable, separate the
    /// stores by blanks.
    #[arg(help_heading = "Stores")]
    #[arg(long, env = "SNOWMINT_TICKETS_STORE", value_name = "URL", value_delimiter = ' ', hide_env_values = true)]
    pub tickets_store: Vec<String>,
    /// File that gets a line of JSON for each range of numbers that this server takes from the store
    ///
    /// The line is written before the first number of the range is given out. While the file cannot be written, no new
    /// range is given out. SIGHUP opens the file again.
    #[arg(help_heading = "Stores")]
    #[arg(long, env = "SNOWMINT_RANGE_LOG", value_name = "FILE")]
    pub range_log: Option<PathBuf>,
    /// Connections to PostgreSQL, MariaDB or MySQL, unless the store's URL has the option connections
    #[arg(help_heading = "Stores")]
    #[arg(long, env = "SNOWMINT_STORE_CONNECTIONS", value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub store_connections: u32,
    /// File with tokens of clients, which take IDs and numbers and lease nodes; required for addresses other than
    /// loopback
    ///
    /// Each line has a token, with a name and a blank before it if there are several. SIGHUP reads all token files and
    /// the certificate again.
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File with tokens of administrators, who also set and delete keys, define and set sequences, and make namespaces
    ///
    /// Without the file, only the verbs key, sequence and namespace do so.
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_ADMIN_TOKEN_FILE", value_name = "FILE", requires = "token_file")]
    pub admin_token_file: Option<PathBuf>,
    /// File with tokens that only read metrics and status, for Prometheus
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_METRICS_TOKEN_FILE", value_name = "FILE", requires = "token_file")]
    pub metrics_token_file: Option<PathBuf>,
    /// Layout of IDs if a request names none: name of a preset, or text of a layout
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_LAYOUT", default_value = "snowmint")]
    pub layout: String,
    /// Namespace of the leases for that layout [default: the layout's]
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_NAMESPACE", value_name = "NS")]
    pub namespace: Option<String>,
    /// How many numbers the first fetch of a key takes
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_STEP", default_value_t = 1000, value_parser = super::step)]
    pub step: u64,
    /// Answer of GET in the Redis protocol: a dashboard that reads keys with GET needs peek, which takes no number
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_GET", value_enum, default_value = "next")]
    pub get: Get,
    /// How long a request waits for the clock and the store
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_MAX_WAIT_MS", value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=Window::MAX_MS))]
    pub max_wait_ms: u64,
    /// Length of this server's windows: when the server crashes, another one takes over after this time
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_WINDOW_MS", value_name = "MS", default_value_t = 10_000)]
    pub window_ms: u64,
    /// For how long the store reserves this server's nodes, such as 24h
    ///
    /// While the store is unreachable, /v1/ids goes on for that long. The directory of this machine's slots,
    /// SNOWMINT_STATE_DIR, keeps the reservation. By default the store grants a node for a window only.
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_RESERVE", value_name = "LENGTH", value_parser = reserve)]
    pub reserve: Option<Duration>,
    /// Longest window that a client gets for a leased node
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_MAX_WINDOW_MS", value_name = "MS", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(Window::MIN_MS..=Window::MAX_MS))]
    pub max_window_ms: u64,
    /// How many namespaces the store may have before a claim makes no new one; snowmint namespace removes and makes
    /// them
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_MAX_NAMESPACES", value_name = "N", default_value_t = 1000, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub max_namespaces: usize,
    /// Percentage of a namespace's nodes that the holders of one token of --token-file may have at a time
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_NODE_SHARE", value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub node_share: u8,
    /// How many users share one record, 1 to 1000000; the first server of a store decides, and another value is refused
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_SECTION_SIZE", value_name = "USERS", default_value = "100000", value_parser = section_size)]
    pub section_size: NonZeroU32,
    /// Memory for users, such as 64MiB: 4 to 21 bytes for each user that has asked
    ///
    /// When it is full, users without requests make room.
    #[arg(help_heading = "IDs and numbers")]
    #[arg(long, env = "SNOWMINT_USERS_MEMORY", value_name = "SIZE", default_value_t = ByteSize::b(MEMORY_BYTES), value_parser = users_memory)]
    pub users_memory: ByteSize,
    /// Address of this server that other servers give to clients and connect to, at most 60 bytes [default: the address
    /// for HTTP]
    #[arg(help_heading = "Addresses")]
    #[arg(long, env = "SNOWMINT_ADVERTISE", value_name = "URL", value_parser = advertised)]
    pub advertise: Option<String>,
    /// Host names that HTTP requests without a token may use, separated by commas; localhost and loopback addresses
    /// always may
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_ALLOW_HOST", value_name = "NAME", value_delimiter = ',', value_parser = crate::http::allowed)]
    pub allow_host: Vec<String>,
    /// Origins whose pages may send requests, separated by commas; * for all
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_ALLOW_ORIGIN", value_name = "ORIGIN", value_delimiter = ',', value_parser = crate::http::origins)]
    pub allow_origin: Vec<String>,
    /// Certificate chain in PEM; encrypts both protocols
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Clients may send the token in plain text, because a proxy or the network encrypts: no warning at the start
    #[arg(help_heading = "Access")]
    #[arg(long, env = "SNOWMINT_PLAIN", conflicts_with = "tls_cert", value_parser = FalseyValueParser::new())]
    pub plain: bool,
    /// Maximum number of connections of each protocol
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_MAX_CONNECTIONS", default_value_t = 1024, value_parser = RangedU64ValueParser::<u32>::new().range(1..=100_000))]
    pub max_connections: u32,
    /// Maximum number of connections from one address [default: three quarters of --max-connections]
    ///
    /// A network of IPv6 (/64) counts as one address. Clients behind a proxy have the address of the proxy.
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_MAX_CONNECTIONS_PER_ADDRESS", value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(1..=100_000))]
    pub max_connections_per_address: Option<u32>,
    /// How long a client may stay silent
    #[arg(help_heading = "Limits")]
    #[arg(long, env = "SNOWMINT_IDLE_S", value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub idle_s: u64,
    /// Filter of the log, such as warn, debug or snowmint=debug,warn
    #[arg(help_heading = "Log")]
    #[arg(long, env = "SNOWMINT_LOG", value_name = "FILTER", default_value = "warn,snowmint=info")]
    pub log: String,
    /// Format of the log
    #[arg(help_heading = "Log")]
    #[arg(long, env = "SNOWMINT_LOG_FORMAT", value_enum, default_value = "text")]
    pub log_format: LogFormat,
    /// Print the OpenAPI document and exit
    #[arg(long)]
    pub openapi: bool,
}

impl Serve {
    /// Returns the limits of connections of each protocol.
    pub fn limits(&self) -> Limits {
        Limits::of(self.max_connections as usize, self.max_connections_per_address.map(|most| most as usize))
    }
}

/// Reads the length of a reservation.
fn reserve(text: &str) -> Result<Duration, String> {
    Reservation::parse_ms(text).map(Duration::from_millis).map_err(|error| error.to_string())
}

/// Reads a number of users per section, at most as many as fit into memory.
fn section_size(text: &str) -> Result<NonZeroU32, String> {
    let size = text.parse().ok().filter(|size: &NonZeroU32| size.get() <= MAX_SIZE);
    size.ok_or_else(|| format!("a section has 1 to {MAX_SIZE} users"))
}

/// Reads a number of bytes with a unit.
fn users_memory(text: &str) -> Result<ByteSize, String> {
    let size: ByteSize = text.parse().map_err(|_| "a memory is a number with a unit, such as 64MiB".to_owned())?;
    refuse_little_memory(size.as_u64()).map_err(|error| error.to_string())?;
    Ok(size)
}

/// Reads an address that fits into the label of a record.
fn advertised(text: &str) -> Result<String, String> {
    let has_host = text.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
    if text.len() > LABEL_BYTES || !has_host || refuse_label(text).is_err() {
        return Err(format!("an address is 1 to {LABEL_BYTES} bytes long, such as http://ids-1.example:8080"));
    }
    Ok(text.to_owned())
}

// The store's URL may contain a password.
impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("http", &self.http).field("redis", &self.redis).finish_non_exhaustive()
    }
}
