//! Starts real servers for tests in any language, on request over a Unix socket.
//!
//! ```text
//! snowmint-engines COMMAND...   runs the command with SNOWMINT_ENGINES, the path of the socket, and ends with it
//! snowmint-engines              prints the path and serves until its standard input ends
//! ```
//!
//! A connection carries lines of JSON, an answer for each request:
//!
//! ```text
//! {"shared": "postgres"}                          {"url": ..., "port": ...}: the server that all tests of the run share
//! {"shared": "postgres", "new_database": true}    an empty database on it; for Redis a number of a database
//! {"start": "redis", "options": ["--save", ""], "env": {}}
//! {"start": "postgres", "standby_of": 5432}       {"url", "port", "second_port", "directory"}: a server of this connection
//! {"start": "pgbouncer", "pooler_of": 5432, "options": ["pool_mode=transaction"]}: a pooler in front of that PostgreSQL, or "pgpool"
//! "kill", "restart", "pause", "resume", "stop"    {} when it is done, for the server that the connection has started
//! ```
//!
//! The variable `SNOWMINT_POSTGRES` names a folder with the programs `initdb` and `postgres` of another version than the
//! installed one.
//!
//! A failure is answered by `{"error": ...}`. The server of a connection ends with the connection.

#[cfg(unix)]
mod program {
    use std::any::Any;
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::panic::{self, AssertUnwindSafe, catch_unwind};
    use std::process::{Command, ExitCode};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};
    use std::{env, io, thread};

    use serde::Deserialize;
    use serde_json::{Value, json};
    use snowmint_engines::{Engine, Server, shared, shared_database};

    /// How many connections there are.
    static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);

    #[derive(Deserialize)]
    #[serde(untagged, deny_unknown_fields)]
    enum Request {
        Shared {
            shared: Engine,
            #[serde(default)]
            new_database: bool,
        },
        Start {
            start: Engine,
            #[serde(default)]
            options: Vec<String>,
            #[serde(default)]
            env: BTreeMap<String, String>,
            standby_of: Option<u16>,
            pooler_of: Option<u16>,
        },
        Act(Act),
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Act {
        Kill,
        Restart,
        Pause,
        Resume,
        Stop,
    }

    pub fn main() -> ExitCode {
        // A failure of a request is answered to the test that has asked.
        panic::set_hook(Box::new(|failure| {
            if thread::current().name() == Some("main") {
                eprintln!("{failure}");
            }
        }));
        // In this process the shared servers are its own.
        assert!(
            env::var_os("SNOWMINT_ENGINES").is_none(),
            "a program for servers already runs: SNOWMINT_ENGINES is set"
        );
        let directory = tempfile::TempDir::with_prefix("snowmint-engines-").expect("a temporary directory");
        let socket = directory.path().join("socket");
        let listener = UnixListener::bind(&socket).expect("a socket");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                CONNECTIONS.fetch_add(1, Ordering::Relaxed);
                thread::spawn(move || {
                    serve(&stream);
                    CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        let mut command = env::args_os().skip(1);
        if let Some(program) = command.next() {
            let status = Command::new(&program).args(command).env("SNOWMINT_ENGINES", &socket).status();
            wait_for_connections();
            let status = status.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
            return status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
        println!("{}", socket.display());
        io::stdin().read_to_end(&mut Vec::new()).expect("standard input can be read");
        wait_for_connections();
        ExitCode::SUCCESS
    }

    /// Waits until the servers of connections that end with the caller are gone, with their directories.
    fn wait_for_connections() {
        let deadline = Instant::now() + Duration::from_secs(5);
        while CONNECTIONS.load(Ordering::Relaxed) > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn serve(stream: &UnixStream) {
        let mut server = None;
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let answer = catch_unwind(AssertUnwindSafe(|| answer(&line, &mut server)));
            let answer = answer.unwrap_or_else(|panic| json!({ "error": message(&*panic) }));
            let mut writer = stream;
            if writeln!(writer, "{answer}").is_err() {
                break;
            }
        }
    }

    fn answer(line: &str, own: &mut Option<Server>) -> Value {
        let request = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        match request {
            Request::Shared { shared: engine, new_database } => {
                let server = if new_database { shared_database(engine) } else { shared(engine) };
                json!({ "url": server.url(), "port": server.port() })
            }
            Request::Start { start, options, env, standby_of, pooler_of } => {
                assert!(own.is_none(), "a connection starts one server");
                let server = match (standby_of, pooler_of) {
                    (Some(primary), _) => Server::start_standby(primary),
                    (_, Some(postgres)) => Server::start_pooler(start, postgres, &options),
                    _ => Server::start_in(start, options, env),
                };
                let (port, second_port) = (server.port(), server.second_port());
                let answer = json!({ "url": server.url(), "port": port, "second_port": second_port, "directory": server.directory() });
                *own = Some(server);
                answer
            }
            Request::Act(act) => {
                let server = own.as_mut().expect("this connection has started a server");
                match act {
                    Act::Kill => server.kill(),
                    Act::Restart => server.restart(),
                    Act::Pause => server.pause(true),
                    Act::Resume => server.pause(false),
                    Act::Stop => server.stop(),
                }
                json!({})
            }
        }
    }

    fn message(panic: &(dyn Any + Send)) -> &str {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
    }
}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(unix))]
fn main() {}
