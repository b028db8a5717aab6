//! A server that runs: it is killed, paused, stopped and started again on the same data and port.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::engine::Engine;
use crate::port::Port;
use crate::template;

/// How long a server may take to start, on a machine with other work to do.
const START_TIMEOUT: Duration = Duration::from_secs(90);
/// How long a server may take to end by itself.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the server in the background and prints its pid. A line on standard input kills the server. If standard input
/// ends without a line, the owner has died: then the shell also removes the server's directory.
const SHELL: &str = r#"directory=$1; shift; "$@" > "$directory/server.log" 2>&1 & echo $!
if read _; then owner=alive; fi
kill -9 $! 2> /dev/null; wait $! 2> /dev/null
[ -n "$owner" ] || rm -rf "$directory""#;

/// A server that runs, with its own data directory. Dropping it kills the server and removes the directory.
#[derive(Debug)]
pub struct Server {
    engine: Engine,
    directory: TempDir,
    ports: [Port; 2],
    options: Vec<String>,
    env: BTreeMap<String, String>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    shell: Child,
    pid: i32,
}

impl Server {
    /// Starts a server with durable settings.
    pub fn start(engine: Engine) -> Self {
        Self::start_with(engine, &[])
    }

    /// Starts a server with further options at the end of its command line. For `ZooKeeper` and NATS they are lines
    /// of the configuration.
    pub fn start_with(engine: Engine, options: &[&str]) -> Self {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Self::start_in(engine, options, BTreeMap::new())
    }

    /// Starts a server that all tests of a run share, and that none of them kills.
    pub(crate) fn start_shared(engine: Engine) -> Self {
        Self::new(engine, Vec::new(), BTreeMap::new(), true).filled()
    }

    /// Starts a server with further options and variables of its environment.
    pub fn start_in(engine: Engine, options: Vec<String>, env: BTreeMap<String, String>) -> Self {
        Self::new(engine, options, env, false).filled()
    }

    /// Makes the data directory and starts the server.
    fn filled(mut self) -> Self {
        if self.engine.has_template() {
            template::copy_into(self.engine, self.directory.path());
        } else {
            self.engine.prepare(self.directory.path());
        }
        self.restart();
        self
    }

    /// Starts a standby of a `PostgreSQL` at that port by `pg_basebackup -R`. The primary does not wait for it.
    pub fn start_standby(primary_port: u16) -> Self {
        let engine = Engine::Postgres;
        let mut server = Self::new(engine, Vec::new(), BTreeMap::new(), false);
        engine.copy_from(primary_port, server.directory.path());
        server.restart();
        server
    }

    /// Starts a pooler, `PgBouncer` or Pgpool-II, in front of the `PostgreSQL` at that port. The options are lines of its
    /// configuration, such as `pool_mode=transaction`.
    pub fn start_pooler(engine: Engine, postgres_port: u16, options: &[String]) -> Self {
        let mut lines = options.to_vec();
        lines.extend(if engine == Engine::Pgpool {
            [
                format!("backend_hostname0='127.0.0.1'\nbackend_port0={postgres_port}"),
                "backend_flag0='ALWAYS_PRIMARY|DISALLOW_TO_FAILOVER'".to_owned(),
            ]
        } else {
            ["[databases]".to_owned(), format!("* = host=127.0.0.1 port={postgres_port} user=postgres")]
        });
        Self::start_in(engine, lines, BTreeMap::new())
    }

    fn new(engine: Engine, options: Vec<String>, env: BTreeMap<String, String>, shared: bool) -> Self {
        let place = engine.place(shared);
        let directory = TempDir::with_prefix_in("snowmint-server-", place).expect("a temporary directory");
        engine.hand_over(directory.path());
        Self { engine, directory, ports: [Port::free(), Port::free()], options, env, running: None }
    }

    /// The port where the server listens.
    pub const fn port(&self) -> u16 {
        self.ports[0].number()
    }

    /// The port of the service's Redis protocol, or of the monitoring of NATS.
    pub const fn second_port(&self) -> u16 {
        self.ports[1].number()
    }

    /// The kind of server.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// The directory of `data` and `server.log`.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The URL of a store on the server.
    pub fn url(&self) -> String {
        self.engine.url_of([self.port(), self.second_port()])
    }

    /// Sets the further options of the next start.
    pub fn set_options(&mut self, options: &[&str]) {
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
    }

