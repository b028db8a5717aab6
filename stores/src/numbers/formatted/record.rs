//! Definitions of formatted numbers, as records of a store. Core writes and reads their text.

use snowmint_core::formatted::Definition;

use crate::error::Error;
use crate::numbers::definition::create;
use crate::store::RecordStore;
use crate::store::key::{key, refuse_new};

/// Writes the definition of a name. Returns `false` if the name has a different definition.
pub(super) async fn define(store: &dyn RecordStore, name: &str, definition: &Definition) -> Result<bool, Error> {
    let place = key("formatted/", name)?;
    refuse_new(&place)?;
    if create(store, &place, definition.to_string().as_bytes()).await? {
        return Ok(true);
    }
    Ok(read(store, name).await? == Some(*definition))
}

/// Reads the definition of a name. `None` if it has no definition.
pub(super) async fn read(store: &dyn RecordStore, name: &str) -> Result<Option<Definition>, Error> {
    let place = key("formatted/", name)?;
    let Some(found) = store.read(&place).await? else { return Ok(None) };
    let text = String::from_utf8_lossy(&found.value);
    let definition = Definition::parse(&text);
    definition.map(Some).map_err(|error| Error::unavailable(store.name(), format_args!("{place}: {error}")))
}
