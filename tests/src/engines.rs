//! Real engines for tests: started in a temporary directory on a free port of the loopback, killed, started again.
//!
//! Each runs under a shell that ends with this process, however that ends, and takes the engine along.
#![allow(clippy::missing_panics_doc, reason = "a test fails by a panic")]

mod servers;

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use self::servers::Engine;

/// How long an engine may take to start, on a machine with other work to do.
const START: Duration = Duration::from_secs(90);

/// An engine that runs, with data of its own.
#[derive(Debug)]
pub struct Server {
    engine: Engine,
    directory: TempDir,
    port: u16,
    peer_port: u16,
    options: Vec<String>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// Ends, and ends the engine, when its standard input is closed.
    shell: Child,
    pid: i32,
}

impl Server {
    /// A new one, of durable settings.
    pub fn start(engine: Engine) -> Self {
        Self::start_with(engine, &[])
    }

    /// A new one with further options on its command line (for `ZooKeeper` lines of `zoo.cfg`), which come last.
    pub fn start_with(engine: Engine, options: &[&str]) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut server = Self { engine, directory, port: free_port(), peer_port: free_port(), options, running: None };
        server.engine.prepare(server.directory.path());
        server.restart();
        server
    }

    /// A standby of another server, which it follows without being waited for: by `pg_basebackup -R`.
    pub fn start_standby(primary: &Self) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let engine = primary.engine;
        let mut server =
            Self { engine, directory, port: free_port(), peer_port: free_port(), options: Vec::new(), running: None };
        engine.copy(primary.port, server.directory.path());
        server.restart();
        server
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Which engine it is.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// Its data.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The URL of its store.
    pub fn url(&self) -> String {
        self.engine.url(self.port)
    }

    /// Starts it, on the data and the port that it had.
    pub fn restart(&mut self) {
        assert!(self.running.is_none(), "it runs");
        let deadline = Instant::now() + START;
        loop {
            let log = self.log();
            let (program, arguments) =
                self.engine.command(self.directory.path(), self.port, self.peer_port, &self.options);
            let mut shell = Command::new("sh")
                .args(["-c", r#"log=$1; shift; "$@" > "$log" 2>&1 & echo $!; read _; kill -9 $! 2> /dev/null; wait $! 2> /dev/null; true"#, "sh"])
                .arg(&log)
                .args(self.engine.as_whom())
                .arg(program)
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("sh starts");
            let mut pid = String::new();
            let mut stdout = shell.stdout.take().expect("a pipe");
            let mut byte = [0];
            while stdout.read(&mut byte).is_ok_and(|read| read == 1) && byte[0] != b'\n' {
                pid.push(char::from(byte[0]));
            }
            let pid = pid.parse().expect("a pid");
            self.running = Some(Running { shell, pid });
            while alive(pid) && Instant::now() < deadline {
                if self.engine.is_ready(self.port) {
                    self.engine.settle(self.port);
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
            self.kill();
            // Another process may have taken the port meanwhile, for a moment.
            let said = fs::read_to_string(&log).unwrap_or_default();
            assert!(Instant::now() < deadline, "{:?} does not start: {said}", self.engine);
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Kills it as a crash would: by SIGKILL.
    pub fn kill(&mut self) {
        let Some(Running { mut shell, pid }) = self.running.take() else { return };
        kill(pid, libc::SIGKILL);
        // Processes of PostgreSQL end when they notice that the first one has; until then the next start is refused.
        self.engine.wait_for_children(self.directory.path());
        drop(shell.stdin.take());
        shell.wait().expect("the shell ends");
    }

    /// Stops all its processes where they are, and lets them go on.
    pub fn pause(&self, paused: bool) {
        let Some(Running { pid, .. }) = self.running else { return };
        let signal = if paused { libc::SIGSTOP } else { libc::SIGCONT };
        kill(pid, signal);
        // One process serves nobody by itself in PostgreSQL.
        for process in self.engine.workers(self.directory.path()) {
            kill(process, signal);
        }
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("server.log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[allow(unsafe_code, reason = "signals are a C interface")]
fn kill(pid: i32, signal: i32) {
    // SAFETY: sends a signal to a child of a child of this process, which has not been waited for while its shell lives.
    unsafe { libc::kill(pid, signal) };
}

fn alive(pid: i32) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// A port of the loopback on which nobody listens. Redis as a cluster wants another one 10,000 above it.
fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        if port < 55_536 {
            return port;
        }
    }
}

/// What a server answers to a request.
fn ask(port: u16, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = [0; 256];
    let length = stream.read(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
}
