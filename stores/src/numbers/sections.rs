//! Per-user sequences: sections of users, taken over when first asked for, kept while they are used.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::pin::Pin;
use snowmint_core::section::{Claim, Claimed, Record, SIZE, STEP, Section, Terms, Users};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{ErrorKind, Integer, lease};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OnceCell};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::pins::{is_pinned, pin};
use super::{MAX_WAIT_MS, lock, runtime};
use crate::ask::ask;
use crate::error::Error;
use crate::label::label_with_host;
use crate::owner::Owner;
use crate::steady::steady_ms;
use crate::store::Store;
use crate::store::floor::skipped;
use crate::store::key::{key, name};
use crate::token::token;

/// Where the sizes of sections are pinned.
const SIZES: &str = "settings/sections/";
/// How many sections are given back at a time.
const AT_ONCE: usize = 64;
/// A section that nobody asked for so long is given back, in ms.
const IDLE_MS: u64 = 60_000;
/// A section that nobody asked for so long makes room for another one, in ms.
const ROOM_MS: u64 = 1000;
/// What was read of another's section so long ago is read again before anybody is sent there, in ms.
const FRESH_MS: u64 = 100;

/// How an allocator works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionsOptions {
    /// How many users share a record, 1,000,000 at most: 100,000. The store keeps what the first allocator of a set has, and
    /// any other is refused.
    pub size: NonZeroU32,
    /// By how much `max_seq` is raised: 10,000.
    pub step: u64,
    /// How long a section stays without a holder after its holder died, in ms, from 1000 up: 30,000.
    pub window_ms: u64,
    /// How long a call waits, in ms: 1000.
    pub max_wait_ms: u64,
    /// How many sections it has at a time, at most: 10,000.
    pub most: usize,
    /// Who this is, such as its address; people and clients may read it. By default program, process and host.
    pub label: Option<String>,
}

impl Default for SectionsOptions {
    fn default() -> Self {
        Self { size: SIZE, step: STEP, window_ms: 30_000, max_wait_ms: MAX_WAIT_MS, most: 10_000, label: None }
    }
}

/// Another allocator that has a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionHolder {
    /// Who it says it is.
    pub label: String,
    /// Whether it says it is this allocator: its last run, or one that advertises the same.
    pub is_namesake: bool,
    /// In how many ms the section can be taken over, unless the other one renews it.
    pub free_in_ms: u64,
}

/// An allocator of numbers of users: each user's increase by one, and at a change of the allocator by more.
///
/// Several may work on one set: each section has one at a time. Clones are the same allocator. See
/// [`section`](snowmint_core::section).
#[derive(Clone, Debug)]
pub struct Sections(Arc<Open>);

/// What clones share. The tasks that keep sections do not: they end with it, and give back what they keep.
#[derive(Debug)]
struct Open(Arc<Inner>);

impl Drop for Open {
    fn drop(&mut self) {
        // In a forked child the locks may be held for good.
        if self.0.owner.check().is_ok() {
            *lock(&self.0.closed) = true;
        }
    }
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    /// The keys of the set begin with this.
    prefix: String,
    /// Where its size is pinned.
    size_key: String,
    /// Set once that is this allocator's.
    pinned: OnceCell<()>,
    options: SectionsOptions,
    label: [u8; lease::LABEL_BYTES],
    places: Mutex<HashMap<u64, Arc<Place>>>,
    closed: Mutex<bool>,
    runtime: Handle,
    owner: Owner,
}

/// One section, from the first call for it to its end.
#[derive(Debug)]
struct Place {
    users: Users,
    key: String,
    state: Mutex<State>,
    news: Notify,
    /// Has a claim that waits look again.
    look: Notify,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Why it does not go on, if it does not.
    trouble: Option<Error>,
    /// When it was asked for last.
    wanted_ms: u64,
    /// Whose it is, while it is claimed.
    elsewhere: Option<Elsewhere>,
}

/// What is known of a section that another allocator has, by the steady clock.
#[derive(Debug)]
struct Elsewhere {
    holder: String,
    /// When its record was read.
    read_ms: u64,
    /// When it can be taken over, unless it is renewed.
    free_at_ms: u64,
    /// Whether it was seen to be renewed, and the next renewal is not overdue.
    lives: bool,
}

#[derive(Debug)]
enum Phase {
    Claiming,
    Held(Box<Section<Vec<u64>>>),
    Over,
}

