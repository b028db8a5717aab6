//! Segments, sequences and tickets.

use std::ops::Range;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;
use snowmint_core::ErrorKind;
use snowmint_stores::{Error, Segments, SegmentsOptions, Sequences, Store, Tickets};

use super::opened::{Locked, Opened, Put};
use super::{AT_ONCE, Deadline, Settings, closing};

/// The most names of a kind at a time.
const MOST: usize = 10_000;

/// What is in use of each kind.
#[derive(Debug)]
pub struct Numbers {
    store: Arc<dyn Store>,
    max_wait_ms: u64,
    segments: Arc<Opened<Segments>>,
    sequences: Arc<Opened<Sequences>>,
    tickets: Arc<Opened<Tickets>>,
}

impl Numbers {
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Self {
        Self {
            store,
            max_wait_ms: settings.max_wait_ms,
            segments: Opened::new(MOST, Vec::new()),
            sequences: Opened::new(MOST, Vec::new()),
            tickets: Opened::new(MOST, Vec::new()),
        }
    }

    /// So many numbers of a tag that follow each other.
    ///
    /// # Errors
    /// `InvalidText`, if there is no such tag.
    pub async fn segment(&self, tag: &str, count: u64) -> Result<Range<u64>, Error> {
        let deadline = Deadline::of(&*self.store, self.max_wait_ms);
        loop {
            let (segments, is_new) = match self.segments.get(tag) {
                Some(segments) => (segments, false),
                None => (deadline.ends(self.open(tag)).await?, true),
            };
            let call = segments.next_block(count);
            match if is_new { deadline.ends(call).await } else { call.await } {
                // It was given back in between.
                Err(error) if error.kind() == ErrorKind::WindowClosed && !self.segments.is(tag, &segments) => {}
                done => return done,
            }
        }
    }

    async fn open(&self, tag: &str) -> Result<Arc<Segments>, Error> {
        let locked = self.segments.lock(tag).await;
        if let Some(segments) = locked.get() {
            return Ok(segments);
        }
        if self.segments.is_over() {
            return Err(closing());
        }
        let options = SegmentsOptions { max_wait_ms: self.max_wait_ms };
        let segments = Segments::open(Arc::clone(&self.store), tag, options).await?;
        let Put { value, surplus } = locked.put(segments).map_err(|_| closing())?;
        drop(tokio::spawn(give_back(surplus)));
        Ok(value)
    }

    /// `nextval`, so many times.
    pub async fn sequence(&self, name: &str, count: u64) -> Result<Vec<i128>, Error> {
        let new = || Ok(Sequences::new(Arc::clone(&self.store)).with_max_wait_ms(self.max_wait_ms));
        let session = in_use(&self.sequences, name, new).await?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(session.next(name).await?);
        }
        Ok(values)
    }

    /// One ticket.
    pub async fn ticket(&self, name: &str) -> Result<u64, Error> {
        let new = || Ok(Tickets::over(vec![Arc::clone(&self.store)], name)?.with_max_wait_ms(self.max_wait_ms));
        in_use(&self.tickets, name, new).await?.next().await
    }

    /// How many tags, sequences and names of tickets are in use.
    pub fn names(&self) -> [usize; 3] {
        [self.segments.len(), self.sequences.len(), self.tickets.len()]
    }

    /// Gives back what nobody used for a while.
    pub async fn sweep(&self) {
        // Blocks of a sequence's cache are left out.
        drop((self.sequences.take_idle(), self.tickets.take_idle()));
        give_back(self.segments.take_idle()).await;
    }

    /// Gives everything back, and opens nothing any more.
    pub async fn close(&self) {
        drop((self.sequences.take_all(), self.tickets.take_all()));
        stream::iter(self.segments.take_all())
            .for_each_concurrent(AT_ONCE, async |segments| close(&segments).await)
            .await;
    }
}

/// What is open by that name, or is new, which takes no store.
async fn in_use<T>(opened: &Arc<Opened<T>>, name: &str, new: impl Fn() -> Result<T, Error>) -> Result<Arc<T>, Error> {
    if let Some(value) = opened.get(name) {
        return Ok(value);
    }
    let locked = opened.lock(name).await;
    match locked.get() {
        Some(value) => Ok(value),
        // Those that make room have nothing to give back.
        None => locked.put(new()?).map(|put| put.value).map_err(|_| closing()),
    }
}

/// Gives segments back, each of which is locked until then.
async fn give_back(segments: Vec<(Locked<Segments>, Arc<Segments>)>) {
    stream::iter(segments).for_each_concurrent(AT_ONCE, async |(_locked, segments)| close(&segments).await).await;
}

async fn close(segments: &Segments) {
    if let Err(error) = segments.close().await {
        tracing::warn!(%error, "numbers of a segment are left out");
    }
}
