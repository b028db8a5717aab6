//! Definitions of tags, sequences and keys, as records of text that every language reads.

use snowmint_core::Error as CoreError;
use snowmint_core::host::{Fields, UNDEFINED};
use snowmint_core::segment::TagRecord;
use snowmint_core::sequence::Options;

use crate::error::Error;
use crate::store::{RecordStore, Tag, Version, Versioned, WriteOutcome};

/// Writes a definition. Returns `false` if there is a definition.
pub(crate) async fn create(store: &dyn RecordStore, key: &str, text: &[u8]) -> Result<bool, Error> {
    Ok(store.write(key, text, 0).await? != WriteOutcome::Conflict)
}

/// Encodes the definition of a tag.
pub(crate) fn tag_text(row: &Tag) -> String {
    TagRecord { next: row.next, step: row.step, description: &row.description }.to_string()
}

/// Reads the definition of a tag. `None` if it does not exist.
pub(crate) async fn read_tag(store: &dyn RecordStore, key: &str) -> Result<Option<Tag>, Error> {
    let Some(found) = store.read(key).await? else { return Ok(None) };
    let row = TagRecord::read(&found.value).map_err(|error| undefined(store, key, error))?;
    Ok(Some(Tag::new(row.next, row.step).description(row.description)))
}

/// Reads the definition of a sequence. `None` if it does not exist.
pub(crate) async fn read_sequence(store: &dyn RecordStore, key: &str) -> Result<Option<Options>, Error> {
    let Some(found) = store.read(key).await? else { return Ok(None) };
    Options::read(&found.value).map(Some).map_err(|error| undefined(store, key, error))
}

/// Encodes the state of a key: the line `key 1`, then whether the key exists.
pub(crate) fn key_text(there: bool) -> String {
    format!("key 1\nthere={there}\n")
}

/// Reads whether a key exists, with the version of its record. `None` without a record.
pub(crate) async fn read_key(store: &dyn RecordStore, key: &str) -> Result<Option<(bool, Version)>, Error> {
    store.read(key).await?.map(|found| key_of(store, key, &found)).transpose()
}

/// Decodes whether a key exists, with the version of its record.
pub(crate) fn key_of(store: &dyn RecordStore, key: &str, found: &Versioned) -> Result<(bool, Version), Error> {
    let there = Fields::read(&found.value, "key").and_then(|fields| fields.value("there").ok_or(UNDEFINED));
    let there = there.map_err(|error| undefined(store, key, error))?;
    Ok((there, found.version))
}

fn undefined(store: &dyn RecordStore, key: &str, error: CoreError) -> Error {
    Error::new(error.kind(), format!("{}: {key}: {error}", store.name()))
}
