//! The path of a key, relative to the store.
//!
//! Every name contains an `@` or a `~`, which keys never do: so a directory never looks like a record, and no name has a
//! meaning for the operating system. Capitals get a leading `+`, as some file systems ignore case. The rest of a long name
//! goes into a directory.

use std::path::PathBuf;

/// The most bytes of a name before its ending. Most file systems accept 255, some fewer.
const MAX_PIECE_BYTES: usize = 200;
/// The ending of a directory for the rest of a long name.
pub(super) const CONTINUATION: char = '~';
/// The ending of a record.
pub(super) const RECORD: &str = "@record";
const COUNTER: &str = "@counter";
/// The ending of the directory of a part of keys.
pub(super) const DIRECTORY: &str = "@";

/// Returns the file of a record.
pub(super) fn record(key: &str) -> Result<PathBuf, String> {
    file("records", key, RECORD)
}

/// Returns the file of a counter.
pub(super) fn counter(key: &str) -> Result<PathBuf, String> {
    file("counters", key, COUNTER)
}

/// Returns the directory of the records directly under a prefix.
pub(super) fn directory(prefix: &str) -> Result<PathBuf, String> {
    let mut path = PathBuf::from("records");
    for part in prefix.strip_suffix('/').into_iter().flat_map(|directory| directory.split('/')) {
        push(&mut path, part, DIRECTORY)?;
    }
    Ok(path)
}

fn file(kind: &str, key: &str, ending: &str) -> Result<PathBuf, String> {
    let mut path = PathBuf::from(kind);
    let mut parts = key.split('/').peekable();
    while let Some(part) = parts.next() {
        push(&mut path, part, if parts.peek().is_some() { DIRECTORY } else { ending })?;
    }
    Ok(path)
}

fn push(path: &mut PathBuf, part: &str, ending: &str) -> Result<(), String> {
    let mut name = String::with_capacity(part.len() + ending.len());
    for letter in part.chars() {
        match letter {
            'a'..='z' | '0'..='9' | '.' | '_' | '-' | '%' => {}
            'A'..='Z' => name.push('+'),
            other => return Err(format!("a key must not contain {other:?}")),
        }
        name.push(letter);
    }
    let mut rest = name.as_str();
    while let Some((piece, after)) = rest.split_at_checked(MAX_PIECE_BYTES).filter(|(_, after)| !after.is_empty()) {
        path.push(format!("{piece}{CONTINUATION}"));
        rest = after;
    }
    path.push(format!("{rest}{ending}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn different_keys_have_different_paths() {
        for (key, path) in [
            ("a", "records/a@record"),
            ("a/b", "records/a@/b@record"),
            ("a/B", "records/a@/+B@record"),
            ("a/..", "records/a@/..@record"),
            ("../con/", "records/..@/con@/@record"),
        ] {
            assert_eq!(record(key).as_deref(), Ok(Path::new(path)));
        }
        assert_eq!(counter("a/b").as_deref(), Ok(Path::new("counters/a@/b@counter")));
        assert_eq!(directory("a/b/").as_deref(), Ok(Path::new("records/a@/b@")));
        assert_eq!(directory("").as_deref(), Ok(Path::new("records")));
        for key in ["a b", "ä", "a\\b", "a\0", "a~", "a@", "a+"] {
            assert!(record(key).is_err(), "{key}");
        }
    }

    #[test]
    fn names_fit_into_every_file_system() {
        for key in ["k".repeat(512), "K".repeat(512), "k".repeat(MAX_PIECE_BYTES), "k".repeat(MAX_PIECE_BYTES + 1)] {
            let path = record(&key).expect("a key");
            assert!(path.iter().all(|name| name.len() <= 210), "{path:?}");
            let name: String =
                path.iter().skip(1).map(|name| name.to_string_lossy().replace([CONTINUATION, '+'], "")).collect();
            assert_eq!(name, format!("{key}{RECORD}"));
        }
    }
}
