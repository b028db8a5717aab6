//! The service's store as one for leases of its own generators, whose calls wait for their answers.

use std::sync::Arc;

use snowmint_stores::{BlockingStore, Error, Found, Store, Version, Wrote};
use tokio::runtime::Handle;

/// For threads that are not of the runtime.
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
