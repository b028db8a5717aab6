//! A server of our own, its clients, and what they check.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;

pub const TOKEN: &str = "a-token-of-these-tests";

/// A server, which is killed at the end.
pub struct Server {
    child: Child,
    pub http: String,
    pub redis: String,
    agent: Agent,
}

/// What an HTTP request came to.
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

    /// A problem document of that status and code.
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

    /// Of `{"start": "1", "end": "2"}`.
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

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snowmint"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SNOWMINT_")) {
        command.env_remove(name);
    }
    command
}

impl Server {
    /// On the store of a directory.
    pub fn start(directory: &Path, options: &[&str]) -> Self {
        Self::over(&format!("sqlite:{}", directory.join("store.db").display()), options)
    }

    /// On a store of its own.
    pub fn alone(options: &[&str]) -> (Self, TempDir) {
        let directory = TempDir::new().expect("a directory");
        (Self::start(directory.path(), options), directory)
    }

    pub fn over(store: &str, options: &[&str]) -> Self {
        let mut child = command()
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
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let line = lines.next().expect("a line").expect("text");
        let serving: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("it did not start: {line}"));
        assert_eq!(serving["message"], "serving", "{line}");
        let address = |name: &str| serving[name].as_str().expect("an address").to_owned();
        let (http, redis) = (address("http"), address("redis"));
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(Duration::from_secs(30)));
        Self { child, http, redis, agent: config.build().into() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it ended");
    }

    /// A request to end; whether it ended well.
    pub fn end(&mut self) -> bool {
        let ended = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status().expect("kill");
        assert!(ended.success());
        self.child.wait().expect("it ended").success()
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
        // DELETE has a body here.
        let request = self.agent.configure_request(request).allow_non_standard_methods(true).build();
        let mut response = self.agent.run(request)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, text: response.body_mut().read_to_string()? })
    }

    /// A client of Redis.
    pub fn client(&self) -> redis::Connection {
        redis::Client::open(format!("redis://{}/", self.redis)).expect("a URL").get_connection().expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// None of them twice.
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
