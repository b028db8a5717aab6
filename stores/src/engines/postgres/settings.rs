//! Refusals of sequences that a crash empties.

use crate::error::Error;

/// `UnsafeStore`: a crash empties this sequence.
pub(super) fn unlogged(store: &str, name: &str, persistence: &str) -> Error {
    let found = format!("the sequence {name} is {}", if persistence == "t" { "temporary" } else { "unlogged" });
    let cure = if persistence == "t" {
        "drop it and make a permanent sequence".to_owned()
    } else {
        format!("ALTER SEQUENCE {name} SET LOGGED")
    };
    Error::unsafe_store(store, format_args!("{found} (relpersistence={persistence})"), &cure)
}