impl Sections {
    /// An allocator for a set of users. To be called within a tokio runtime, which renews.
    ///
    /// # Errors
    /// `InvalidText` for a name that is not 1 to 128 bytes long; `InvalidId`, if the size is beyond 1,000,000, the step not
    /// 1 to 2^31-1, or the window less than 1000 ms.
    pub fn new(store: Arc<dyn Store>, set: &str, options: SectionsOptions) -> Result<Self, Error> {
        let prefix = key("sections/", set)? + "/";
        let label = lease::Record::label(&options.label.clone().unwrap_or_else(label_with_host));
        let inner = Inner {
            store,
            prefix,
            size_key: key(SIZES, set)?,
            pinned: OnceCell::new(),
            options,
            label,
            places: Mutex::default(),
            closed: Mutex::new(false),
            runtime: runtime()?,
            owner: Owner::this_process(),
        };
        inner.terms(Users::of(Integer::from(0u64), inner.options.size)?)?;
        Ok(Self(Arc::new(Open(Arc::new(inner)))))
    }

    /// Pins the size of the set's sections, and refuses another than the store has; the first claim does so too.
    ///
    /// # Errors
    /// `InvalidId`, naming both sizes; `StoreUnavailable`; `Forked`.
    pub async fn pin(&self) -> Result<(), Error> {
        self.0.0.owner.check()?;
        self.0.0.pin().await
    }

    /// Lists the sets whose size is pinned, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn sets(store: &dyn Store) -> Result<Vec<String>, Error> {
        Ok(store.list(SIZES).await?.iter().filter_map(|(part, _)| name(part)).collect())
    }

    /// The next number of a user, who is any number from 0 to 2^64-1.
    ///
    /// A section of another allocator is waited for only if it may be free in time; who renews it keeps it.
    ///
    /// # Errors
    /// `WindowClosed`, if another allocator has the user's section, naming it, or after a close; `StoreUnavailable`, if the
    /// store does not answer within `max_wait_ms`; `Exhausted` past 2^63-1, or for a section beyond the most, all of which were
    /// asked for lately; `InvalidId` for no user, and where the store has another size of sections; `Forked`.
    pub async fn next(&self, user: Integer) -> Result<u64, Error> {
        let inner = &self.0.0;
        inner.owner.check()?;
        let users = Users::of(user, inner.options.size)?;
        let deadline = Instant::now() + Duration::from_millis(inner.options.max_wait_ms);
        let deadline_ms = steady_ms().saturating_add(inner.options.max_wait_ms);
        loop {
            let place = Inner::place(inner, users)?;
            let news = place.news.notified();
            let error = match Inner::try_next(inner, &place, user) {
                Ok(number) => return Ok(number),
                Err(error) => error,
            };
            let again = matches!(error.kind(), ErrorKind::WindowClosed | ErrorKind::StoreUnavailable)
                || error.wait_ms().is_some();
            if !again || Instant::now() >= deadline || place.stays_elsewhere(deadline_ms) {
                return Err(error);
            }
            let pause = Instant::now() + Duration::from_millis(error.wait_ms().unwrap_or(50).clamp(20, 50));
            // Either way there is something to look at.
            let _ = timeout_at(pause.min(deadline), news).await;
            if let Some(refusal) = place.refusal() {
                return Err(refusal);
            }
        }
    }

    /// Tells who has the section of a user, if it was another allocator when somebody last asked for it here.
    pub fn holder(&self, user: Integer) -> Option<SectionHolder> {
        let inner = &self.0.0;
        inner.owner.check().ok()?;
        let number = Users::of(user, inner.options.size).ok()?.number();
        let place = lock(&inner.places).get(&number).map(Arc::clone)?;
        let state = lock(&place.state);
        state.elsewhere.as_ref().map(|elsewhere| SectionHolder {
            label: elsewhere.holder.clone(),
            is_namesake: elsewhere.holder == text_of(&inner.label),
            free_in_ms: elsewhere.free_at_ms.saturating_sub(steady_ms()),
        })
    }

    /// Gives every section back, so that another allocator need not wait. For all clones.
    ///
    /// # Errors
    /// `Forked`. What cannot be given back runs out.
    pub async fn close(&self) -> Result<(), Error> {
        let inner = &self.0.0;
        inner.owner.check()?;
        *lock(&inner.closed) = true;
        let places: Vec<_> = lock(&inner.places).drain().map(|(_, place)| place).collect();
        let places = Arc::new(Mutex::new(places.into_iter()));
        let mut releasing = JoinSet::new();
        for _ in 0..AT_ONCE {
            let (inner, places) = (Arc::clone(inner), Arc::clone(&places));
            let release = async move {
                let next = || lock(&places).next();
                while let Some(place) = next() {
                    inner.release(&place).await;
                }
            };
            drop(releasing.spawn_on(release, &self.0.0.runtime));
        }
        releasing.join_all().await;
        Ok(())
    }
}