    /// Starts the server on its data and port. A server that runs is ended cleanly before.
    pub fn restart(&mut self) {
        self.stop();
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            self.spawn();
            let pid = self.running.as_ref().map_or(0, |running| running.pid);
            while alive(pid) && Instant::now() < deadline {
                if self.engine.is_ready([self.port(), self.second_port()]) {
                    self.engine.settle(self.port());
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
            self.kill();
            // Another process may have taken the port meanwhile, for a moment.
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            assert!(Instant::now() < deadline, "{:?} does not start: {log}", self.engine);
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn spawn(&mut self) {
        let arguments = self.engine.arguments(self.directory.path(), [self.port(), self.second_port()], &self.options);
        let mut command = Command::new("sh");
        // Removes options of the service that come from the environment of the tests.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SNOWMINT_")) {
            command.env_remove(name);
        }
        let mut shell = command
            .args(["-c", SHELL, "sh"])
            .arg(self.directory.path())
            .args(self.engine.as_account())
            .arg(self.engine.program())
            .args(arguments)
            .envs(&self.env)
            // Ctrl-C in the terminal is for the tests alone.
            .process_group(0)
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
        self.running = Some(Running { shell, pid: pid.parse().expect("a pid") });
    }

    /// Kills all processes of the server as a crash of the machine would, by SIGKILL.
    pub fn kill(&mut self) {
        let Some(Running { mut shell, pid }) = self.running.take() else { return };
        kill(pid, libc::SIGKILL);
        // The other processes would end when they notice that the first one has, but not while they are stopped.
        // The next start is refused while one of them runs.
        for worker in self.engine.workers(self.directory.path()) {
            kill(worker, libc::SIGKILL);
        }
        self.engine.wait_for_workers(self.directory.path());
        remove_shared_memory(pid);
        // The shell may have ended with the server.
        let _ = shell.stdin.take().expect("a pipe").write_all(b"\n");
        shell.wait().expect("the shell ends");
    }

    /// Ends the server cleanly, if it runs. Its data stay for `restart`.
    pub fn stop(&mut self) {
        let Some(Running { pid, .. }) = self.running else { return };
        self.pause(false);
        // SIGTERM waits for open sessions.
        let waits = matches!(self.engine, Engine::Postgres | Engine::Pgpool);
        let signal = if waits { libc::SIGINT } else { libc::SIGTERM };
        let deadline = Instant::now() + STOP_TIMEOUT;
        while alive(pid) && Instant::now() < deadline {
            // Redis refuses to end while it rewrites its file, so it is asked again.
            kill(pid, signal);
            for _ in 0..100 {
                if alive(pid) {
                    thread::sleep(Duration::from_millis(10));
                }
            }
        }
        self.kill();
    }

    /// Stops all processes of the server (SIGSTOP), or continues them. Returns when all threads have stopped.
    pub fn pause(&self, paused: bool) {
        let Some(Running { pid, .. }) = self.running else { return };
        let signal = if paused { libc::SIGSTOP } else { libc::SIGCONT };
        let mut processes = self.engine.workers(self.directory.path());
        processes.push(pid);
        for process in &processes {
            kill(*process, signal);
        }
        let deadline = Instant::now() + STOP_TIMEOUT;
        while paused && !processes.iter().all(|process| is_stopped(*process)) {
            assert!(Instant::now() < deadline, "{:?} does not stand still", self.engine);
            thread::sleep(Duration::from_millis(1));
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
    // SAFETY: sends a signal to a child of a child of this process, which has not been waited for while its shell
    // lives.
    unsafe { libc::kill(pid, signal) };
}

/// Removes the shared memory (System V) that a killed process has left, as a crash of the machine would. Each kill of
/// Pgpool-II leaves megabytes of it.
#[allow(unsafe_code, reason = "shared memory of System V is a C interface")]
fn remove_shared_memory(creator: i32) {
    for line in fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default().lines() {
        let numbers: Vec<i32> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // The columns are key, shmid, perms, size, cpid.
        if let [_, id, _, _, cpid, ..] = numbers[..]
            && cpid == creator
        {
            // SAFETY: removes a segment that only processes of a killed server have used.
            unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}

fn alive(pid: i32) -> bool {
    state(Path::new(&format!("/proc/{pid}"))).is_some_and(|state| state != 'Z')
}

/// Whether all threads of a process are stopped, or the process has ended.
fn is_stopped(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| state(&thread.path())).all(|state| matches!(state, 'T' | 'Z'))
}

/// The letter of the state of a process or thread, by its directory below `/proc`.
fn state(directory: &Path) -> Option<char> {
    let stat = fs::read_to_string(directory.join("stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}
