//! Segments, sequences, formatted numbers and tickets.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, TryFutureExt as _, ready, try_join_all};
use snowmint_core::ErrorKind;
use snowmint_core::formatted::{Definition, Pattern};
use snowmint_core::sequence::{Options, Rules, Set};
use snowmint_stores::{CounterStore, Error, Formatted, FormattedNumber, Segments, SegmentsOptions, Sequences, Tickets};

use super::Settings;
use super::failure::Failure;
use super::openings::Openings;
use super::pool::{Pool, Pooled};
use super::ticket_stores::TicketStores;

/// The limit of open names of each kind.
const MAX_OPEN_NAMES: usize = 10_000;

/// How the creation of a sequence ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defined {
    /// The sequence is new.
    Made,
    /// The sequence was there, with the same rules.
    Same,
    /// The sequence was there, with these rules.
    Other(Rules),
}

/// The segments, sequences, formatted numbers and tickets in use.
#[derive(Debug)]
pub struct Numbers {
    store: Arc<dyn CounterStore>,
    max_wait_ms: u64,
    openings: Openings,
    /// The stores of tickets, if they are not in the service's store.
    ticket_stores: Option<TicketStores>,
    segments: Arc<Pool<Segments>>,
    sequences: Arc<Pool<Sequences>>,
    formatted: Arc<Pool<Formatted>>,
    tickets: Arc<Pool<Tickets>>,
}

