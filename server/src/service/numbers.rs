//! Segments, sequences and tickets.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use snowmint_stores::host::reserve;
use snowmint_stores::{CounterStore, Segments, SegmentsOptions, Sequences, Tickets};

use super::Settings;
use super::failure::Failure;
use super::openings::Openings;
use super::pool::{Pool, Pooled};

/// The limit of open names of each kind.
const MAX_OPEN_NAMES: usize = 10_000;

/// The segments, sequences and tickets in use.
#[derive(Debug)]
pub struct Numbers {
    store: Arc<dyn CounterStore>,
    max_wait_ms: u64,
    openings: Openings,
    segments: Arc<Pool<Segments>>,
    sequences: Arc<Pool<Sequences>>,
    tickets: Arc<Pool<Tickets>>,
}

impl Numbers {
    pub fn new(store: Arc<dyn CounterStore>, openings: Openings, settings: &Settings) -> Self {
        Self {
            store,
            openings,
            max_wait_ms: settings.max_wait_ms,
            segments: Pool::new(MAX_OPEN_NAMES, Vec::new()),
            sequences: Pool::new(MAX_OPEN_NAMES, Vec::new()),
            tickets: Pool::new(MAX_OPEN_NAMES, Vec::new()),
        }
    }

    /// Takes `count` numbers of a tag, without gaps.
    ///
    /// # Errors
    /// `InvalidText`, if the tag does not exist.
    pub async fn segment(&self, tag: &str, count: u64) -> Result<Range<u64>, Failure> {
        let options = SegmentsOptions::default().max_wait(Duration::from_millis(self.max_wait_ms));
        let open = || {
            let (store, tag) = (Arc::clone(&self.store), tag.to_owned());
            async move { Segments::open(store, &tag, options).await }
        };
        let call = |segments: Arc<Segments>| async move { segments.next_block(count).await };
        self.openings.with(&self.segments, tag, open, call).await
    }

    /// Takes the next `count` values of a sequence, as `nextval`.
    pub async fn sequence(&self, name: &str, count: u64) -> Result<Vec<i128>, Failure> {
        let new = Sequences::new(Arc::clone(&self.store)).with_max_wait(Duration::from_millis(self.max_wait_ms));
        let session = self.sequences.open(name, async { Ok(new) }).await?;
        let deadline = self.openings.deadline();
        let mut values = reserve(count)?;
        for _ in 0..count {
            values.push(session.next(name).await.map_err(|error| deadline.judged(error))?);
        }
        Ok(values)
    }

    /// Takes a ticket.
    pub async fn ticket(&self, name: &str) -> Result<u64, Failure> {
        let new =
            Tickets::over(vec![Arc::clone(&self.store)], name)?.with_max_wait(Duration::from_millis(self.max_wait_ms));
        let tickets = self.tickets.open(name, async { Ok(new) }).await?;
        let deadline = self.openings.deadline();
        tickets.next().await.map_err(|error| deadline.judged(error))
    }

    /// Returns how many segment tags, sequences and tickets are open.
    pub fn names(&self) -> [usize; 3] {
        [self.segments.len(), self.sequences.len(), self.tickets.len()]
    }

    /// Gives back the numbers of names that were not used for a while.
    pub async fn sweep(&self) {
        tokio::join!(self.segments.sweep(), self.sequences.sweep(), self.tickets.sweep());
    }

    /// Gives all numbers back, and opens no name any more.
    pub async fn close(&self) {
        tokio::join!(self.segments.close(), self.sequences.close(), self.tickets.close());
    }
}

impl Pooled for Segments {
    async fn give_back(self: Arc<Self>) {
        if let Err(error) = self.close().await {
            tracing::warn!(%error, "unused numbers of a segment are lost");
        }
    }
}

impl Pooled for Sequences {
    // As in SQL, the unused values of a session's cache are lost.
    async fn give_back(self: Arc<Self>) {}
}

impl Pooled for Tickets {
    async fn give_back(self: Arc<Self>) {}
}
