//! Settings that must never change, as a store keeps them.

use snowmint_core::pin::Pin;
use snowmint_core::store::{Next, Reply};

use crate::error::Error;
use crate::store::RecordStore;
use crate::store::ask::ask;
use crate::store::key::refuse_new;

/// Pins a setting that the store lacks. Fails if another process pins a different value meanwhile, and for a name that
/// is not allowed.
pub(crate) async fn pin(store: &dyn RecordStore, key: &str, wanted: Pin) -> Result<(), Error> {
    refuse_new(key)?;
    let mut reply = Some(Reply::Record(None, 0));
    loop {
        let next = wanted.next(reply).map_err(|error| refused(store, key, &error))?;
        let Next::Ask(asked) = next else { return Ok(()) };
        match ask(store, key, asked).await? {
            (_, Some(error)) => return Err(error),
            (answer, None) => reply = Some(answer),
        }
    }
}

/// Returns whether a setting is pinned, and refuses a different one.
pub(crate) async fn is_pinned(store: &dyn RecordStore, key: &str, wanted: Pin) -> Result<bool, Error> {
    let Some(found) = store.read(key).await? else { return Ok(false) };
    let pinned = Pin::from_bytes(&found.value).and_then(|pinned| wanted.refuse_other(pinned));
    pinned.map(|()| true).map_err(|error| refused(store, key, &error))
}

fn refused(store: &dyn RecordStore, key: &str, error: &snowmint_core::Error) -> Error {
    Error::new(error.kind(), format!("{}, {key}: {error}", store.name()))
}