impl Place {
    /// Why it cannot be claimed, if claiming anew does not help.
    fn refusal(&self) -> Option<Error> {
        use ErrorKind::{Exhausted, StoreUnavailable, WindowClosed};
        let state = lock(&self.state);
        let over = matches!(state.phase, Phase::Over);
        let passes = |error: &Error| matches!(error.kind(), StoreUnavailable | WindowClosed | Exhausted);
        state.trouble.clone().filter(|error| over && !passes(error))
    }

    /// The store does not answer.
    fn is_troubled(&self, error: Error) {
        let mut state = lock(&self.state);
        state.trouble = Some(error);
        state.elsewhere = None;
    }

    /// Whether another allocator has it that lives, or that cannot be known to be dead by then; and has the claim look again,
    /// if that is not fresh.
    fn stays_elsewhere(&self, deadline_ms: u64) -> bool {
        let state = lock(&self.state);
        let Some(elsewhere) = &state.elsewhere else { return false };
        if steady_ms().saturating_sub(elsewhere.read_ms) > FRESH_MS {
            self.look.notify_one();
            return false;
        }
        elsewhere.lives || elsewhere.free_at_ms > deadline_ms
    }
}

/// What a claim saw of another's section, from look to look.
#[derive(Clone, Copy, Debug)]
struct Seen {
    free_at_ms: u64,
    /// The holder's window, which begins anew when it renews.
    window_ms: u64,
    renewed: bool,
}

impl Seen {
    /// After a look at `now_ms`, which said to wait for so long.
    const fn after(before: Option<Self>, now_ms: u64, wait_ms: u64) -> Self {
        let free_at_ms = now_ms.saturating_add(wait_ms);
        match before {
            None => Self { free_at_ms, window_ms: wait_ms, renewed: false },
            Some(before) if free_at_ms > before.free_at_ms => Self { free_at_ms, window_ms: wait_ms, renewed: true },
            Some(before) => before,
        }
    }

    /// Renewals come after half a window each; a quarter more is for the way.
    const fn lives(self, wait_ms: u64) -> bool {
        self.renewed && wait_ms > self.window_ms / 4
    }
}

impl Inner {
    /// Pins the size, once.
    async fn pin(&self) -> Result<(), Error> {
        let pinning = async {
            let wanted = Pin::Sections(self.options.size);
            if !is_pinned(&*self.store, &self.size_key, wanted).await? {
                // Sections that were kept before sizes were pinned have one too.
                for (_, found) in self.store.list(&self.prefix).await? {
                    if let Ok(record) = Record::from_bytes(&found.value) {
                        wanted.refuse_other(Pin::Sections(record.users.size()))?;
                    }
                }
                pin(&*self.store, &self.size_key, wanted).await?;
            }
            Ok(())
        };
        self.pinned.get_or_try_init(|| pinning).await.copied()
    }

    fn terms(&self, users: Users) -> Result<Terms, Error> {
        let SectionsOptions { step, window_ms, .. } = self.options;
        Ok(Terms::new(users, token()?, Integer::from(step), window_ms, self.label)?)
    }

    /// The place of a section; where there is none a task begins that claims and keeps it.
    fn place(inner: &Arc<Self>, users: Users) -> Result<Arc<Place>, Error> {
        let mut places = lock(&inner.places);
        if *lock(&inner.closed) {
            return Err(snowmint_core::Error::closed().into());
        }
        if let Some(place) = places.get(&users.number()) {
            lock(&place.state).wanted_ms = steady_ms();
            return Ok(Arc::clone(place));
        }
        if places.len() >= inner.options.most {
            Self::make_room(inner, &mut places)?;
        }
        let state = State { phase: Phase::Claiming, trouble: None, wanted_ms: steady_ms(), elsewhere: None };
        let key = format!("{}{}", inner.prefix, users.number());
        let place = Arc::new(Place { users, key, state: Mutex::new(state), news: Notify::new(), look: Notify::new() });
        let claim = Claim::new(inner.terms(users)?);
        places.insert(users.number(), Arc::clone(&place));
        let (inner, keeper) = (Arc::clone(inner), Arc::clone(&place));
        // The handle is dropped: the task ends with the section.
        drop(inner.runtime.clone().spawn(async move {
            if inner.claim(claim, &keeper).await {
                inner.keep(&keeper).await;
            }
            inner.forget(&keeper);
        }));
        Ok(place)
    }

