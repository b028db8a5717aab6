//! Real servers for tests: `PostgreSQL`, `PgBouncer`, `MariaDB`, Redis, etcd, `ZooKeeper`, NATS and `snowmint serve`, each on a free
//! port of the loopback with a separate data directory.
//!
//! Tests in Rust use this library. Tests in Python and JavaScript ask the program `snowmint-engines` over a Unix socket
//! (`main.rs` has the protocol). The environment variable `SNOWMINT_ENGINES` names the socket of a running program, so
//! that all tests of one run share its servers.
#![cfg(unix)]
#![allow(clippy::missing_panics_doc, reason = "a test fails by a panic")]

mod engine;
mod port;
mod server;
mod shared;
mod template;

pub use self::engine::Engine;
pub use self::server::Server;
pub use self::shared::{SharedServer, shared, shared_database};

/// Adds an option to the URL of a store.
pub fn with_option(url: &str, option: &str) -> String {
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}{option}")
}
