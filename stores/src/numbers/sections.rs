//! Per-user sequences. An allocator claims a section of users at the first request, and keeps it while it is in use.

mod allocator;
mod memory;
mod options;
mod place;
mod room;
mod set;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::section::{Users, call_ms, refuse_little_memory};
use snowmint_core::{ErrorKind, Integer, bytes};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use self::allocator::{Allocator, Step};
use self::memory::Budget;
pub use self::options::SectionsOptions;
use self::set::{SIZES_PREFIX, Set};
use super::{runtime, within};
use crate::error::Error;
use crate::process::Owner;
use crate::process::label::label_with_host;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;
use crate::store::CounterStore;
use crate::store::key::name;

/// How many sections a close gives back at the same time.
const MAX_CONCURRENT: usize = 64;

/// Another allocator that holds a section.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_stores::{Sections, SectionsOptions, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// let first = Sections::new(store.clone(), "messages", SectionsOptions::default().label("node-1:7070"))?;
/// let second = Sections::new(store, "messages", SectionsOptions::default().label("node-2:7070"))?;
/// let user = Integer::from(7u64);
/// assert_eq!(first.next(user).await?, 1);
/// assert_eq!(second.next(user).await.expect_err("the first one has it").code(), "WINDOW_CLOSED");
/// let holder = second.holder(user).expect("the first one");
/// assert_eq!((holder.label.as_str(), holder.is_namesake), ("node-1:7070", false));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionHolder {
    /// Its label.
    pub label: String,
    /// Whether it has the label of this allocator, such as its previous run.
    pub is_namesake: bool,
    /// The time until the section is free in ms, unless the other allocator renews it.
    pub free_in_ms: u64,
    /// Whether the other allocator has missed a renewal.
    pub is_overdue: bool,
}

/// An allocator of numbers for users. A user's numbers increase by one, and by more when the section changes its allocator or
/// forgets its users because the memory is full.
///
/// Several allocators may serve one set of users; each section belongs to one allocator at a time. Clones are the same
/// allocator. See [`section`](snowmint_core::section).
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_stores::{Sections, SectionsOptions, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
/// let (alice, bob) = (Integer::from(7u64), Integer::from(8u64));
/// assert_eq!([messages.next(alice).await?, messages.next(alice).await?], [1, 2]);
/// assert_eq!(messages.next(bob).await?, 1);
/// messages.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sections {
    open: Arc<Open>,
    set: Arc<Set>,
}

/// The handle that clones share. After its drop the tasks give their sections back, and end.
#[derive(Debug)]
struct Open(Arc<Allocator>);

impl Drop for Open {
    fn drop(&mut self) {
        // In a forked child the locks may be locked forever.
        if self.0.owner.is_this_process() {
            *lock(&self.0.closed) = true;
        }
    }
}

impl Sections {
    /// The name of the set of users where none is named.
    pub const USERS: &str = "users";

