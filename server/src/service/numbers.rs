//! Segments, sequences and tickets.

use std::ops::Range;
use std::sync::Arc;

use snowmint_stores::{Error, Segments, SegmentsOptions, Sequences, Store, Tickets};

use super::pool::{Pool, Pooled};
use super::{Deadline, Settings};

/// The limit of open names of each kind.
const MOST: usize = 10_000;

/// The segments, sequences and tickets in use.
#[derive(Debug)]
pub struct Numbers {
    store: Arc<dyn Store>,
    max_wait_ms: u64,
    segments: Arc<Pool<Segments>>,
    sequences: Arc<Pool<Sequences>>,
    tickets: Arc<Pool<Tickets>>,
}

impl Numbers {
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Self {
        Self {
            store,
            max_wait_ms: settings.max_wait_ms,
            segments: Pool::new(MOST, Vec::new()),
            sequences: Pool::new(MOST, Vec::new()),
            tickets: Pool::new(MOST, Vec::new()),
        }
    }

    /// Takes `count` numbers of a tag, without gaps.
    ///
    /// # Errors
    /// `InvalidText`, if the tag does not exist.
    pub async fn segment(&self, tag: &str, count: u64) -> Result<Range<u64>, Error> {
        let deadline = Deadline::of(&*self.store, self.max_wait_ms);
        let options = SegmentsOptions { max_wait_ms: self.max_wait_ms };
        loop {
            let (segments, is_new) = if let Some(segments) = self.segments.get(tag) {
                (segments, false)
            } else {
                let opening = Segments::open(Arc::clone(&self.store), tag, options);
                (deadline.ends(self.segments.open(tag, opening)).await?, true)
            };
            let call = segments.next_block(count);
            // Open segments have their own deadline, with an error that says more.
            match if is_new { deadline.ends(call).await } else { call.await } {
                Err(error) if self.segments.was_given_back(tag, &segments, &error) => {}
                done => return done,
            }
        }
    }

    /// Takes the next `count` values of a sequence, as `nextval`.
    pub async fn sequence(&self, name: &str, count: u64) -> Result<Vec<i128>, Error> {
        let new = async { Ok(Sequences::new(Arc::clone(&self.store)).with_max_wait_ms(self.max_wait_ms)) };
        let session = self.sequences.open(name, new).await?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(session.next(name).await?);
        }
        Ok(values)
    }

    /// Takes a ticket.
    pub async fn ticket(&self, name: &str) -> Result<u64, Error> {
        let stores = vec![Arc::clone(&self.store)];
        let new = async { Ok(Tickets::over(stores, name)?.with_max_wait_ms(self.max_wait_ms)) };
        self.tickets.open(name, new).await?.next().await
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
