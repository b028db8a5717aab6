//! Scenes: the stores on which the suite's tests run.
#![allow(clippy::match_wildcard_for_single_variants, reason = "without engines there are fewer kinds")]

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use snowmint::stores::memory::Memory;
use snowmint::stores::{CounterStore, connect};
#[cfg(feature = "engines")]
use snowmint_tests::engines::{self, Engine, Server, SharedServer};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Memory,
    File,
    #[cfg(feature = "engines")]
    Sqlite,
    #[cfg(feature = "engines")]
    Server(Engine),
}

/// A store of a kind, shared by all tests of this process.
pub struct Scene {
    pub kind: Kind,
    url: String,
    memory: Arc<Memory>,
    #[cfg(feature = "engines")]
    server: Option<SharedServer>,
    _directory: TempDir,
}

type Once = Arc<OnceLock<Arc<Scene>>>;

pub fn shared(kind: Kind) -> Arc<Scene> {
    static SCENES: LazyLock<Mutex<HashMap<Kind, Once>>> = LazyLock::new(Mutex::default);
    let once = SCENES.lock().expect("no panic").entry(kind).or_default().clone();
    once.get_or_init(|| Arc::new(Scene::new(kind))).clone()
}

impl Scene {
    #[cfg(feature = "engines")]
    fn new(kind: Kind) -> Self {
        let directory = directory();
        let server = if let Kind::Server(engine) = kind { Some(engines::shared(engine)) } else { None };
        let url = match (&server, kind) {
            // On a busy machine an answer may take longer than the 5 s of the default, and numbers would be left out.
            (Some(server), _) => engines::with_option(server.url(), "timeout_ms=20000"),
            (None, Kind::Sqlite) => format!("sqlite:{}?allow_unsafe=true", directory.path().join("ids.db").display()),
            (None, _) => local_url(kind, &directory),
        };
        Self { kind, url, memory: Arc::default(), server, _directory: directory }
    }

    #[cfg(not(feature = "engines"))]
    fn new(kind: Kind) -> Self {
        let directory = directory();
        Self { kind, url: local_url(kind, &directory), memory: Arc::default(), _directory: directory }
    }

    /// Runs a statement in the engine's own client and returns its output.
    #[cfg(feature = "engines")]
    pub fn client(&self, statement: &str) -> String {
        self.server.as_ref().expect("an engine").client(statement)
    }

    /// Runs statements in one session of the engine's own client and returns its output. Refused statements print
    /// nothing.
    #[cfg(feature = "engines")]
    pub fn client_script(&self, script: &str) -> String {
        self.server.as_ref().expect("an engine").client_script(script)
    }

    #[cfg(feature = "engines")]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens a new connection.
    pub async fn connect(&self) -> Arc<dyn CounterStore> {
        match self.kind {
            Kind::Memory => self.memory.clone(),
            _ => connect(&self.url).await.expect("it connects"),
        }
    }

    /// Runs a property.
    pub fn run<F: Future<Output = ()>>(self: Arc<Self>, property: impl FnOnce(Arc<Self>) -> F) {
        Runtime::new().expect("a runtime").block_on(property(self));
    }
}

fn local_url(kind: Kind, directory: &TempDir) -> String {
    match kind {
        Kind::File => format!("file:{}?allow_unsafe=true", directory.path().join("ids").display()),
        _ => "memory:".to_owned(),
    }
}

/// Makes a directory, in memory if possible: its files survive a kill of the process, and tests do not wait for the
/// disk. For stores with `allow_unsafe=true`.
pub fn directory() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a directory")
}

/// Returns a name that no other test uses, also in other processes on the same servers.
pub fn unique(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Waits until the engine's own client shows a text for a statement.
#[cfg(feature = "engines")]
pub fn until_shown(server: &Server, statement: &str, wanted: &str) {
    let began = std::time::Instant::now();
    loop {
        let shown = server.engine().client(server.port(), statement);
        if shown.contains(wanted) {
            return;
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{statement} does not show {wanted}: {shown}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
