//! Named sequences over a store, as one session of a database has them.

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
use crate::ask::ask;
use crate::error::Error;
use crate::owner::Owner;
use crate::store::Store;
use crate::store::floor::skipped;
use crate::store::key::key;

/// A session on the sequences of a store: `nextval`, `currval`, `lastval`, `setval`.
///
/// A sequence is defined by [`create`](Self::create), or else has `PostgreSQL`'s defaults when it is first used. Blocks of
/// its cache are the session's own, and what it does not use of them is left out; calls of one session follow each other.
#[derive(Debug)]
pub struct Sequences {
    store: Arc<dyn Store>,
    max_wait_ms: u64,
    session: Mutex<Session>,
    owner: Owner,
}

#[derive(Debug, Default)]
struct Session {
    sequences: HashMap<String, Sequence>,
    last: Option<String>,
}

impl Sequences {
    /// A new session.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, max_wait_ms: MAX_WAIT_MS, session: Mutex::default(), owner: Owner::this_process() }
    }

    /// With another bound for a call, in ms, in place of 1000.
    #[must_use]
    pub fn with_max_wait_ms(self, max_wait_ms: u64) -> Self {
        Self { max_wait_ms, ..self }
    }

    /// `CREATE SEQUENCE`: whether it was made. One that is there, or was used without having been created, stays as it is.
    /// After a fence a new one begins as many values later as the fence left out.
    ///
    /// # Errors
    /// `InvalidId`, `InvalidText` for options or a name that cannot be; `StoreUnavailable`; `Forked`.
    pub async fn create(&self, name: &str, options: &Options) -> Result<bool, Error> {
        self.owner.check()?;
        key("definitions/", name)?;
        let rules = Rules::new(options)?;
        self.within(self.define(name, options, &rules)).await
    }

    /// Writes the definition, unless there is one; whether there was none. A sequence of that name may have been made after
    /// the backup, so it begins behind the last fence.
    async fn define(&self, name: &str, options: &Options, rules: &Rules) -> Result<bool, Error> {
        let store = &*self.store;
        let skip = skipped(store).await?;
        if skip > 0 {
            let state = rules.skip(rules.initial(), skip);
            store.write(&key("sequences/", name)?, &state.to_bytes(), 0).await?;
        }
        definition::create(store, &key("definitions/", name)?, definition::sequence_text(options).as_bytes()).await
    }

    /// How a sequence is defined; nothing if it is not there.
    ///
    /// # Errors
    /// `InvalidText`, `StoreUnavailable`, `Forked`.
    pub async fn definition(&self, name: &str) -> Result<Option<Options>, Error> {
        self.owner.check()?;
        let key = key("definitions/", name)?;
        self.within(definition::read_sequence(&*self.store, &key)).await
    }

    /// `nextval`.
    ///
    /// # Errors
    /// `Exhausted`, if the sequence has run out; `InvalidText` for a name that cannot be; `StoreUnavailable`, if the store
    /// does not answer within `max_wait_ms`; `Forked`.
    pub async fn next(&self, name: &str) -> Result<i128, Error> {
        self.call(name, Sequence::next, true).await
    }

    /// `setval`; `None` where the dialect does nothing.
    ///
    /// # Errors
    /// As [`Sequences::next`], and `InvalidId` for a value or argument that cannot be.
    pub async fn set(&self, name: &str, set: &Set) -> Result<Option<i128>, Error> {
        self.call(name, |sequence, reply| sequence.set(set, reply), false).await
    }

    /// `currval`: the last value of that sequence in this session; `None` in the dialects that have a NULL there.
    ///
    /// # Errors
    /// `InvalidId` in `pg`, if there is none; `InvalidText`, `StoreUnavailable`, `Forked`.
    pub async fn current(&self, name: &str) -> Result<Option<i128>, Error> {
        self.owner.check()?;
        let mut session = self.session.lock().await;
        Ok(self.within(self.open(&mut session, name)).await?.current()?)
    }

    /// `lastval`: the last value of the sequence that was used last in this session.
    ///
    /// # Errors
    /// `InvalidId`, if there is none; `Forked`.
    pub async fn last(&self) -> Result<i128, Error> {
        self.owner.check()?;
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
                    // So that every session has the same definition from here on.
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
        self.owner.check()?;
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

    /// A call that was given up in between may be begun again: its values are never handed out.
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
