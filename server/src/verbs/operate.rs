//! What the verbs of operators share: a store, and a runtime to ask it in.

use std::sync::Arc;

use snowmint_stores::{Store, connect};

use super::serve::default_store;
use crate::arguments::operate::Place;
use crate::exit::Exit;

/// Does something with the store that was named.
pub fn with_store<T>(place: &Place, work: impl AsyncFnOnce(Arc<dyn Store>) -> Result<T, Exit>) -> Result<T, Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let url = place.store.clone().map_or_else(default_store, Ok)?;
        work(connect(&url).await?).await
    })
}
