//! What `snowmint serve` takes: flags, or variables of the environment.
#![allow(clippy::doc_markdown, reason = "comments are the help")]

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use snowmint_core::lease::LABEL_BYTES;
use snowmint_core::section::MAX_SIZE;

/// How lines of the log are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// An object a line
    Json,
}

#[derive(Args)]
pub struct Serve {
    /// Where HTTP is spoken; `off` for nowhere
    #[arg(long, env = "SNOWMINT_HTTP", value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub http: String,
    /// Where the Redis protocol is spoken; `off` for nowhere
    #[arg(long, env = "SNOWMINT_REDIS", value_name = "ADDR", default_value = "127.0.0.1:6389")]
    pub redis: String,
    /// Where grants and numbers live: sqlite:PATH, postgres://..., mysql://..., redis://..., etcd://..., zookeeper://...,
    /// file:DIRECTORY (else a SQLite file of this user; in a container or pod it is needed)
    #[arg(long, env = "SNOWMINT_STORE", value_name = "URL", hide_env_values = true)]
    pub store: Option<String>,
    /// A file with the token that clients have to show; needed beyond loopback. SIGHUP has it read again, and the certificate
    #[arg(long, env = "SNOWMINT_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A preset's name or a layout's text, of IDs that are asked for without one
    #[arg(long, env = "SNOWMINT_LAYOUT", default_value = "snowmint")]
    pub layout: String,
    /// Whose leases share no node, for that layout (else the layout's own)
    #[arg(long, env = "SNOWMINT_NAMESPACE", value_name = "NS")]
    pub namespace: Option<String>,
    /// How many numbers the first fetch of a key takes
    #[arg(long, env = "SNOWMINT_STEP", default_value_t = 1000)]
    pub step: u64,
    /// How long a request waits for clock and store
    #[arg(long, env = "SNOWMINT_MAX_WAIT_MS", value_name = "MS", default_value_t = 1000)]
    pub max_wait_ms: u64,
    /// After how long another server takes over what this one held when it died
    #[arg(long, env = "SNOWMINT_WINDOW_MS", value_name = "MS", default_value_t = 10_000)]
    pub window_ms: u64,
    /// The longest window that a holder elsewhere gets
    #[arg(long, env = "SNOWMINT_MAX_WINDOW_MS", value_name = "MS", default_value_t = 300_000)]
    pub max_window_ms: u64,
    /// How many users share a record, 1 to 1000000; a store keeps that of its first server, and another is refused
    #[arg(long, env = "SNOWMINT_SECTION_SIZE", value_name = "USERS", default_value = "100000", value_parser = section_size)]
    pub section_size: NonZeroU32,
    /// Where others find this server, for those who ask the wrong one: 60 bytes at most (else the address of HTTP)
    #[arg(long, env = "SNOWMINT_ADVERTISE", value_name = "URL", value_parser = advertised)]
    pub advertise: Option<String>,
    /// Names by which HTTP may be asked without a token, with commas between, besides localhost and loopback addresses
    #[arg(long, env = "SNOWMINT_ALLOW_HOST", value_name = "NAME", value_delimiter = ',', value_parser = crate::http::allowed)]
    pub allow_host: Vec<String>,
    /// Origins whose pages may ask, with commas between; * for all
    #[arg(long, env = "SNOWMINT_ALLOW_ORIGIN", value_name = "ORIGIN", value_delimiter = ',', value_parser = crate::http::origins)]
    pub allow_origin: Vec<String>,
    /// Certificates in PEM: both protocols are encrypted then
    #[arg(long, env = "SNOWMINT_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Their key in PEM
    #[arg(long, env = "SNOWMINT_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The most connections, of each protocol
    #[arg(long, env = "SNOWMINT_MAX_CONNECTIONS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_connections: u32,
    /// How long a client may say nothing
    #[arg(long, env = "SNOWMINT_IDLE_S", value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub idle_s: u64,
    /// What is logged, such as warn, debug or snowmint=debug,warn
    #[arg(long, env = "SNOWMINT_LOG", value_name = "FILTER", default_value = "warn,snowmint=info")]
    pub log: String,
    /// How it is written
    #[arg(long, env = "SNOWMINT_LOG_FORMAT", value_enum, default_value = "text")]
    pub log_format: LogFormat,
    /// Print the OpenAPI document, and end
    #[arg(long)]
    pub openapi: bool,
}

/// As many users as fit into memory.
fn section_size(text: &str) -> Result<NonZeroU32, String> {
    let size = text.parse().ok().filter(|size: &NonZeroU32| size.get() <= MAX_SIZE);
    size.ok_or_else(|| format!("a section has 1 to {MAX_SIZE} users"))
}

/// What fits into a record.
fn advertised(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > LABEL_BYTES || text.chars().any(char::is_control) {
        return Err(format!("it is 1 to {LABEL_BYTES} bytes long, such as http://ids-1.example:8080"));
    }
    Ok(text.to_owned())
}

// A password may be in the store's URL.
impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("http", &self.http).field("redis", &self.redis).finish_non_exhaustive()
    }
}