impl Numbers {
    pub fn new(store: Arc<dyn CounterStore>, openings: Openings, settings: &Settings) -> Self {
        Self {
            store,
            openings,
            ticket_stores: settings.ticket_stores.clone(),
            max_wait_ms: settings.max_wait_ms,
            segments: Pool::new(MAX_OPEN_NAMES, Vec::new()),
            sequences: Pool::new(MAX_OPEN_NAMES, Vec::new()),
            formatted: Pool::new(MAX_OPEN_NAMES, Vec::new()),
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
        let session = self.session(name).await?;
        let deadline = self.openings.deadline();
        // At the same time, so that the calls share writes. They get their values in order.
        let values = try_join_all((0..count).map(|_| session.next(name))).await;
        values.map_err(|error| deadline.judged(error))
    }

    /// Creates a sequence. Returns its rules as they were asked for.
    pub async fn define(&self, name: &str, options: &Options) -> Result<(Rules, Defined), Failure> {
        let (session, rules) = (self.new_session(), Rules::new(options)?);
        let deadline = self.openings.deadline();
        let made = session.create(name, options).await.map_err(|error| deadline.judged(error))?;
        if made {
            return Ok((rules, Defined::Made));
        }
        let there = self.definition(name).await?.filter(|there| *there != rules);
        Ok((rules, there.map_or(Defined::Same, Defined::Other)))
    }

    /// Reads the rules of a sequence. `None` if it does not exist.
    pub async fn definition(&self, name: &str) -> Result<Option<Rules>, Failure> {
        let (session, deadline) = (self.new_session(), self.openings.deadline());
        let there = session.definition(name).await.map_err(|error| deadline.judged(error))?;
        Ok(there.map(|options| Rules::new(&options)).transpose()?)
    }

    /// Returns the last value of a sequence that this server gave. `None` if the name is not open here, or has no value yet.
    pub async fn current(&self, name: &str) -> Result<Option<i128>, Failure> {
        let Some(session) = self.sequences.get(name) else { return Ok(None) };
        let deadline = self.openings.deadline();
        match session.current(name).await {
            // The error of `currval` before the first value.
            Err(error) if error.kind() == ErrorKind::InvalidId => Ok(None),
            answer => answer.map_err(|error| deadline.judged(error)),
        }
    }

    /// Sets the value of a sequence, as `setval`. `None` if the dialect changes nothing.
    pub async fn set(&self, name: &str, set: &Set) -> Result<Option<i128>, Failure> {
        let session = self.session(name).await?;
        let deadline = self.openings.deadline();
        session.set(name, set).await.map_err(|error| deadline.judged(error))
    }

    /// Returns the session of a sequence, which all clients of this server share.
    async fn session(&self, name: &str) -> Result<Arc<Sequences>, Failure> {
        let new = self.new_session();
        Ok(self.sequences.open(name, async { Ok(new) }).await?)
    }

    fn new_session(&self) -> Sequences {
        Sequences::new(Arc::clone(&self.store)).with_max_wait(Duration::from_millis(self.max_wait_ms))
    }

    /// Keeps the definition of formatted numbers. Returns `false` if the name has a different definition.
    pub async fn define_formatted(&self, name: &str, definition: &Definition) -> Result<bool, Failure> {
        self.openings.deadline().ends(Formatted::define(&*self.store, name, definition)).await
    }

    /// Takes the next formatted number.
    ///
    /// # Errors
    /// `InvalidText`, if the name has no definition.
    pub async fn formatted(&self, name: &str) -> Result<FormattedNumber, Failure> {
        self.with_formatted(name, |formatted| async move { formatted.next().await }).await
    }

    /// Returns the pattern of formatted numbers.
    ///
    /// # Errors
    /// `InvalidText`, if the name has no definition.
    pub async fn pattern(&self, name: &str) -> Result<Pattern, Failure> {
        self.with_formatted(name, |formatted| async move { Ok(*formatted.pattern()) }).await
    }

    async fn with_formatted<R, Call: Future<Output = Result<R, Error>>>(
        &self,
        name: &str,
        call: impl Fn(Arc<Formatted>) -> Call,
    ) -> Result<R, Failure> {
        let max_wait = Duration::from_millis(self.max_wait_ms);
        let open = || {
            let (store, name) = (Arc::clone(&self.store), name.to_owned());
            async move {
                let found = Formatted::open(store, &name).await?;
                let found = found.ok_or_else(|| Error::new(ErrorKind::InvalidText, "the name has no definition"))?;
                Ok(found.with_max_wait(max_wait))
            }
        };
        self.openings.with(&self.formatted, name, open, call).await
    }

    /// Takes `count` tickets, in ascending order.
    pub async fn tickets(&self, name: &str, count: u64) -> Result<Vec<u64>, Failure> {
        let deadline = self.openings.deadline();
        let max_wait = Duration::from_millis(self.max_wait_ms);
        let opening = match &self.ticket_stores {
            None => Either::Left(ready(Tickets::over(vec![Arc::clone(&self.store)], name))),
            Some(stores) => {
                let (stores, name) = (stores.clone(), name.to_owned());
                Either::Right(async move { stores.open(&name).await })
            }
        };
        let opening = opening.map_ok(move |tickets| tickets.with_max_wait(max_wait));
        let tickets = deadline.ends(self.tickets.open(name, opening)).await?;
        let taken = async {
            // Alone, as it may have to ask each store for its place.
            let first = tickets.next().await?;
            // At the same time, because calls that wait for a store share a write.
            let mut taken = try_join_all((1..count).map(|_| tickets.next())).await?;
            taken.push(first);
            taken.sort_unstable();
            Ok(taken)
        };
        taken.await.map_err(|error: Error| match error.kind() {
            // The ticket servers keep another order: no request is to blame.
            ErrorKind::InvalidId if self.ticket_stores.is_some() => {
                Error::new(ErrorKind::InvalidStore, error.to_string()).into()
            }
            _ => deadline.judged(error),
        })
    }

    /// Returns how many segment tags, sequences, formatted numbers and tickets are open.
    pub fn names(&self) -> [usize; 4] {
        [self.segments.len(), self.sequences.len(), self.formatted.len(), self.tickets.len()]
    }

    /// Gives back the numbers of names that were not used for a while.
    pub async fn sweep(&self) {
        tokio::join!(self.segments.sweep(), self.sequences.sweep(), self.formatted.sweep(), self.tickets.sweep());
    }

    /// Gives all numbers back, and opens no name any more.
    pub async fn close(&self) {
        tokio::join!(self.segments.close(), self.sequences.close(), self.formatted.close(), self.tickets.close());
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

impl Pooled for Formatted {
    // As for sequences.
    async fn give_back(self: Arc<Self>) {}
}

impl Pooled for Tickets {
    async fn give_back(self: Arc<Self>) {}
}
