//! The floor that fences leave in a store: where nodes and counters without a record begin.

use snowmint_core::lease::Floor;

use crate::error::Error;
use crate::store::{RecordStore, Versioned};

/// Reads the floor. `None` if the store was never fenced.
pub(crate) async fn floor(store: &dyn RecordStore) -> Result<Option<Floor>, Error> {
    store.read(Floor::KEY).await?.map(|found| read_floor(store, &found)).transpose()
}

/// Returns how many numbers a counter, sequence or section without a record skips: the sum over all fences.
pub(crate) async fn skipped(store: &dyn RecordStore) -> Result<u64, Error> {
    Ok(floor(store).await?.map_or(0, |floor| floor.skip))
}

/// Decodes the record of the floor.
pub(crate) fn read_floor(store: &dyn RecordStore, found: &Versioned) -> Result<Floor, Error> {
    Floor::read(&found.value).map_err(|error| Error::unavailable(store.name(), format_args!("{}: {error}", Floor::KEY)))
}
