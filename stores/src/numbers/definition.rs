//! Definitions of tags, sequences and keys, as records of text that every language reads.

use std::fmt::Write as _;

use snowmint_core::ErrorKind;
use snowmint_core::sequence::{Dialect, Kind, Options};

use crate::error::Error;
use crate::store::{RecordStore, Tag, Version, Versioned, WriteOutcome};

/// Writes a definition. Returns `false` if there is a definition.
pub(crate) async fn create(store: &dyn RecordStore, key: &str, text: &[u8]) -> Result<bool, Error> {
    Ok(store.write(key, text, 0).await? != WriteOutcome::Conflict)
}

/// Encodes the definition of a tag: the line `segment 1`, then the lines `next`, `step` and `description`.
pub(crate) fn tag_text(row: &Tag) -> String {
    let Tag { next, step, description } = row;
    format!("segment 1\nnext={next}\nstep={step}\ndescription={description}")
}

/// Reads the definition of a tag. `None` if it does not exist.
pub(crate) async fn read_tag(store: &dyn RecordStore, key: &str) -> Result<Option<Tag>, Error> {
    let Some(found) = store.read(key).await? else { return Ok(None) };
    let text = text(store, key, found.value, "segment 1\n")?;
    // A description may contain several lines, so it comes last.
    let row = text.split_once("description=").and_then(|(numbers, description)| {
        let numbers = Fields(numbers);
        Some(Tag {
            next: numbers.number("next")?.try_into().ok()?,
            step: numbers.number("step")?.try_into().ok()?,
            description: description.to_owned(),
        })
    });
    row.map(Some).ok_or_else(|| undefined(store, key))
}

/// Encodes the definition of a sequence: the line `sequence 1`, then a line for each option with a value.
pub(crate) fn sequence_text(options: &Options) -> String {
    let mut text = format!(
        "sequence 1\ndialect={}\nkind={}\nincrement={}\ncycle={}\n",
        options.dialect.name(),
        options.kind.name(),
        options.increment,
        options.cycle
    );
    for (name, given) in
        [("min", options.min), ("max", options.max), ("start", options.start), ("cache", options.cache)]
    {
        if let Some(given) = given {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}={given}");
        }
    }
    text
}

/// Reads the definition of a sequence. `None` if it does not exist.
pub(crate) async fn read_sequence(store: &dyn RecordStore, key: &str) -> Result<Option<Options>, Error> {
    let Some(found) = store.read(key).await? else { return Ok(None) };
    let text = text(store, key, found.value, "sequence 1\n")?;
    let fields = Fields(&text);
    let options = || {
        Some(Options {
            dialect: Dialect::find(fields.get("dialect")?).ok()?,
            kind: Kind::find(fields.get("kind")?).ok()?,
            increment: fields.number("increment")?,
            min: fields.number("min"),
            max: fields.number("max"),
            start: fields.number("start"),
            cache: fields.number("cache"),
            cycle: fields.get("cycle")?.parse().ok()?,
        })
    };
    options().map(Some).ok_or_else(|| undefined(store, key))
}

/// Encodes the state of a key: the line `key 1`, then whether the key exists.
pub(crate) fn key_text(there: bool) -> String {
    format!("key 1\nthere={there}\n")
}

/// Reads whether a key exists, with the version of its record. `None` without a record.
pub(crate) async fn read_key(store: &dyn RecordStore, key: &str) -> Result<Option<(bool, Version)>, Error> {
    store.read(key).await?.map(|found| key_of(store, key, found)).transpose()
}

/// Decodes whether a key exists, with the version of its record.
pub(crate) fn key_of(store: &dyn RecordStore, key: &str, found: Versioned) -> Result<(bool, Version), Error> {
    let text = text(store, key, found.value, "key 1\n")?;
    let there = Fields(&text).get("there").and_then(|there| there.parse().ok());
    there.map(|there| (there, found.version)).ok_or_else(|| undefined(store, key))
}

/// Returns the text after the first line, which names the kind and the version of a record.
fn text(store: &dyn RecordStore, key: &str, value: Vec<u8>, first_line: &str) -> Result<String, Error> {
    let text = String::from_utf8(value).map_err(|_| undefined(store, key))?;
    text.strip_prefix(first_line).map(str::to_owned).ok_or_else(|| undefined(store, key))
}

/// `StoreUnavailable`: the record has another form.
fn undefined(store: &dyn RecordStore, key: &str) -> Error {
    let store = store.name();
    Error::new(
        ErrorKind::StoreUnavailable,
        format!("{store}: the record at {key} is not a definition, or a newer snowmint wrote it: update snowmint here"),
    )
}

/// The lines `name=value` of a record.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.lines().filter_map(|line| line.split_once('=')).find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    fn number(&self, name: &str) -> Option<i128> {
        self.get(name)?.parse().ok()
    }
}
