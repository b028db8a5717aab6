//! The tasks of an allocator: they claim sections, renew them, and give them back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::bytes::{LABEL_BYTES, label_text};
use snowmint_core::pin::Pin;
use snowmint_core::section::{
    self, CLAIM_RETRY_MS, Claim, Claimed, HeldBy, Record, Section, Terms, Users, idle_ms, keep_ms, look_ms, patience_ms,
};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{ErrorKind, Integer};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::SectionsOptions;
use super::memory::{Budget, Known};
use super::place::{Elsewhere, Phase, Place, State};
use super::set::{SectionOfSet, Set};
use crate::error::Error;
use crate::numbers::pins::{is_pinned, pin};
use crate::process::Owner;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;
use crate::process::nonce::nonce;
use crate::store::ask::ask;
use crate::store::floor::skipped;
use crate::store::{CounterStore, NumberService, ranges};

/// The request of a call to a section, at a monotonic time in ms.
pub(super) type Step<'a, T> =
    &'a (dyn Fn(&mut Section<Known>, u64) -> Result<Next<T, Record>, snowmint_core::Error> + Sync);

/// The sections of an allocator.
pub(super) type Places = HashMap<SectionOfSet, Arc<Place>>;

/// The part of an allocator that its tasks share.
#[derive(Debug)]
pub(super) struct Allocator {
    pub(super) store: Arc<dyn CounterStore>,
    /// Gives the numbers in place of this allocator.
    pub(super) service: Option<Arc<dyn NumberService>>,
    /// The memory of all sections and their users.
    pub(super) budget: Arc<Budget>,
    pub(super) options: SectionsOptions,
    pub(super) label: [u8; LABEL_BYTES],
    pub(super) places: Mutex<Places>,
    pub(super) closed: Mutex<bool>,
    pub(super) runtime: Handle,
    pub(super) owner: &'static Owner,
}

impl Allocator {
    /// Pins the size of a set, once.
    pub(super) async fn pin(&self, set: &Set) -> Result<(), Error> {
        let pinning = async {
            let wanted = Pin::Sections(self.options.size);
            if !is_pinned(&*self.store, &set.size_key, wanted).await? {
                // Records of older versions have a size that is not pinned.
                for (_, found) in self.store.list(&set.prefix).await? {
                    if let Ok(record) = Record::from_bytes(&found.value) {
                        wanted.refuse_other(Pin::Sections(record.users.size()))?;
                    }
                }
                pin(&*self.store, &set.size_key, wanted).await?;
            }
            Ok(())
        };
        set.pinned.get_or_try_init(|| pinning).await.copied()
    }

    pub(super) fn terms(&self, users: Users) -> Result<Terms, Error> {
        let SectionsOptions { step, window_ms, .. } = self.options;
        Ok(Terms::new(users, nonce()?, Integer::from(step), window_ms, self.label)?)
    }

    /// Finds the place of a section, or makes it and starts the task that claims and keeps the section.
    pub(super) fn place(allocator: &Arc<Self>, set: &Arc<Set>, users: Users) -> Result<Arc<Place>, Error> {
        let mut places = lock(&allocator.places);
        if *lock(&allocator.closed) {
            return Err(snowmint_core::Error::closed().into());
        }
        let section = set.section(users);
        if let Some(place) = places.get(&section) {
            lock(&place.state).wanted_ms = monotonic_ms();
            return Ok(Arc::clone(place));
        }
        Self::make_place(allocator, &mut places)?;
        let state =
            State { phase: Phase::Claiming, trouble: None, wanted_ms: monotonic_ms(), elsewhere: None, taken: None };
        let (set, key) = (Arc::clone(set), format!("{}{}", set.prefix, users.number()));
        let (state, news, look) = (Mutex::new(state), Notify::new(), Notify::new());
        let place = Arc::new(Place { set, users, key, state, news, look });
        let claim = Claim::new(allocator.terms(users)?);
        let (keeping, keeper) = (Arc::clone(allocator), Arc::clone(&place));
        let task = async move {
            if keeping.claim(claim, &keeper).await {
                keeping.keep(&keeper).await;
            }
            keeping.forget(&keeper);
        };
        let bytes = size_of::<Place>() + size_of::<Section<Known>>() + place.key.len() + size_of_val(&task);
        lock(&place.state).taken = Some(Self::take(allocator, &mut places, bytes as u64)?);
        places.insert(section, Arc::clone(&place));
        drop(places);
        // Without its handle the task ends with the section.
        drop(allocator.runtime.spawn(task));
        Ok(place)
    }

