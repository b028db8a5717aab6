//! A generator that is dropped gives its node back, and the thread that drops it waits for no store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use snowmint::stores::{Error, RecordStore, Version, Versioned, WriteOutcome, connect};
use snowmint::{LeaseOptions, LeaseStore, Snowflake};
use tokio::runtime::Runtime;
use tokio::sync::RwLock;

/// How many generators are dropped while the store hangs.
const DROPPED: u32 = 20;

/// A store whose writes hang while a test has the lock.
#[derive(Debug)]
struct Hanging {
    store: Arc<dyn RecordStore>,
    gate: RwLock<()>,
}

#[async_trait]
impl RecordStore for Hanging {
    fn name(&self) -> &'static str {
        "a store that hangs"
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.store.read(key).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let _open = self.gate.read().await;
        self.store.write(key, value, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.store.list(prefix).await
    }
}

#[test]
fn dropped_generators_wait_for_no_store_and_the_next_claims_wait_for_their_releases() {
    let runtime = Runtime::new().expect("a runtime");
    let store = runtime.block_on(connect("memory:drops")).expect("a store");
    let hanging = Arc::new(Hanging { store, gate: RwLock::default() });
    let store = LeaseStore::own(hanging.clone());
    let lease = |number| {
        let options = LeaseOptions::new().store(store.clone()).namespace(format!("n{number}"));
        Snowflake::lease(options.window(Duration::from_mins(10))).expect("a node")
    };
    let generators: Vec<_> = (0..DROPPED).map(lease).collect();
    let last: Vec<_> = generators.iter().map(|generator| generator.next_id().expect("an ID")).collect();
    let closed = hanging.gate.blocking_write();
    let since = Instant::now();
    drop(generators);
    // A thread that waited would wait two seconds for each.
    assert!(since.elapsed() < Duration::from_secs(2) * DROPPED);
    drop(closed);
    for (number, last) in (0..DROPPED).zip(last) {
        let again = lease(number);
        assert_eq!(again.node(), 0, "the release has ended");
        assert!(again.next_id().expect("an ID") > last);
    }
}
