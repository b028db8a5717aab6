//! Segments, sequences and tickets.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_stores::{Error, Segments, SegmentsOptions, Sequences, Store, Tickets};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::opened::Opened;
use super::{Settings, closing};

/// The most names of a kind at a time.
const MOST: usize = 10_000;

/// What is in use of each kind.
#[derive(Debug)]
pub struct Numbers {
    store: Arc<dyn Store>,
    max_wait_ms: u64,
    segments: Opened<Segments>,
    sequences: Opened<Sequences>,
    tickets: Opened<Tickets>,
    /// Held while a segment is opened; false once all are closed.
    opening: Mutex<bool>,
}

impl Numbers {
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Self {
        Self {
            store,
            max_wait_ms: settings.max_wait_ms,
            segments: Opened::new(MOST),
            sequences: Opened::new(MOST),
            tickets: Opened::new(MOST),
            opening: Mutex::new(true),
        }
    }

    /// So many numbers of a tag that follow each other.
    ///
    /// # Errors
    /// `InvalidText`, if there is no such tag.
    pub async fn segment(&self, tag: &str, count: u64) -> Result<Range<u64>, Error> {
        let segments = match self.segments.get(tag) {
            Some(segments) => segments,
            None => self.open(tag).await?,
        };
        segments.next_block(count).await
    }

    async fn open(&self, tag: &str) -> Result<Arc<Segments>, Error> {
        let opening = self.opening.lock().await;
        if let Some(segments) = self.segments.get(tag) {
            return Ok(segments);
        }
        if !*opening {
            return Err(closing());
        }
        if self.segments.is_full() {
            return Err(full());
        }
        let options = SegmentsOptions { max_wait_ms: self.max_wait_ms };
        Ok(self.segments.insert(tag, Segments::open(Arc::clone(&self.store), tag, options).await?))
    }

    /// `nextval`, so many times.
    pub async fn sequence(&self, name: &str, count: u64) -> Result<Vec<i128>, Error> {
        let session = match self.sequences.get(name) {
            Some(session) => session,
            None if self.sequences.is_full() => return Err(full()),
            // Two sessions of a sequence share no number, so that it does not matter if two calls come here at once.
            None => {
                self.sequences.insert(name, Sequences::new(Arc::clone(&self.store)).with_max_wait_ms(self.max_wait_ms))
            }
        };
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(session.next(name).await?);
        }
        Ok(values)
    }

    /// One ticket.
    pub async fn ticket(&self, name: &str) -> Result<u64, Error> {
        let tickets = match self.tickets.get(name) {
            Some(tickets) => tickets,
            None if self.tickets.is_full() => return Err(full()),
            None => {
                let tickets = Tickets::over(vec![Arc::clone(&self.store)], name)?;
                let noted = timeout(Duration::from_millis(self.max_wait_ms), Tickets::note(&*self.store, name)).await;
                noted.map_err(|_| {
                    let ms = self.max_wait_ms;
                    Error::told(ErrorKind::StoreUnavailable, format!("{}: no answer within {ms} ms", self.store.name()))
                })??;
                self.tickets.insert(name, tickets.with_max_wait_ms(self.max_wait_ms))
            }
        };
        tickets.next().await
    }

    /// Gives back what nobody used for a while.
    pub async fn sweep(&self) {
        // Blocks of a sequence's cache are left out.
        drop((self.sequences.take_idle(), self.tickets.take_idle()));
        give_back(self.segments.take_idle()).await;
    }

    /// Gives everything back, and opens nothing any more.
    pub async fn close(&self) {
        *self.opening.lock().await = false;
        give_back(self.segments.take_all()).await;
    }
}

fn full() -> Error {
    Error::told(ErrorKind::Exhausted, format!("{MOST} names are in use: try again in some minutes"))
}

async fn give_back(segments: Vec<Arc<Segments>>) {
    for segments in segments {
        if let Err(error) = segments.close().await {
            tracing::warn!(%error, "numbers of a segment are left out");
        }
    }
}
