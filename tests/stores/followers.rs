//! Programs that follow the log of a `PostgreSQL`.

use std::process::{Child, Command, Stdio};

use snowmint_tests::engines::Server;
use tempfile::TempDir;

use crate::scene::until_shown;

/// A process that follows. Dropping it kills the process.
pub struct Follower(Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program that follows the server's log under a name. Returns when the server reports that it streams.
pub fn follower(server: &Server, name: &str, options: &[&str]) -> (Follower, TempDir) {
    let directory = TempDir::new().expect("a directory");
    let port = server.port().to_string();
    let child = Command::new("pg_receivewal")
        .args(["-h", "127.0.0.1", "-U", "postgres", "-p", &port, "-D"])
        .arg(directory.path())
        .args(options)
        .env("PGAPPNAME", name)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("pg_receivewal starts");
    // Before the wait, so that a panic ends the process too.
    let child = Follower(child);
    until_shown(
        server,
        &format!("SELECT state FROM pg_stat_replication WHERE application_name = '{name}'"),
        "streaming",
    );
    (child, directory)
}

/// Starts a subscriber of logical replication. Returns when the server reports that it streams.
pub fn subscriber(server: &Server) -> Follower {
    server.engine().client(server.port(), "SELECT pg_create_logical_replication_slot('changes', 'test_decoding')");
    let port = server.port().to_string();
    let from = ["-h", "127.0.0.1", "-U", "postgres", "-p", &port, "-d", "postgres"];
    let child = Command::new("pg_recvlogical")
        .args(from)
        .args(["--slot=changes", "--start", "-f", "-"])
        .env("PGAPPNAME", "pg_recvlogical")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("pg_recvlogical starts");
    let child = Follower(child);
    until_shown(server, "SELECT state FROM pg_stat_replication WHERE application_name = 'pg_recvlogical'", "streaming");
    child
}
