//! Queue sequences over a store, with the sessions of a database.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use snowmint_core::Error as CoreError;
use snowmint_core::host::whole_ms;
use snowmint_core::sequence::{Options, Queue, RETRY_MS, Rules, Sequence, Set, State, lastval};
use snowmint_core::store::{Next, Reply};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::served::Numbers;
use super::{MAX_WAIT_MS, definition, within};
use crate::error::Error;
use crate::process::{Owner, lock};
use crate::store::ask::ask;
use crate::store::floor::skipped;
use crate::store::key::{key, refuse_new};
use crate::store::{CounterStore, NumberService, Served, ranges};

/// A session on the sequences of a store: `nextval`, `currval`, `lastval`, `setval`.
///
/// [`create`](Self::create) defines a sequence. Without it the first use gives a sequence `PostgreSQL`'s defaults. Each session
/// has its own cache, and skips the values that it does not use. Calls of one session run one after the other. Those that wait for
/// the same sequence at the same time share a write. Clones are the same session.
///
/// # Examples
/// ```
/// use snowmint_core::sequence::Set;
/// use snowmint_stores::{Sequences, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let session = Sequences::new(connect("memory:").await?);
/// assert_eq!(session.next("invoices").await?, 1);
/// session.set("invoices", &Set::to(41)).await?;
/// assert_eq!(session.next("invoices").await?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sequences {
    shared: Arc<Shared>,
    max_wait_ms: u64,
}

/// The state that the clones of a session share.
#[derive(Debug)]
struct Shared {
    store: Arc<dyn CounterStore>,
    /// Runs the sequences in place of this session.
    service: Option<Arc<dyn NumberService>>,
    session: Mutex<Session>,
    waiting: Waiting,
    owner: &'static Owner,
}

#[derive(Debug, Default)]
struct Session {
    sequences: HashMap<String, Queue>,
    last: Option<String>,
    /// The sequences of a service.
    served: HashMap<String, Arc<Numbers>>,
}

/// The calls for a next value that have not ended.
#[derive(Debug, Default)]
struct Waiting {
    /// How many calls have begun.
    begun: AtomicU64,
    /// How many calls wait for a value of each sequence.
    names: std::sync::Mutex<HashMap<String, u64>>,
}

/// One of the calls that wait.
#[derive(Debug)]
struct Call<'a> {
    waiting: &'a Waiting,
    name: &'a str,
    number: u64,
}

impl<'a> Call<'a> {
    fn begin(waiting: &'a Waiting, name: &'a str) -> Self {
        *lock(&waiting.names).entry(name.to_owned()).or_default() += 1;
        Self { waiting, name, number: waiting.begun.fetch_add(1, Ordering::Relaxed) }
    }

    /// Takes a value for this call, from the block of its calls or from a new block for all calls that wait now.
    fn next(&self, queue: &mut Queue, reply: Option<Reply<State>>) -> Result<Next<i128, State>, CoreError> {
        let calls = lock(&self.waiting.names).get(self.name).copied().unwrap_or_default();
        queue.next(self.number, self.waiting.begun.load(Ordering::Relaxed), calls, reply)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut names = lock(&self.waiting.names);
        if let Some(left) = names.get_mut(self.name) {
            *left -= 1;
            if *left == 0 {
                names.remove(self.name);
            }
        }
    }
}

