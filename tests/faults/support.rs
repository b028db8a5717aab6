//! Starts, stops and kills minting processes, with any offset of their clocks.
#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::Layout;
use snowmint_core::place::Variables;
use tempfile::TempDir;

/// The directory of slots and ledgers of one test.
pub struct Scene {
    directory: TempDir,
}

/// A layout with 2 nodes.
pub const TWO_NODES: &str = "time:41,node:1,sequence:12;epoch=2025-01-01T00:00:00Z";
/// A layout with 1 node, so that all holders get the same node.
pub const ONE_NODE: &str = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";

impl Scene {
    pub fn new() -> Self {
        Self { directory: TempDir::new().expect("a temporary directory") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn store(&self) -> String {
        format!("store=file:{}", self.path("slots").display())
    }

    /// Makes a command that runs a minter on this scene's slots and ledger.
    pub fn minter(&self, verb: &str, options: &[&str]) -> Command {
        let mut command = minter(verb);
        command.arg(self.store()).arg(format!("ledger={}", self.path("ledger").display())).args(options);
        command
    }

    /// Returns all IDs that minters of this scene have minted.
    pub fn ledger(&self) -> Vec<u64> {
        ledger(&self.path("ledger"))
    }

    /// Waits until the ledger has `count` more IDs that `counts` accepts.
    pub fn wait_for_more(&self, count: usize, counts: impl Fn(u64) -> bool) {
        wait_for_more("minters mint", count, || self.ledger().into_iter().filter(|id| counts(*id)).count());
    }

    /// Waits until the IDs of a layout with ticks of a ms span this time.
    pub fn wait_for_ms(&self, layout: &str, ms: u64) {
        let spans = |ids: &[u64]| {
            ids.len() > 1 && ticks(layout, &[ids[0], ids[ids.len() - 1]]).is_sorted_by(|a, b| a + ms <= *b)
        };
        wait_for("minters mint", || spans(&self.ledger()));
    }

    /// Returns the path of a node's slot file in the scene's only namespace.
    pub fn slot(&self, node: u32) -> PathBuf {
        let slots = fs::read_dir(self.path("slots")).expect("the directory of slots");
        let namespace = slots.map(|entry| entry.expect("an entry").path()).next().expect("a namespace");
        namespace.join(format!("{node}.slot"))
    }
}

/// Makes a command that runs a minter, without a store and without our environment variables.
pub fn minter(verb: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snowmint-minter"));
    command.arg(verb).stdin(Stdio::null());
    for name in ["SNOWMINT_NODE", "SNOWMINT_STORE", "SNOWMINT_NAMESPACE", "SNOWMINT_STATE_DIR", "SNOWMINT_RESERVE"] {
        command.env_remove(name);
    }
    // CI runs these tests with its variable, and people without it.
    for name in Variables::NAMES {
        command.env_remove(name);
    }
    command
}

/// Sets a process's clock off by `seconds`, but not its monotonic clock.
pub fn clock_off(command: &mut Command, seconds: f64) -> &mut Command {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
    assert!(Path::new(library).exists(), "{library} is missing: install the package faketime");
    command.env("LD_PRELOAD", library).env("FAKETIME", format!("{seconds:+}")).env("DONT_FAKE_MONOTONIC", "1")
}

pub fn ledger(path: &Path) -> Vec<u64> {
    let bytes = fs::read(path).unwrap_or_default();
    // A killed process may have written its last ID in part; `chunks_exact` drops that.
    bytes.chunks_exact(8).map(|id| u64::from_le_bytes(id.try_into().expect("eight bytes"))).collect()
}

/// Checks that no ID repeats, and returns the number of IDs.
pub fn assert_unique<T: Ord>(mut ids: Vec<T>) -> usize {
    ids.sort_unstable();
    let repeats = ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(repeats, 0, "{repeats} duplicates in {} IDs", ids.len());
    ids.len()
}

/// Waits for an event, up to a minute.
pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let since = Instant::now();
    while !happened() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a count has grown by `more`, up to a minute.
pub fn wait_for_more(what: &str, more: usize, counted: impl Fn() -> usize) {
    let before = counted();
    wait_for(what, || counted() >= before + more);
}

/// Runs a command to its end and returns its output. Panics if it fails.
pub fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}{stderr}");
    stdout.into_owned()
}

/// Runs a command that must fail with exit code 1, and returns its standard error.
pub fn run_refused(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert_eq!(status.code(), Some(1), "{command:?}: {status}\n{stdout}{stderr}");
    stderr.into_owned()
}

/// A process that runs until it is killed, at the latest at the end of the test.
pub struct Running {
    pub child: Child,
    pub stdout: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, stdout }
    }

    /// Returns the next line of its output; an empty line at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("text");
        line
    }

    /// Waits for the line `node N after T us` and returns the node.
    pub fn node(&mut self) -> u32 {
        let line = self.line();
        let node = line.strip_prefix("node ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        node.unwrap_or_else(|| panic!("no node but {line:?}"))
    }

    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ended");
    }

    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().expect("kill is there");
    assert!(sent.success(), "{name} to {pid}");
}

/// Decodes IDs and returns their ticks. `layout` is the name or text of a layout.
pub fn ticks(layout: &str, ids: &[u64]) -> Vec<u64> {
    let layout = Layout::find(layout).expect("valid");
    ids.iter().map(|id| layout.decode(*id).expect("its own").tick).collect()
}
