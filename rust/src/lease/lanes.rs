//! The threads of this process for calls that block, one for each directory, store or lessor.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use snowmint_stores::host::background::Lane;
use snowmint_stores::host::fork::PerProcess;
use snowmint_stores::host::lock;

/// The key of a thread: all calls of one place run on one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Directory(PathBuf),
    /// The claims of reservations in a directory, which wait for a store.
    Reservations(PathBuf),
    /// The number of a store or lessor of the caller.
    Object(usize),
}

static LANES: PerProcess<Mutex<HashMap<Place, Weak<Lane>>>> = PerProcess::new();

/// Returns the thread for calls of a place, which its leases share.
pub(super) fn lane(place: Place) -> Arc<Lane> {
    let mut lanes = lock(LANES.get());
    if let Some(lane) = lanes.get(&place).and_then(Weak::upgrade) {
        return lane;
    }
    lanes.retain(|_, lane| lane.strong_count() > 0);
    let lane = Arc::new(Lane::default());
    lanes.insert(place, Arc::downgrade(&lane));
    lane
}