impl Sequences {
    /// Begins a session.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// assert_eq!(session.next("invoices").await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(store: Arc<dyn CounterStore>) -> Self {
        let (service, session, waiting) = (store.service(), Mutex::default(), Waiting::default());
        let shared = Shared { store, service, session, waiting, owner: Owner::this() };
        Self { shared: Arc::new(shared), max_wait_ms: MAX_WAIT_MS }
    }

    /// Sets the time limit of a call, instead of one second.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?).with_max_wait(Duration::from_secs(2));
    /// assert_eq!(session.next("invoices").await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_max_wait(self, max_wait: Duration) -> Self {
        Self { max_wait_ms: whole_ms(max_wait), ..self }
    }

    /// `CREATE SEQUENCE`. Returns `false` if the sequence exists, and leaves it unchanged; a use has made it too.
    ///
    /// After a fence a new sequence skips as many values as the fence.
    ///
    /// # Errors
    /// `InvalidId` for wrong options; `InvalidText` for a name that [`names`](snowmint_core::names) does not allow;
    /// `StoreUnavailable`; `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Options;
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// let tens = Options { increment: 10, ..Options::DEFAULT };
    /// assert!(session.create("tens", &tens).await?);
    /// assert_eq!([session.next("tens").await?, session.next("tens").await?], [1, 11]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create(&self, name: &str, options: &Options) -> Result<bool, Error> {
        self.refuse_sharing()?;
        key("definitions/", name)?;
        let rules = Rules::new(options)?;
        match self.service() {
            Some(service) => self.within(service.create(name, options)).await,
            None => self.within(self.define(name, options, &rules)).await,
        }
    }

    /// Writes the definition. Returns `false` if there is a definition.
    ///
    /// A sequence of this name may have been made after the backup, so it begins after the last fence.
    async fn define(&self, name: &str, options: &Options, rules: &Rules) -> Result<bool, Error> {
        let store = self.store();
        let place = key("definitions/", name)?;
        refuse_new(&place)?;
        let skip = skipped(store).await?;
        if skip > 0 {
            let state = rules.skip(rules.initial(), skip);
            store.write(&key("sequences/", name)?, &state.to_bytes(), 0).await?;
        }
        definition::create(store, &place, options.to_string().as_bytes()).await
    }

    /// Reads the definition of a sequence. `None` if it does not exist.
    ///
    /// # Errors
    /// `InvalidText`, `StoreUnavailable`, `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Options;
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// assert_eq!(session.definition("invoices").await?, None);
    /// session.create("invoices", &Options::DEFAULT).await?;
    /// assert_eq!(session.definition("invoices").await?, Some(Options::DEFAULT));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn definition(&self, name: &str) -> Result<Option<Options>, Error> {
        self.refuse_sharing()?;
        let key = key("definitions/", name)?;
        self.within(definition::read_sequence(self.store(), &key)).await
    }

    /// `nextval`: takes the next value.
    ///
    /// # Errors
    /// `Exhausted` after the last value; `InvalidText` for a name that is not 1 to 128 bytes long, and for a new name that
    /// [`names`](snowmint_core::names) does not allow; `StoreUnavailable` without an answer within `max_wait_ms`; `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// assert_eq!([session.next("invoices").await?, session.next("invoices").await?], [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self, name: &str) -> Result<i128, Error> {
        if let Some(service) = self.service() {
            self.refuse_sharing()?;
            key("sequences/", name)?;
            return self.within(self.take(service, name)).await;
        }
        let call = Call::begin(&self.shared.waiting, name);
        self.call(name, |named, reply| call.next(named, reply), true).await
    }

    /// `setval`: sets the value, and returns it. `None` if the dialect leaves the sequence unchanged.
    ///
    /// # Errors
    /// As [`Sequences::next`], and `InvalidId` for a value that the sequence cannot have.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Set;
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// assert_eq!(session.set("invoices", &Set::to(41)).await?, Some(41));
    /// assert_eq!(session.next("invoices").await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set(&self, name: &str, set: &Set) -> Result<Option<i128>, Error> {
        if let Some(service) = self.service() {
            self.refuse_sharing()?;
            key("sequences/", name)?;
            return self.within(service.set(name, set)).await;
        }
        self.call(name, |named, reply| named.sequence_mut().set(set, reply), false).await
    }

    /// `currval`: returns the last value of a sequence in this session. `None` before the first value, in dialects with NULL.
    ///
    /// # Errors
    /// `InvalidId` before the first value, in `pg`; `InvalidText`, `StoreUnavailable`, `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// assert!(session.current("invoices").await.is_err(), "no value yet");
    /// session.next("invoices").await?;
    /// assert_eq!(session.current("invoices").await?, Some(1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn current(&self, name: &str) -> Result<Option<i128>, Error> {
        self.refuse_sharing()?;
        let mut session = self.shared.session.lock().await;
        Ok(self.within(self.open(&mut session, name)).await?.sequence().current()?)
    }

    /// `lastval`: returns the last value of the sequence that this session used last.
    ///
    /// # Errors
    /// `InvalidId` before the first value; `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Sequences, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let session = Sequences::new(connect("memory:").await?);
    /// session.next("invoices").await?;
    /// assert_eq!(session.last().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn last(&self) -> Result<i128, Error> {
        self.refuse_sharing()?;
        let session = self.shared.session.lock().await;
        let last = session.last.as_ref().and_then(|name| session.sequences.get(name));
        Ok(lastval(last.map(Queue::sequence))?)
    }

    /// Takes the next value from a service, and notes it in this session.
    async fn take(&self, service: &Arc<dyn NumberService>, name: &str) -> Result<i128, Error> {
        let numbers = {
            let served = &mut self.shared.session.lock().await.served;
            let new = || Arc::new(Numbers::new(Arc::clone(service), Served::Sequence, name));
            Arc::clone(served.entry(name.to_owned()).or_insert_with(new))
        };
        let value = numbers.next().await?;
        let mut session = self.shared.session.lock().await;
        self.open(&mut session, name).await?.sequence_mut().note(value);
        session.last = Some(name.to_owned());
        Ok(value)
    }

    async fn open<'a>(&self, session: &'a mut Session, name: &str) -> Result<&'a mut Queue, Error> {
        match session.sequences.entry(name.to_owned()) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(room) => {
                let key = key("definitions/", name)?;
                if self.service().is_some() {
                    // The service has the definition, and here only the last value counts.
                    let rules = Rules::new(&Options::DEFAULT)?;
                    return Ok(room.insert(Queue::new(Sequence::new(rules))));
                }
                loop {
                    if let Some(options) = definition::read_sequence(self.store(), &key).await? {
                        let sequence = Sequence::new(Rules::new(&options)?);
                        return Ok(room.insert(Queue::new(sequence)));
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
        mut step: impl FnMut(&mut Queue, Option<Reply<State>>) -> Result<Next<T, State>, CoreError>,
        is_next: bool,
    ) -> Result<T, Error> {
        self.refuse_sharing()?;
        let key = key("sequences/", name)?;
        self.within(async {
            let mut session = self.shared.session.lock().await;
            let named = self.open(&mut session, name).await?;
            let (mut reply, mut failed) = (None, None);
            let deadline = Instant::now() + Duration::from_millis(self.max_wait_ms);
            loop {
                match step(named, reply)? {
                    Next::Done(value) => {
                        if is_next {
                            session.last = Some(name.to_owned());
                        }
                        return Ok(value);
                    }
                    Next::Ask(asked) => {
                        if let Some(error) = failed.take() {
                            let pause = Duration::from_millis(RETRY_MS);
                            if Instant::now() + pause >= deadline {
                                return Err(error);
                            }
                            sleep(pause).await;
                        }
                        let (taken, step) = (named.sequence().reserving(), named.sequence().rules().increment());
                        let (answer, error) = ask(self.store(), &key, asked).await?;
                        if let (Reply::Written(_), Some((first, last))) = (answer, taken) {
                            ranges::note(self.store(), &key, first, last, step)?;
                        }
                        (reply, failed) = (Some(answer), error);
                    }
                }
            }
        })
        .await
    }

    /// Returns the store.
    pub(super) fn store(&self) -> &dyn CounterStore {
        &*self.shared.store
    }

    /// Returns the service that runs the sequences, if it is one.
    pub(super) fn service(&self) -> Option<&Arc<dyn NumberService>> {
        self.shared.service.as_ref()
    }

    /// Refuses calls in a forked child.
    pub(super) fn refuse_sharing(&self) -> Result<(), Error> {
        self.shared.owner.refuse_sharing()
    }

    /// Limits a call to `max_wait_ms`.
    pub(super) async fn within<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        within(self.store().name(), self.max_wait_ms, call).await
    }
}

#[cfg(test)]
mod tests;