    /// Gives the section back that nobody asked for longest, if that is a while ago.
    fn make_room(inner: &Arc<Self>, places: &mut HashMap<u64, Arc<Place>>) -> Result<(), Error> {
        let wanted_ms = |place: &Place| {
            let state = lock(&place.state);
            matches!(state.phase, Phase::Held(_)).then_some(state.wanted_ms)
        };
        let idle = places.iter().filter_map(|(number, place)| Some((wanted_ms(place)?, *number))).min();
        let idle = idle.filter(|(wanted_ms, _)| steady_ms().saturating_sub(*wanted_ms) >= ROOM_MS);
        let Some(place) = idle.and_then(|(_, number)| places.remove(&number)) else {
            let most = inner.options.most;
            return Err(Error::told(
                ErrorKind::Exhausted,
                format!("this allocator has {most} sections of users, all in use: ask again in some seconds"),
            ));
        };
        let releasing = Arc::clone(inner);
        drop(inner.runtime.spawn(async move { releasing.release(&place).await }));
        Ok(())
    }

    fn try_next(inner: &Arc<Self>, place: &Arc<Place>, user: Integer) -> Result<u64, Error> {
        let mut state = lock(&place.state);
        let trouble = state.trouble.clone();
        let busy = || trouble.clone().unwrap_or_else(|| snowmint_core::Error::numbers_dry(20).into());
        match &mut state.phase {
            Phase::Claiming => Err(busy()),
            Phase::Over => Err(trouble.unwrap_or_else(|| snowmint_core::Error::closed().into())),
            Phase::Held(section) => match section.next(user, steady_ms()) {
                Ok(Next::Done(number)) => Ok(number),
                Ok(Next::Ask(asked)) => {
                    let (inner, place) = (Arc::clone(inner), Arc::clone(place));
                    drop(inner.runtime.clone().spawn(async move { inner.do_ask(&place, asked).await }));
                    Err(busy())
                }
                Err(error) if error.wait_ms().is_some() => Err(busy()),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Takes a section over; not, if nobody wants it any more.
    async fn claim(&self, mut claim: Claim, place: &Place) -> bool {
        while let Err(error) = self.pin().await {
            if error.kind() != ErrorKind::StoreUnavailable {
                return end(place, error);
            }
            place.is_troubled(error);
            if self.is_unwanted(place, self.patience_ms()) {
                return false;
            }
            sleep(Duration::from_millis(100)).await;
        }
        let mut reply = None;
        let mut holder = None;
        let mut seen: Option<Seen> = None;
        loop {
            let now_ms = steady_ms();
            match claim.next(reply.take(), now_ms) {
                Ok(Next::Done(Claimed::Held(held))) => {
                    // The size fits: it is less than 2^32, and so many words were asked for.
                    let users = usize::try_from(place.users.size().get()).unwrap_or(usize::MAX);
                    let mut state = lock(&place.state);
                    state.phase = Phase::Held(Box::new(Section::new(held, vec![0; users])));
                    state.trouble = None;
                    state.elsewhere = None;
                    drop(state);
                    place.news.notify_waiters();
                    return true;
                }
                Ok(Next::Done(Claimed::Wait(wait_ms))) => {
                    if self.is_unwanted(place, self.patience_ms()) {
                        return false;
                    }
                    let now = Seen::after(seen.take(), now_ms, wait_ms);
                    lock(&place.state).elsewhere = Some(Elsewhere {
                        holder: holder.take().unwrap_or_default(),
                        read_ms: now_ms,
                        free_at_ms: now.free_at_ms,
                        lives: now.lives(wait_ms),
                    });
                    seen = Some(now);
                    place.news.notify_waiters();
                    // It may be given back meanwhile.
                    let pause = Duration::from_millis(wait_ms.clamp(1, (self.options.window_ms / 8).max(50)));
                    drop(timeout(pause, place.look.notified()).await);
                }
                Ok(Next::Ask(asked)) => match ask::<Record>(&*self.store, &place.key, asked).await {
                    Ok((mut answer, mut error)) => {
                        if let Reply::Record(None, _) = answer {
                            // It may have had a record that a backup does not know.
                            match skipped(&*self.store).await {
                                Ok(skip) => claim.begin_above(skip),
                                Err(failed) => (answer, error) = (Reply::Unknown, Some(failed)),
                            }
                        }
                        if let Reply::Record(Some(found), _) = &answer {
                            let namesake = found.label == self.label;
                            let label = text_of(&found.label);
                            lock(&place.state).trouble =
                                (!found.released).then(|| held_by(place.users, &label, namesake));
                            holder = Some(label);
                        }
                        if let Some(error) = error {
                            place.is_troubled(error);
                            if self.is_unwanted(place, self.patience_ms()) {
                                return false;
                            }
                            sleep(Duration::from_millis(100)).await;
                        }
                        reply = Some(answer);
                    }
                    Err(error) => return end(place, error),
                },
                Err(error) => return end(place, error.into()),
            }
        }
    }

    /// Whether nobody has asked for so long, in ms.
    fn is_unwanted(&self, place: &Place, for_ms: u64) -> bool {
        *lock(&self.closed) || steady_ms().saturating_sub(lock(&place.state).wanted_ms) > for_ms
    }

    /// How long to go on claiming for callers who have given up, and may come again: long enough for a watch.
    const fn patience_ms(&self) -> u64 {
        self.options.window_ms.saturating_add(self.options.max_wait_ms)
    }

    /// Renews it until it is lost, or nobody wants it.
    async fn keep(&self, place: &Place) {
        let pause = Duration::from_millis((self.options.window_ms / 16).clamp(20, 1000));
        loop {
            sleep(pause).await;
            if self.is_unwanted(place, IDLE_MS.max(self.options.window_ms.saturating_mul(2))) {
                self.release(place).await;
                return;
            }
            let asked = match &mut lock(&place.state).phase {
                Phase::Held(section) => section.renew(steady_ms()),
                Phase::Claiming | Phase::Over => return,
            };
            match asked {
                Ok(Some(asked)) => self.do_ask(place, asked).await,
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    /// Asks the store for a section, and tells the section.
    async fn do_ask(&self, place: &Place, asked: Ask<Record>) {
        let (reply, trouble) = match ask(&*self.store, &place.key, asked).await {
            Ok(answered) => answered,
            Err(error) => (Reply::Unknown, Some(error)),
        };
        let mut state = lock(&place.state);
        state.trouble = trouble;
        if let Phase::Held(section) = &mut state.phase
            && section.reply(reply, steady_ms()).is_err()
        {
            // Who calls next claims anew, and learns who has it.
            state.phase = Phase::Over;
            drop(state);
            self.forget(place);
        }
        place.news.notify_waiters();
    }

    fn forget(&self, place: &Place) {
        let mut places = lock(&self.places);
        if places.get(&place.users.number()).is_some_and(|there| std::ptr::eq(Arc::as_ptr(there), place)) {
            places.remove(&place.users.number());
        }
        drop(places);
        lock(&place.state).phase = Phase::Over;
        place.news.notify_waiters();
    }

    async fn release(&self, place: &Place) {
        let asked = match std::mem::replace(&mut lock(&place.state).phase, Phase::Over) {
            Phase::Held(mut section) => section.release(),
            Phase::Claiming | Phase::Over => None,
        };
        if let Some(asked) = asked {
            // Without an answer the successor waits a window.
            drop(ask(&*self.store, &place.key, asked).await);
        }
    }
}

/// It cannot be claimed.
fn end(place: &Place, error: Error) -> bool {
    lock(&place.state).trouble = Some(error);
    false
}

fn text_of(label: &[u8]) -> String {
    let end = label.iter().position(|byte| *byte == 0).unwrap_or(label.len());
    String::from_utf8_lossy(&label[..end]).into_owned()
}

fn held_by(users: Users, holder: &str, is_namesake: bool) -> Error {
    let (first, last) = (users.first(), users.last());
    let sentence = if is_namesake {
        format!(
            "users {first} to {last} are held by an allocator with the address of this one, {holder}, such as its last run: \
             they are free when that one's window is over"
        )
    } else {
        format!("users {first} to {last} are served by another allocator, {holder}")
    };
    Error::told(ErrorKind::WindowClosed, sentence)
}
