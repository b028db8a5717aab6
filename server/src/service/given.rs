//! The service's store for the leases of its own generators, as a blocking store.

use std::sync::Arc;

use snowmint_stores::{BlockingStore, Error, Found, Store, Version, Wrote};
use tokio::runtime::Handle;

/// A store whose calls block. Call it only from threads outside the runtime.
#[derive(Debug)]
pub struct Waiting {
    pub store: Arc<dyn Store>,
    pub runtime: Handle,
}

impl BlockingStore for Waiting {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        self.runtime.block_on(self.store.read(key))
    }

    fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        self.runtime.block_on(self.store.write(key, value, expected))
    }

    fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        self.runtime.block_on(self.store.list(prefix))
    }

    fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.runtime.block_on(self.store.clock_ms())
    }

    fn refuse_standby(&self) -> Result<(), Error> {
        self.runtime.block_on(self.store.refuse_standby())
    }

    fn standby_risk(&self) -> Option<Error> {
        self.store.standby_risk()
    }
}
