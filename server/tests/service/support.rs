//! A server under test, its clients, and common checks.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;

pub const TOKEN: &str = "a-token-of-these-tests";

/// A server process. Dropping it kills the process.
pub struct Server {
    child: Child,
    pub http: String,
    pub redis: String,
    /// The address of `--health`, or `off`.
    pub health: String,
    agent: Agent,
    /// The log, without the line "serving".
    said: Arc<Mutex<String>>,
}

/// The answer to an HTTP request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Returns the problem document, and checks its status and code.
    pub fn problem(&self, status: u16, code: &str) -> Value {
        let problem = self.json();
        assert_eq!((self.status, problem["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(problem["status"], status);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{problem}");
        problem
    }

    pub fn ids(&self) -> Vec<u64> {
        assert_eq!(self.status, 200, "{self:?}");
        let ids = self.json()["ids"].as_array().expect("a list").clone();
        ids.iter().map(number).collect()
    }

    /// Reads `{"start": "1", "end": "2"}`.
    pub fn range(&self) -> std::ops::Range<u64> {
        assert_eq!(self.status, 200, "{self:?}");
        number(&self.json()["start"])..number(&self.json()["end"])
    }

    pub fn id(&self) -> u64 {
        assert_eq!(self.status, 200, "{self:?}");
        number(&self.json()["id"])
    }
}

fn number(value: &Value) -> u64 {
    value.as_str().expect("a string").parse().expect("a number")
}

/// Creates a directory, in memory if possible, which is faster than a disk.
pub fn directory() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a directory")
}

/// Returns the URL of the store in a directory.
pub fn store(directory: &Path) -> String {
    format!("sqlite:{}?allow_unsafe=true", directory.join("store.db").display())
}

pub fn command() -> Command {
    without_settings(Command::new(env!("CARGO_BIN_EXE_snowmint")))
}

/// Runs a verb that must succeed, and returns its output.
pub fn verb(words: &[&str]) -> String {
    let ended = command().args(words).output().expect("it runs");
    assert!(ended.status.success(), "{words:?}: {ended:?}");
    String::from_utf8(ended.stdout).expect("text")
}

/// Runs a verb that must fail, and returns its exit code and its standard error.
pub fn refused(words: &[&str]) -> (Option<i32>, String) {
    let ended = command().args(words).output().expect("it runs");
    assert!(!ended.status.success(), "{words:?}: {ended:?}");
    (ended.status.code(), String::from_utf8(ended.stderr).expect("text"))
}

/// The program under a limit that a shell sets.
fn limited(limit: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_snowmint")]);
    without_settings(shell)
}

fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SNOWMINT_")) {
        command.env_remove(name);
    }
    command
}

impl Server {
    /// Starts a server on the store of a directory.
    pub fn start(directory: &Path, options: &[&str]) -> Self {
        Self::over(&store(directory), options)
    }

    /// Starts a server on a new store.
    pub fn alone(options: &[&str]) -> (Self, TempDir) {
        let directory = directory();
        (Self::start(directory.path(), options), directory)
    }

    pub fn over(store: &str, options: &[&str]) -> Self {
        Self::run(command(), store, options)
    }