    /// Opens an allocator for a set of users. Call it within a tokio runtime, which renews the sections.
    ///
    /// # Errors
    /// `InvalidText` for a name that is not 1 to 128 bytes long; `InvalidId` for a size above 1,000,000, a step that is not
    /// 1 to 2^31-1, a window below 1000 ms, and less than 1 MiB of memory.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
    /// assert_eq!(messages.next(Integer::from(7u64)).await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(store: Arc<dyn CounterStore>, set: &str, options: SectionsOptions) -> Result<Self, Error> {
        let set = Set::of(set)?;
        refuse_little_memory(options.memory_bytes)?;
        let label = bytes::label(&options.label.clone().unwrap_or_else(label_with_host));
        let allocator = Allocator {
            service: store.service(),
            store,
            budget: Budget::new(options.memory_bytes),
            options,
            label,
            places: Mutex::default(),
            closed: Mutex::new(false),
            runtime: runtime()?,
            owner: Owner::this(),
        };
        allocator.terms(Users::of(Integer::from(0u64), allocator.options.size)?)?;
        Ok(Self { open: Arc::new(Open(Arc::new(allocator))), set })
    }

    /// Opens another set of this allocator: the sets share its options, their limits included, and a close closes all of them.
    ///
    /// # Errors
    /// `InvalidText` for a name that is not 1 to 128 bytes long.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
    /// let drafts = messages.of_set("drafts")?;
    /// let user = Integer::from(7u64);
    /// assert_eq!([messages.next(user).await?, messages.next(user).await?, drafts.next(user).await?], [1, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_set(&self, set: &str) -> Result<Self, Error> {
        Ok(Self { open: Arc::clone(&self.open), set: Set::of(set)? })
    }

    /// Pins the size of the set's sections, as the first claim does too.
    ///
    /// # Errors
    /// `InvalidId` if the store has another size, with both sizes; `StoreUnavailable`; `Forked`.
    ///
    /// # Examples
    /// ```
    /// use std::num::NonZeroU32;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Sections::new(store.clone(), "messages", SectionsOptions::default())?.pin().await?;
    /// let other = Sections::new(store, "messages", SectionsOptions::default().size(NonZeroU32::MIN))?;
    /// assert_eq!(other.pin().await.expect_err("another size").code(), "INVALID_ID");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn pin(&self) -> Result<(), Error> {
        self.allocator().owner.refuse_sharing()?;
        self.allocator().pin(&self.set).await
    }

    /// Lists the sets whose size is pinned, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Sections::new(store.clone(), "messages", SectionsOptions::default())?.pin().await?;
    /// assert_eq!(Sections::sets(&*store).await?, ["messages"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn sets(store: &dyn CounterStore) -> Result<Vec<String>, Error> {
        Ok(store.list(SIZES_PREFIX).await?.iter().filter_map(|(part, _)| name(part)).collect())
    }

    /// Takes the next number of a user. A user is a number from 0 to 2^64-1.
    ///
    /// If another allocator holds the section, the call waits only if the section may become free in time.
    ///
    /// # Errors
    /// `WindowClosed` with the label of another allocator that holds the section, and after a close; `StoreUnavailable` without
    /// an answer within `max_wait_ms`; `Exhausted` after 2^63-1, and with a time to retry while the most sections or the memory
    /// are all in use; `InvalidId` for a wrong user, and if the store has another size of sections; `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
    /// let user = Integer::from(7u64);
    /// assert_eq!([messages.next(user).await?, messages.next(user).await?], [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self, user: Integer) -> Result<u64, Error> {
        let allocator = self.allocator();
        if let Some(service) = &allocator.service {
            allocator.owner.refuse_sharing()?;
            Users::of(user, allocator.options.size)?;
            if *lock(&allocator.closed) {
                return Err(snowmint_core::Error::closed().into());
            }
            let next = service.next_of_user(&self.set.name, user.or_too_large());
            return within(service.name(), allocator.options.max_wait_ms, next).await;
        }
        self.ask(user, &|section, now_ms| section.next(user, now_ms)).await
    }

    /// Returns the last number of a user, and takes none. `None` if this allocator has given the user none since it took the
    /// section over, or has forgotten it for lack of memory: the store keeps no number of a single user.
    ///
    /// # Errors
    /// As [`Sections::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
    /// let user = Integer::from(7u64);
    /// assert_eq!(messages.last(user).await?, None);
    /// messages.next(user).await?;
    /// assert_eq!([messages.last(user).await?, messages.last(user).await?], [Some(1), Some(1)]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn last(&self, user: Integer) -> Result<Option<u64>, Error> {
        self.ask(user, &|section, now_ms| section.last(user, now_ms)).await
    }

    /// Asks the section of a user, within the deadline.
    async fn ask<T>(&self, user: Integer, step: Step<'_, T>) -> Result<T, Error> {
        let allocator = self.allocator();
        allocator.owner.refuse_sharing()?;
        let users = Users::of(user, allocator.options.size)?;
        let deadline = Instant::now() + Duration::from_millis(allocator.options.max_wait_ms);
        let deadline_ms = monotonic_ms().saturating_add(allocator.options.max_wait_ms);
        loop {
            let place = Allocator::place(allocator, &self.set, users)?;
            let news = place.news.notified();
            let error = loop {
                match Allocator::try_ask(allocator, &place, step) {
                    Ok(Some(answer)) => return Ok(answer),
                    Ok(None) => Allocator::make_room(allocator)?,
                    Err(error) => break error,
                }
            };
            let again = matches!(error.kind(), ErrorKind::WindowClosed | ErrorKind::StoreUnavailable)
                || error.wait_ms().is_some();
            if !again || Instant::now() >= deadline || place.stays_elsewhere(deadline_ms) {
                return Err(error);
            }
            let pause = Instant::now() + Duration::from_millis(call_ms(error.wait_ms()));
            // After news and after the pause alike.
            let _ = timeout_at(pause.min(deadline), news).await;
            if let Some(refusal) = place.refusal() {
                return Err(refusal);
            }
        }
    }

    /// Returns the other allocator that held a user's section at the last request here. `None` without such an allocator.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
    /// let user = Integer::from(7u64);
    /// messages.next(user).await?;
    /// assert_eq!(messages.holder(user), None, "this allocator holds the section");
    /// # Ok(())
    /// # }
    /// ```
    pub fn holder(&self, user: Integer) -> Option<SectionHolder> {
        let allocator = self.allocator();
        allocator.owner.refuse_sharing().ok()?;
        let section = self.set.section(Users::of(user, allocator.options.size).ok()?);
        let place = lock(&allocator.places).get(&section).map(Arc::clone)?;
        let state = lock(&place.state);
        let now_ms = monotonic_ms();
        state.elsewhere.as_ref().map(|elsewhere| SectionHolder {
            label: elsewhere.holder.clone(),
            is_namesake: elsewhere.holder == bytes::label_text(&allocator.label).to_string(),
            free_in_ms: elsewhere.seen.free_at_ms().saturating_sub(now_ms),
            is_overdue: now_ms >= elsewhere.seen.overdue_at_ms(),
        })
    }

    /// Closes the allocator for all clones, and gives every section back, so that other allocators need not wait.
    ///
    /// # Errors
    /// `Forked`. A section that cannot be given back is free after its window.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_stores::{Sections, SectionsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let messages = Sections::new(connect("memory:").await?, "messages", SectionsOptions::default())?;
    /// let user = Integer::from(7u64);
    /// messages.next(user).await?;
    /// messages.close().await?;
    /// assert_eq!(messages.next(user).await.expect_err("closed").code(), "WINDOW_CLOSED");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn close(&self) -> Result<(), Error> {
        let allocator = self.allocator();
        allocator.owner.refuse_sharing()?;
        *lock(&allocator.closed) = true;
        let places: Vec<_> = lock(&allocator.places).drain().map(|(_, place)| place).collect();
        let places = Arc::new(Mutex::new(places.into_iter()));
        let mut releasing = JoinSet::new();
        for _ in 0..MAX_CONCURRENT {
            let (owner, places) = (Arc::clone(allocator), Arc::clone(&places));
            let release = async move {
                let next = || lock(&places).next();
                while let Some(place) = next() {
                    owner.release(&place).await;
                }
            };
            drop(releasing.spawn_on(release, &allocator.runtime));
        }
        releasing.join_all().await;
        Ok(())
    }

    fn allocator(&self) -> &Arc<Allocator> {
        &self.open.0
    }
}
