//! What the verbs of operators share: a store, and a runtime to ask it in.

use std::sync::Arc;

use snowmint_stores::{Slots, Store, connect};

use super::serve::default_store;
use crate::arguments::operate::Place;
use crate::exit::Exit;

/// Does something with the store that was named.
pub fn with_store<T>(place: &Place, work: impl AsyncFnOnce(Arc<dyn Store>) -> Result<T, Exit>) -> Result<T, Exit> {
    with_store_and_slots(place, async |store, _| work(store).await)
}

/// Does something with the store that was named, and with the slots beside it, if it is a directory.
pub fn with_store_and_slots<T>(
    place: &Place,
    work: impl AsyncFnOnce(Arc<dyn Store>, Option<Slots>) -> Result<T, Exit>,
) -> Result<T, Exit> {
    with_url(place, async |url| work(connect(url).await?, Slots::of_url(url)?).await)
}

/// Does something with the URL that was named, in a runtime.
pub fn with_url<T>(place: &Place, work: impl AsyncFnOnce(&str) -> Result<T, Exit>) -> Result<T, Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let url = place.store.clone().map_or_else(default_store, Ok)?;
        work(&url).await
    })
}