    /// Starts a server with at most this address space, in kB.
    pub fn within(kb: u32, directory: &Path, options: &[&str]) -> Self {
        let mut limited = limited(&format!("ulimit -v {kb}"));
        // The stacks and the heaps of more threads take address space, and no memory.
        limited.env("TOKIO_WORKER_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
        Self::run(limited, &store(directory), options)
    }

    /// Starts a server that may open that many files.
    pub fn with_files(files: u32, store: &str, options: &[&str]) -> Self {
        Self::run(limited(&format!("ulimit -n {files}")), store, options)
    }

    /// Starts a server whose machine has its slots in a directory.
    pub fn with_slots(slots: &Path, store: &str, options: &[&str]) -> Self {
        let mut command = command();
        command.env("SNOWMINT_STATE_DIR", slots);
        Self::run(command, store, options)
    }

    fn run(mut command: Command, store: &str, options: &[&str]) -> Self {
        let mut child = command
            .args([
                "serve",
                "--http",
                "127.0.0.1:0",
                "--redis",
                "127.0.0.1:0",
                "--log-format",
                "json",
                "--store",
                store,
            ])
            .args(options)
            // Generous for a busy machine. Tests of waiting set their own limit.
            .env("SNOWMINT_MAX_WAIT_MS", "20000")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let said = Arc::<Mutex<String>>::default();
        let serving = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it did not start: {said:?}")).expect("text");
            let serving: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("it did not start: {line}"));
            if serving["message"] == "serving" {
                break serving;
            }
            // For example a warning that the disk is slow.
            *said.lock().expect("no panic") += &(line + "\n");
        };
        let address = |name: &str| serving[name].as_str().expect("an address").to_owned();
        let (http, redis, health) = (address("http"), address("redis"), address("health"));
        let saying = Arc::clone(&said);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
                *saying.lock().expect("no panic") += &(line + "\n");
            }
        });
        let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(Duration::from_secs(30)));
        Self { child, http, redis, health, agent: config.build().into(), said }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the server with SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it ended");
    }

    /// Sends SIGTERM, waits for the end, and returns whether the exit code was 0.
    pub fn end(&mut self) -> bool {
        self.signal("TERM");
        self.child.wait().expect("it ended").success()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.pid().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// Returns the log, once it is complete or `most` is over.
    pub fn log(&self, most: Duration) -> String {
        let begun = Instant::now();
        // The thread that reads the log holds the second reference until the end.
        while Arc::strong_count(&self.said) > 1 && begun.elapsed() < most {
            thread::sleep(Duration::from_millis(10));
        }
        self.said.lock().expect("no panic").clone()
    }

    /// Waits for the end, and returns whether it came in time with exit code 0.
    pub fn wait(&mut self, most: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < most {
            if let Some(ended) = self.child.try_wait().expect("a child") {
                return ended.success();
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Returns the lines of the log whose messages begin with a text.
    pub fn lines(&self, message: &str) -> Vec<Value> {
        let said = self.said.lock().expect("no panic").clone();
        let lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["message"].as_str().is_some_and(|said| said.starts_with(message))).collect()
    }

    /// Waits for a line of the log whose message begins with a text.
    pub fn logged(&self, message: &str) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(line) = self.lines(message).into_iter().next() {
                return line;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "no line of the log says {message:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Adds up the whole parts of all samples of a metric whose labels contain the given text.
    pub fn metric(&self, name: &str, labels: &str) -> u64 {
        let text = self.get("/metrics").text;
        let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        let lines = text.lines().filter(of_name).filter(|line| line.contains(labels));
        let whole = |line: &str| line.rsplit(' ').next()?.split('.').next()?.parse::<u64>().ok();
        lines.map(|line| whole(line).unwrap_or_else(|| panic!("no number: {line}"))).sum()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.http)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub fn post(&self, path: &str) -> Answer {
        self.ask("POST", path, &[], "")
    }

    /// Asks for a number until the server gives one: a busy machine may need several tries.
    pub fn number(&self, path: &str) -> u64 {
        self.post_until(path, 200).id()
    }

    /// Sends POST until the answer has the status, and returns that answer.
    pub fn post_until(&self, path: &str, status: u16) -> Answer {
        let begun = Instant::now();
        loop {
            let answer = self.post(path);
            if answer.status == status {
                return answer;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "{answer:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn ask_json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.ask(method, path, &[("content-type", "application/json")], &body.to_string())
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.try_ask(method, path, headers, body).expect("an answer")
    }

    pub fn try_ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, ureq::Error> {
        let mut request = ureq::http::Request::builder().method(method).uri(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.to_owned()).expect("a request");
        // ureq allows a body of DELETE only with this setting.
        let request = self.agent.configure_request(request).allow_non_standard_methods(true).build();
        let mut response = self.agent.run(request)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, text: response.body_mut().read_to_string()? })
    }

    /// Connects a Redis client.
    pub fn client(&self) -> redis::Connection {
        redis::Client::open(format!("redis://{}/", self.redis)).expect("a URL").get_connection().expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates a segment tag on the store of a directory.
pub fn make_tag(directory: &Path, tag: &str) {
    let made = command().args(["segment", "create", tag, "--store", &store(directory)]).status();
    assert!(made.expect("it runs").success());
}

/// Checks that no number repeats.
pub fn assert_unique(mut numbers: Vec<u64>) {
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "some numbers came twice");
}

pub fn assert_increasing(numbers: &[u64]) {
    for pair in numbers.windows(2) {
        assert!(pair[0] < pair[1], "{} after {}", pair[1], pair[0]);
    }
}

/// Connects, with a timeout for reads.
pub fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    stream
}

/// Returns the memory of a process, in kB.
pub fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).expect("a number").parse().expect("kB")
}

/// Reads until the server closes the connection.
pub fn rest(mut stream: &TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset counts as an end too.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