    /// Asks a section. Returns `None` if the memory has no room for the user. Does not wait for the store.
    pub(super) fn try_ask<T>(allocator: &Arc<Self>, place: &Arc<Place>, step: Step<'_, T>) -> Result<Option<T>, Error> {
        let mut state = lock(&place.state);
        let trouble = state.trouble.clone();
        let busy = || trouble.clone().unwrap_or_else(|| snowmint_core::Error::numbers_dry(20).into());
        match &mut state.phase {
            Phase::Claiming => Err(busy()),
            Phase::Over => Err(trouble.unwrap_or_else(|| snowmint_core::Error::closed().into())),
            Phase::Held(section) => match step(section, monotonic_ms()) {
                Ok(Next::Done(answer)) => Ok(Some(answer)),
                Ok(Next::Ask(asked)) => {
                    let (allocator, place) = (Arc::clone(allocator), Arc::clone(place));
                    drop(allocator.runtime.clone().spawn(async move { allocator.do_ask(&place, asked).await }));
                    Err(busy())
                }
                Err(error) if error.is_users_full() => Ok(None),
                Err(error) if error.wait_ms().is_some() => Err(busy()),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Claims a section. Returns `false` if callers stopped asking, or the claim cannot succeed.
    async fn claim(&self, mut claim: Claim, place: &Place) -> bool {
        while let Err(error) = self.pin(&place.set).await {
            if error.kind() != ErrorKind::StoreUnavailable {
                return end(place, error);
            }
            place.note_trouble(error);
            if self.is_unwanted(place, self.patience_ms()) {
                return false;
            }
            sleep(Duration::from_millis(CLAIM_RETRY_MS)).await;
        }
        let mut reply = None;
        let mut holder = None;
        let mut seen: Option<section::Elsewhere> = None;
        loop {
            let now_ms = monotonic_ms();
            match claim.next(reply.take(), now_ms) {
                Ok(Next::Done(Claimed::Held(held))) => {
                    let users = Known::new(place.users.size().get(), Arc::clone(&self.budget));
                    let mut state = lock(&place.state);
                    state.phase = Phase::Held(Box::new(Section::new(held, users)));
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
                    let now = section::Elsewhere::after(seen.take(), now_ms, wait_ms);
                    let holder = holder.take().unwrap_or_default();
                    lock(&place.state).elsewhere = Some(Elsewhere { holder, seen: now });
                    seen = Some(now);
                    place.news.notify_waiters();
                    let pause = Duration::from_millis(look_ms(wait_ms, self.options.window_ms));
                    drop(timeout(pause, place.look.notified()).await);
                }
                Ok(Next::Ask(asked)) => match ask::<Record>(&*self.store, &place.key, asked).await {
                    Ok((mut answer, mut error)) => {
                        if let Reply::Record(None, _) = answer {
                            // The section may have had a record after the backup.
                            match skipped(&*self.store).await {
                                Ok(skip) => claim.begin_above(skip),
                                Err(failed) => (answer, error) = (Reply::Unknown, Some(failed)),
                            }
                        }
                        if let Reply::Record(Some(found), _) = &answer {
                            let namesake = found.label == self.label;
                            let label = label_text(&found.label).to_string();
                            lock(&place.state).trouble =
                                (!found.released).then(|| held_by(place.users, &label, namesake));
                            holder = Some(label);
                        }
                        if let Some(error) = error {
                            place.note_trouble(error);
                            if self.is_unwanted(place, self.patience_ms()) {
                                return false;
                            }
                            sleep(Duration::from_millis(CLAIM_RETRY_MS)).await;
                        }
                        reply = Some(answer);
                    }
                    Err(error) => return end(place, error),
                },
                Err(error) => return end(place, error.into()),
            }
        }
    }

    /// Returns whether the allocator is closed, or the last request is more than `for_ms` old.
    fn is_unwanted(&self, place: &Place, for_ms: u64) -> bool {
        *lock(&self.closed) || monotonic_ms().saturating_sub(lock(&place.state).wanted_ms) > for_ms
    }

    /// Returns how long a claim goes on without callers, in ms.
    const fn patience_ms(&self) -> u64 {
        patience_ms(self.options.window_ms, self.options.max_wait_ms)
    }

    /// Renews a section until it is lost, or has no requests.
    async fn keep(&self, place: &Place) {
        let pause = Duration::from_millis(keep_ms(self.options.window_ms));
        loop {
            // A section that was given back ends at once.
            drop(timeout(pause, place.look.notified()).await);
            if self.is_unwanted(place, idle_ms(self.options.window_ms)) {
                self.release(place).await;
                return;
            }
            let asked = match &mut lock(&place.state).phase {
                Phase::Held(section) => section.renew(monotonic_ms()),
                Phase::Claiming | Phase::Over => return,
            };
            match asked {
                Ok(Some(asked)) => self.do_ask(place, asked).await,
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    /// Sends a request to the store, and its answer to the section.
    async fn do_ask(&self, place: &Place, asked: Ask<Record>) {
        let (mut reply, mut trouble) = match ask(&*self.store, &place.key, asked).await {
            Ok(answered) => answered,
            Err(error) => (Reply::Unknown, Some(error)),
        };
        let mut state = lock(&place.state);
        if let Phase::Held(section) = &mut state.phase {
            if let Err(error) = self.note(place, section.record(), asked, reply) {
                // The section does not use the numbers, and asks again.
                (reply, trouble) = (Reply::Unknown, Some(error));
            }
            if section.reply(reply, monotonic_ms()).is_err() {
                // The next caller claims again, and gets the holder's label in the error.
                let _ = state.end();
                state.trouble = trouble;
                drop(state);
                self.forget(place);
                place.news.notify_waiters();
                return;
            }
        }
        state.trouble = trouble;
        drop(state);
        place.news.notify_waiters();
    }

    /// Notes the numbers that an answer of the store adds to a section.
    fn note(&self, place: &Place, held: &Record, asked: Ask<Record>, reply: Reply<Record>) -> Result<(), Error> {
        let after = match (asked, reply) {
            (Ask::Write(written, _), Reply::Written(_)) => written.max_seq,
            (Ask::Read, Reply::Record(Some(found), _)) if found.token == held.token => found.max_seq,
            _ => return Ok(()),
        };
        if after <= held.max_seq {
            return Ok(());
        }
        ranges::note(&*self.store, &place.key, i128::from(held.max_seq) + 1, after.into(), 1)
    }

    fn forget(&self, place: &Place) {
        let mut places = lock(&self.places);
        let section = place.set.section(place.users);
        if places.get(&section).is_some_and(|there| std::ptr::eq(Arc::as_ptr(there), place)) {
            places.remove(&section);
        }
        drop(places);
        let _ = lock(&place.state).end();
        place.news.notify_waiters();
    }

    pub(super) async fn release(&self, place: &Place) {
        let asked = lock(&place.state).end();
        if let Some(asked) = asked {
            // Without an answer the successor waits for a window.
            drop(ask(&*self.store, &place.key, asked).await);
        }
    }
}

/// Ends a claim that cannot succeed.
fn end(place: &Place, error: Error) -> bool {
    lock(&place.state).trouble = Some(error);
    false
}

/// `WindowClosed`: another allocator holds the section.
fn held_by(users: Users, holder: &str, is_namesake: bool) -> Error {
    Error::new(ErrorKind::WindowClosed, HeldBy { users, holder, is_namesake }.to_string())
}
