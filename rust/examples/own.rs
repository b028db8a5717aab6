//! An own store, an own clock, asynchronous calls under tokio, and IDs in JSON:
//! `cargo run --example own --features memory,serde,tokio`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use snowmint::stores::{RecordStore, Version, Versioned, WriteOutcome};
use snowmint::{Clock, Error, ErrorKind, Id, LeaseOptions, LeaseStore, Snowflake, layouts};

/// Keeps records in memory. A real one is durable before it answers.
#[derive(Debug, Default)]
struct Records(Mutex<BTreeMap<String, Versioned>>);

impl Records {
    fn with<T>(&self, call: impl FnOnce(&mut BTreeMap<String, Versioned>) -> T) -> Result<T, Error> {
        self.0
            .lock()
            .map(|mut records| call(&mut records))
            .map_err(|_| Error::unavailable(self.name(), "a call panicked"))
    }
}

#[async_trait::async_trait]
impl RecordStore for Records {
    fn name(&self) -> &'static str {
        "records in memory"
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.with(|records| records.get(key).cloned())
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        self.with(|records| {
            if records.get(key).map_or(0, |found| found.version) != expected {
                return WriteOutcome::Conflict;
            }
            records.insert(key.to_owned(), Versioned::new(value, expected + 1));
            WriteOutcome::Version(expected + 1)
        })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.with(|records| {
            let under = records.range(prefix.to_owned()..).take_while(|(key, _)| key.starts_with(prefix));
            under.map(|(key, found)| (key[prefix.len()..].to_owned(), found.clone())).collect()
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = LeaseStore::own(Arc::new(Records::default()));
    let options = || LeaseOptions::new().layout(layouts::TWITTER).store(store.clone()).namespace("orders");
    let generator = Snowflake::lease_async(options()).await?;
    let id = generator.next_id_async().await?;

    // The same node is taken while this lease is held.
    let other = Snowflake::lease(options().node(generator.node()).max_wait(Duration::from_millis(50)));
    let refused = other.err().ok_or("the node has one holder")?;
    assert_eq!(refused.kind(), ErrorKind::NodesExhausted, "{refused}");

    // A closure is a clock: here one that is an hour ahead.
    let clock = Clock::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + Duration::from_secs(3600);
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
    });
    let ahead = Snowflake::lease_async(options().clock(clock)).await?;
    let later = ahead.next_id()?;
    assert!(later > id, "{later} is of a later hour than {id}");

    // In JSON an ID is a string, since JavaScript rounds large numbers.
    let json = serde_json::to_string(&id)?;
    assert_eq!(json, format!("\"{id}\""));
    assert_eq!(serde_json::from_str::<Id>(&json)?, id);

    println!("{id} of node {}", generator.node());
    Ok(())
}
