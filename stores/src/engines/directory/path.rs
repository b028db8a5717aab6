//! Where a key is, relative to the store.
//!
//! Every name has an `@` or a `~` in it, which no key has, so that a directory is never taken for a record, and no name
//! means anything to an operating system. Capitals get a `+` in front, as some file systems do not tell them from small
//! letters; what is longer than a name may be goes on in a directory.

use std::path::PathBuf;

/// The most bytes of a name before its ending; file systems take 255, some of them less.
const MAX_PIECE: usize = 200;
/// What the names of directories for the rest of a long name end in.
pub(super) const GOES_ON: char = '~';
/// What the names of records end in.
pub(super) const RECORD: &str = "@record";
const COUNTER: &str = "@counter";
const DIRECTORY: &str = "@";

/// The file of a record.
pub(super) fn record(key: &str) -> Result<PathBuf, String> {
    file("records", key, RECORD)
}

/// The file of a counter.
pub(super) fn counter(key: &str) -> Result<PathBuf, String> {
    file("counters", key, COUNTER)
}

/// The directory of the records right under a prefix.
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
            other => return Err(format!("a key has no {other:?} in it")),
        }
        name.push(letter);
    }
    let mut rest = name.as_str();
    while let Some((piece, after)) = rest.split_at_checked(MAX_PIECE).filter(|(_, after)| !after.is_empty()) {
        path.push(format!("{piece}{GOES_ON}"));
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
    fn keys_have_paths_of_their_own() {
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
    fn no_name_is_longer_than_a_file_system_takes() {
        for key in ["k".repeat(512), "K".repeat(512), "k".repeat(MAX_PIECE), "k".repeat(MAX_PIECE + 1)] {
            let path = record(&key).expect("a key");
            assert!(path.iter().all(|name| name.len() <= 210), "{path:?}");
            let name: String =
                path.iter().skip(1).map(|name| name.to_string_lossy().replace([GOES_ON, '+'], "")).collect();
            assert_eq!(name, format!("{key}{RECORD}"));
        }
    }
}
