//! Servers that all tests of a run share.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::{Engine, Server};

/// The servers that this process has started. Statics are not dropped: the servers end with the process.
static SERVERS: [OnceLock<Server>; Engine::ALL.len()] = [const { OnceLock::new() }; Engine::ALL.len()];
static DATABASES: AtomicU32 = AtomicU32::new(1);

/// A server that other tests use too. Each test uses a separate namespace or database.
#[derive(Clone, Debug)]
pub struct SharedServer {
    engine: Engine,
    port: u16,
    url: String,
}

/// Returns the shared server of an engine, which the first call starts.
///
/// With `SNOWMINT_ENGINES` it is a server of that program, otherwise one of this process.
pub fn shared(engine: Engine) -> SharedServer {
    find(engine, false)
}

/// Returns the shared server with a URL of a new, empty database. Redis has 1,000 databases, which are counted.
///
/// # Panics
/// For etcd, `ZooKeeper` and NATS, which have no databases.
pub fn shared_database(engine: Engine) -> SharedServer {
    find(engine, true)
}

fn find(engine: Engine, new_database: bool) -> SharedServer {
    if let Some(socket) = env::var_os("SNOWMINT_ENGINES") {
        let mut stream = UnixStream::connect(&socket).unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
        let request = json!({ "shared": engine, "new_database": new_database });
        writeln!(stream, "{request}").expect("the program reads");
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("the program answers");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        let port = answer["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let port = port.unwrap_or_else(|| panic!("{request}: {line}"));
        return SharedServer { engine, port, url: answer["url"].as_str().expect("a URL").to_owned() };
    }
    let server = SERVERS[engine as usize].get_or_init(|| Server::start_shared(engine));
    let port = server.port();
    let url =
        if new_database { engine.new_database(port, DATABASES.fetch_add(1, Ordering::Relaxed)) } else { server.url() };
    SharedServer { engine, port, url }
}

impl SharedServer {
    /// The port where the server listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a store on the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs one statement in the engine's own client and returns what the client prints.
    pub fn client(&self, statement: &str) -> String {
        self.engine.client_at(&self.url, statement)
    }

    /// Runs a script in one session of the engine's own client, which goes on after refused statements.
    pub fn client_script(&self, script: &str) -> String {
        self.engine.client_script(&self.url, script)
    }
}
