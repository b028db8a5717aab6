//! Named sequences over a store, with the sessions of a database.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use snowmint_core::sequence::{Options, Rules, Sequence, Set, State, lastval};
use snowmint_core::store::{Next, Reply};
use snowmint_core::{Error as CoreError, ErrorKind};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};

use super::{MAX_WAIT_MS, definition};
use crate::error::Error;
use crate::process::Owner;
use crate::store::Store;
use crate::store::ask::ask;
use crate::store::floor::skipped;
use crate::store::key::key;

/// A session on the sequences of a store: `nextval`, `currval`, `lastval`, `setval`.
///
/// [`create`](Self::create) defines a sequence. Without it the first use gives a sequence `PostgreSQL`'s defaults. Each session
/// has its own cache, and skips the values that it does not use. Calls of one session run one after the other.
#[derive(Debug)]
pub struct Sequences {
    store: Arc<dyn Store>,
    max_wait_ms: u64,
    session: Mutex<Session>,
    owner: &'static Owner,
}

#[derive(Debug, Default)]
struct Session {
    sequences: HashMap<String, Sequence>,
    last: Option<String>,
}

impl Sequences {
    /// Begins a session.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, max_wait_ms: MAX_WAIT_MS, session: Mutex::default(), owner: Owner::this() }
    }

    /// Sets the time limit of a call, in ms, instead of 1000.
    #[must_use]
    pub fn with_max_wait_ms(self, max_wait_ms: u64) -> Self {
        Self { max_wait_ms, ..self }
    }

    /// `CREATE SEQUENCE`. Returns `false` if the sequence exists, and leaves it unchanged; a use has made it too.
    ///
    /// After a fence a new sequence skips as many values as the fence.
    ///
    /// # Errors
    /// `InvalidId` for wrong options; `InvalidText` for a name that is not 1 to 128 bytes long; `StoreUnavailable`; `Forked`.
    pub async fn create(&self, name: &str, options: &Options) -> Result<bool, Error> {
        self.owner.refuse_sharing()?;
        key("definitions/", name)?;
        let rules = Rules::new(options)?;
        self.within(self.define(name, options, &rules)).await
    }

    /// Writes the definition. Returns `false` if there is a definition.
    ///
    /// A sequence of this name may have been made after the backup, so it begins after the last fence.
    async fn define(&self, name: &str, options: &Options, rules: &Rules) -> Result<bool, Error> {
        let store = &*self.store;
        let skip = skipped(store).await?;
        if skip > 0 {
            let state = rules.skip(rules.initial(), skip);
            store.write(&key("sequences/", name)?, &state.to_bytes(), 0).await?;
        }
        definition::create(store, &key("definitions/", name)?, definition::sequence_text(options).as_bytes()).await
    }

    /// Reads the definition of a sequence. `None` if it does not exist.
    ///
    /// # Errors
    /// `InvalidText`, `StoreUnavailable`, `Forked`.
    pub async fn definition(&self, name: &str) -> Result<Option<Options>, Error> {
        self.owner.refuse_sharing()?;
        let key = key("definitions/", name)?;
        self.within(definition::read_sequence(&*self.store, &key)).await
    }

    /// `nextval`: takes the next value.
    ///
    /// # Errors
    /// `Exhausted` after the last value; `InvalidText` for a name that is not 1 to 128 bytes long; `StoreUnavailable` without
    /// an answer within `max_wait_ms`; `Forked`.
    pub async fn next(&self, name: &str) -> Result<i128, Error> {
        self.call(name, Sequence::next, true).await
    }

    /// `setval`: sets the value, and returns it. `None` if the dialect leaves the sequence unchanged.
    ///
    /// # Errors
    /// As [`Sequences::next`], and `InvalidId` for a value that the sequence cannot have.
    pub async fn set(&self, name: &str, set: &Set) -> Result<Option<i128>, Error> {
        self.call(name, |sequence, reply| sequence.set(set, reply), false).await
    }

    /// `currval`: returns the last value of a sequence in this session. `None` before the first value, in dialects with NULL.
    ///
    /// # Errors
    /// `InvalidId` before the first value, in `pg`; `InvalidText`, `StoreUnavailable`, `Forked`.
    pub async fn current(&self, name: &str) -> Result<Option<i128>, Error> {
        self.owner.refuse_sharing()?;
        let mut session = self.session.lock().await;
        Ok(self.within(self.open(&mut session, name)).await?.current()?)
    }

    /// `lastval`: returns the last value of the sequence that this session used last.
    ///
    /// # Errors
    /// `InvalidId` before the first value; `Forked`.
    pub async fn last(&self) -> Result<i128, Error> {
        self.owner.refuse_sharing()?;
        let session = self.session.lock().await;
        Ok(lastval(session.last.as_ref().and_then(|name| session.sequences.get(name)))?)
    }

    async fn open<'a>(&self, session: &'a mut Session, name: &str) -> Result<&'a mut Sequence, Error> {
        match session.sequences.entry(name.to_owned()) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(room) => {
                let key = key("definitions/", name)?;
                loop {
                    if let Some(options) = definition::read_sequence(&*self.store, &key).await? {
                        return Ok(room.insert(Sequence::new(Rules::new(&options)?)));
                    }
                    // Written, so that every session reads the same definition.
                    self.define(name, &Options::DEFAULT, &Rules::new(&Options::DEFAULT)?).await?;
                }
            }
        }
    }

    async fn call<T>(
        &self,
        name: &str,
        mut step: impl FnMut(&mut Sequence, Option<Reply<State>>) -> Result<Next<T, State>, CoreError>,
        is_next: bool,
    ) -> Result<T, Error> {
        self.owner.refuse_sharing()?;
        let key = key("sequences/", name)?;
        self.within(async {
            let mut session = self.session.lock().await;
            let sequence = self.open(&mut session, name).await?;
            let (mut reply, mut failed) = (None, None);
            let deadline = Instant::now() + Duration::from_millis(self.max_wait_ms);
            loop {
                match step(sequence, reply)? {
                    Next::Done(value) => {
                        if is_next {
                            session.last = Some(name.to_owned());
                        }
                        return Ok(value);
                    }
                    Next::Ask(asked) => {
                        if let Some(error) = failed.take() {
                            let pause = Instant::now() + Duration::from_millis(50);
                            if pause >= deadline {
                                return Err(error);
                            }
                            sleep(Duration::from_millis(50)).await;
                        }
                        let (answer, error) = ask(&*self.store, &key, asked).await?;
                        (reply, failed) = (Some(answer), error);
                    }
                }
            }
        })
        .await
    }

    /// Limits a call to `max_wait_ms`. An abandoned call can be repeated: its values are skipped.
    async fn within<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let max_wait_ms = self.max_wait_ms;
        let deadline = Instant::now() + Duration::from_millis(max_wait_ms);
        timeout_at(deadline, call).await.unwrap_or_else(|_| {
            Err(Error::told(
                ErrorKind::StoreUnavailable,
                format!("{}: no answer within {max_wait_ms} ms", self.store.name()),
            ))
        })
    }
}
