//! Code that all tests share: the vectors in Rust's types, and checks of IDs.

#[cfg(all(feature = "engines", unix))]
pub use snowmint_engines as engines;
pub mod scripted;
#[cfg(all(feature = "local", unix))]
pub mod takes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use snowmint_core::{Integer, Layout};

/// The blocks of Rust in the guides, as documentation tests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../docs/start.md")]
    struct Start;
    #[doc = include_str!("../../docs/layouts.md")]
    struct Layouts;
    #[doc = include_str!("../../docs/prefixes.md")]
    struct Prefixes;
    #[doc = include_str!("../../docs/inspect.md")]
    struct Inspect;
    #[doc = include_str!("../../docs/reservations.md")]
    struct Reservations;
}

/// Reads the cases of `tests/vectors/<file>.json`.
///
/// # Panics
/// If the file is missing, or has a key that `Case` does not know.
#[must_use]
pub fn cases<Case: DeserializeOwned>(file: &str) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Vectors<Case> {
        cases: Vec<Case>,
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(file).with_extension("json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let vectors: Vectors<Case> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert!(!vectors.cases.is_empty(), "{file} has no case");
    vectors.cases
}

/// A node, in the form that the vectors use.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Node {
    /// One number.
    Number(String),
    /// A number for each node field.
    Fields(BTreeMap<String, String>),
}

impl Node {
    /// Converts the node to a number, or returns core's refusal of the fields.
    ///
    /// # Errors
    /// `InvalidNode`.
    pub fn integer(&self, layout: &Layout) -> Result<Integer, snowmint_core::Error> {
        match self {
            Self::Number(number) => Ok(integer(number)),
            // `node_of` accepts an empty object only for a layout without node fields, and so do the vectors.
            Self::Fields(fields) => {
                layout.node_of(fields.iter().map(|(name, value)| (name, integer(value)))).map(Integer::from)
            }
        }
    }
}

/// Reads a decimal string of any length.
///
/// # Panics
/// If the string is not a decimal number.
#[must_use]
pub fn integer(decimal: &str) -> Integer {
    assert!(decimal.trim_start_matches('-').bytes().all(|digit| digit.is_ascii_digit()), "{decimal} is no number");
    match decimal.parse::<i128>() {
        Ok(value) => value.into(),
        Err(_) if decimal.starts_with('-') => Integer::Below,
        Err(_) => Integer::Above,
    }
}

/// Returns the number of cases for a property: `usual`, multiplied by `SNOWMINT_TRIES` in a long run.
///
/// # Panics
/// If `SNOWMINT_TRIES` is not a number.
#[must_use]
pub fn tries(usual: u32) -> u32 {
    usual * std::env::var("SNOWMINT_TRIES").map_or(1, |times| times.parse().expect("a number"))
}

/// Checks that the IDs strictly increase, and so are unique.
///
/// # Panics
/// If they do not.
pub fn assert_increasing(ids: &[u64]) {
    for pair in ids.windows(2) {
        assert!(pair[0] < pair[1], "{} is not below {}", pair[0], pair[1]);
    }
}
