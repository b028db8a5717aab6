//! Runs the operators' verbs on a store, within a tokio runtime, and prints their lines.

use std::fmt::Display;
use std::io::{self, Write as _, stdout};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use snowmint::Slots;
use snowmint_cli::json::write_line;
use snowmint_stores::{CounterStore, connect};

use super::serve::default_store;
use crate::arguments::operate::Place;
use snowmint_cli::Exit;

/// How long a verb waits for the store: a person has no deadline as short as a request's.
pub const MAX_WAIT: Duration = Duration::from_secs(10);

impl Place {
    /// Prints a line: the text, or the JSON object with `--json`.
    pub fn print(&self, text: impl Display, object: &impl Serialize) -> io::Result<()> {
        let mut out = stdout().lock();
        if self.json { write_line(&mut out, object) } else { writeln!(out, "{text}") }
    }

    /// Prints a number.
    pub fn print_number(&self, number: impl Display) -> io::Result<()> {
        self.print(&number, &json!({ "id": number.to_string() }))
    }
}

/// Runs work on the store of `--store`.
pub fn with_store<T>(
    place: &Place,
    work: impl AsyncFnOnce(Arc<dyn CounterStore>) -> Result<T, Exit>,
) -> Result<T, Exit> {
    with_store_and_slots(place, async |store, _| work(store).await)
}

/// Runs work on the store of `--store`, and on the slots beside it if the store is a directory.
pub fn with_store_and_slots<T>(
    place: &Place,
    work: impl AsyncFnOnce(Arc<dyn CounterStore>, Option<Slots>) -> Result<T, Exit>,
) -> Result<T, Exit> {
    with_url(place, async |url| {
        let store = connect(url).await?;
        let done = work(Arc::clone(&store), Slots::of_url(url)?).await;
        store.close().await;
        done
    })
}

/// Runs work on the URL of `--store` or the default one.
pub fn with_url<T>(place: &Place, work: impl AsyncFnOnce(&str) -> Result<T, Exit>) -> Result<T, Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let url = place.store.clone().map_or_else(default_store, Ok)?;
        work(&url).await
    })
}
