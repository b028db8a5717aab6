//! The counters of a store that ranges of numbers come from.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use snowmint_core::ErrorKind;

use super::definition;
use crate::error::Error;
use crate::store::key::key;
use crate::store::{CounterStore, SegmentTable, ranges};

/// A counter. [`Segments`](super::Segments) take ranges of it.
#[async_trait]
pub(super) trait Source: fmt::Debug + Send + Sync {
    /// Adds `amount` to the counter and returns the sum.
    async fn fetch(&self, amount: u64) -> Result<u64, Error>;
    /// Whether a fetch that is too large leaves a rest to fetch.
    fn leaves_rest(&self) -> bool {
        true
    }
    /// Reads the configured step. `None` for a counter whose step never changes.
    async fn step(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }
    /// Sets the counter from `end` back to `start`. `false` if it is not at `end` any more, or never goes back.
    async fn lower(&self, _end: u64, _start: u64) -> Result<bool, Error> {
        Ok(false)
    }
}

/// A counter of a store.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) store: Arc<dyn CounterStore>,
    pub(super) key: String,
    /// The start of a new counter.
    pub(super) start: u64,
    /// Whether the record of this key defines a tag, with a step.
    pub(super) is_tag: bool,
}

#[async_trait]
impl Source for Counter {
    async fn fetch(&self, amount: u64) -> Result<u64, Error> {
        let end = self.store.add(&self.key, amount, self.start).await?;
        note_range(&*self.store, &self.key, end, amount)?;
        Ok(end)
    }

    async fn step(&self) -> Result<Option<u64>, Error> {
        if !self.is_tag {
            return Ok(None);
        }
        Ok(definition::read_tag(&*self.store, &self.key).await?.map(|row| row.step))
    }

    async fn lower(&self, end: u64, start: u64) -> Result<bool, Error> {
        self.store.lower(&self.key, end, start).await
    }
}

/// Notes the `amount` numbers before `end`.
fn note_range(store: &dyn CounterStore, key: &str, end: u64, amount: u64) -> Result<(), Error> {
    ranges::note(store, key, i128::from(end) - i128::from(amount), i128::from(end) - 1, 1)
}

/// A row of Leaf's table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) store: Arc<dyn CounterStore>,
    pub(super) tag: String,
}

impl Table {
    fn table(&self) -> Result<&dyn SegmentTable, Error> {
        self.store.segments().ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> Error {
        unknown(&*self.store, &self.tag)
    }
}

#[async_trait]
impl Source for Table {
    async fn fetch(&self, amount: u64) -> Result<u64, Error> {
        let end = self.table()?.fetch(&self.tag, amount).await?.ok_or_else(|| self.unknown())?;
        note_range(&*self.store, &key("segments/", &self.tag)?, end, amount)?;
        Ok(end)
    }

    async fn step(&self) -> Result<Option<u64>, Error> {
        let row = self.table()?.tag(&self.tag).await?;
        row.map(|row| Some(row.step)).ok_or_else(|| self.unknown())
    }

    async fn lower(&self, end: u64, start: u64) -> Result<bool, Error> {
        self.table()?.lower(&self.tag, end, start).await
    }
}

/// `InvalidText`: the tag does not exist.
pub(super) fn unknown(store: &dyn CounterStore, tag: &str) -> Error {
    Error::new(ErrorKind::InvalidText, format!("{}: there is no segment tag {tag:?}: create it first", store.name()))
}
