//! How many IDs each namespace gave out.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::MAX_COUNTED_NAMESPACES;

/// The namespace of all IDs beyond the limit. No namespace has this name.
const OTHERS: &str = "*";

/// Counts by the name of the generator. A count has the name of the namespace beside it.
#[derive(Debug, Default)]
pub struct Minted(Mutex<HashMap<String, (String, u64)>>);

impl Minted {
    /// Counts IDs of a generator. `namespace` returns the name of its namespace.
    pub fn add(&self, generator: &str, count: u64, namespace: impl FnOnce() -> String) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sum)) = counts.get_mut(generator) {
            *sum += count;
        } else if counts.len() < MAX_COUNTED_NAMESPACES {
            counts.insert(generator.to_owned(), (namespace(), count));
        } else {
            counts.entry(OTHERS.to_owned()).or_insert_with(|| (OTHERS.to_owned(), 0)).1 += count;
        }
    }

    /// Returns each namespace with its count.
    pub fn counts(&self) -> Vec<(String, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_beyond_the_limit_share_a_count() {
        let minted = Minted::default();
        for place in 0..MAX_COUNTED_NAMESPACES + 5 {
            for _ in 0..2 {
                minted.add(&format!("{place}/@"), 3, || place.to_string());
            }
        }
        let counts: HashMap<_, _> = minted.counts().into_iter().collect();
        assert_eq!(counts.len(), MAX_COUNTED_NAMESPACES + 1);
        assert_eq!((counts["0"], counts["*"]), (6, 30));
    }
}
