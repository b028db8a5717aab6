//! Reservations: nodes that a store has granted for hours to a directory of this machine. Processes take windows of these nodes
//! from slots there, also while the store does not answer.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use snowmint_core::host::{mix, whole_ms};
use snowmint_core::lease::Reservation;
use snowmint_core::{Nodes, Window};
use snowmint_stores::Error;
use snowmint_stores::host::{Claimer, Refusal, StoreLease, Terms, claim_node};

use crate::lease::connector::{Connector, wait_for};
use crate::lease::grant::Grant;
use crate::lease::outer::Outer;
use crate::slots::{Found, Locked, LockedSlot, SlotDirectory, Start, Visit, boot};

/// How long a process that starts in a reservation waits for the store to confirm it.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(1);

/// The reservations of one store in a directory of this machine.
#[derive(Clone, Debug)]
pub struct Reservations {
    /// The slots of the nodes that the store has granted.
    pub(crate) slots: SlotDirectory,
    store: Arc<dyn Connector>,
    /// The number of a store of the caller.
    number: Option<usize>,
    reserve_ms: u64,
}

impl Reservations {
    /// Returns the reservations of a store among the slots of a directory. `identity` names the store: all processes
    /// that use the store must give the same text.
    ///
    /// # Errors
    /// `InvalidStore`, if this system cannot distinguish a directory from its copy.
    pub(crate) fn new(
        machine: &SlotDirectory,
        store: Arc<dyn Connector>,
        identity: &str,
        number: Option<usize>,
        reserve_ms: u64,
    ) -> Result<Self, Error> {
        boot()?;
        Ok(Self { slots: machine.below(".reserved", &directory_of(identity)), store, number, reserve_ms })
    }

    /// Returns the store that grants the nodes.
    pub(crate) fn store(&self) -> Arc<dyn Connector> {
        Arc::clone(&self.store)
    }

    /// Returns engine and address of the store, for error messages.
    pub(crate) fn name(&self) -> String {
        self.store.name()
    }

    /// Returns how long a claim waits for the store at least.
    pub(crate) fn least_patience(&self) -> Duration {
        self.store.least_patience()
    }

    /// Returns whether the caller gave the store.
    pub(crate) const fn is_the_callers(&self) -> bool {
        self.number.is_some()
    }

    /// Claims a node that the directory has reserved and no process of this machine holds, otherwise a node of the
    /// store.
    pub(crate) fn claim(&self, terms: &Terms, now_ms: i64, slowest_ms: &AtomicU64) -> Result<Grant, Refusal> {
        let visit = self.slots.visit(terms, now_ms)?;
        let (mut soonest_ms, mut foreign): (Option<u64>, u32) = (None, 0);
        for node in visit.nodes()? {
            let Locked::Slot(slot) = visit.lock(node)? else { continue };
            let reservation = match slot.reservation()? {
                Found::Own(reservation) => reservation,
                Found::Foreign => {
                    foreign += 1;
                    continue;
                }
                Found::Nothing => continue,
            };
            match slot.start(&visit, Some(&reservation)) {
                Start::Never => {}
                Start::In(wait_ms) => {
                    soonest_ms = Some(soonest_ms.map_or(wait_ms, |soonest| soonest.min(wait_ms)));
                }
                Start::At(window) => {
                    let store = Arc::clone(&self.store);
                    let outer = Arc::new(Outer::resumed(store, terms, self.reserve_ms, node, &reservation));
                    if let Some(renewing) = outer.begin(now_ms) {
                        renewing.wait(Instant::now() + CONFIRM_TIMEOUT);
                    }
                    if outer.lost().is_none() {
                        return slot.grant(&visit, window, Some((outer, reservation)));
                    }
                    // The store has granted the node to others since, as after a fence.
                    slot.give_up(&reservation)?;
                }
            }
        }
        match soonest_ms {
            // Otherwise each crash would take one node more from the fleet.
            Some(wait_ms) if wait_ms <= terms.window_ms => {
                Err(Refusal::NotYet(wait_ms, visit.exhausted(soonest_ms, &[])))
            }
            _ => self.reserve(terms, now_ms, slowest_ms).map_err(|refusal| self.explained(refusal, foreign)),
        }
    }

    /// Claims a node of the store for the directory, and takes its slot.
    fn reserve(&self, terms: &Terms, now_ms: i64, slowest_ms: &AtomicU64) -> Result<Grant, Refusal> {
        let lease = self.claim_of_store(terms, now_ms, slowest_ms)?;
        let terms = Terms { nodes: Nodes::one(lease.node()), ..terms.clone() };
        let slot = self.slot_of(&terms, now_ms, &lease);
        let (visit, slot, reservation, window) = match slot {
            Ok(found) => found,
            Err(refusal) => {
                // Otherwise the node would be blocked for hours.
                self.give_back(lease);
                return Err(refusal);
            }
        };
        let outer = Arc::new(Outer::fresh(Arc::clone(&self.store), &terms, self.reserve_ms, lease));
        slot.grant(&visit, window, Some((outer, reservation)))
    }

    /// Locks the slot of a node that the store has just granted.
    fn slot_of<'a>(
        &'a self,
        terms: &'a Terms,
        now_ms: i64,
        lease: &StoreLease,
    ) -> Result<(Visit<'a>, LockedSlot, Reservation, Window), Refusal> {
        let visit = self.slots.visit(terms, now_ms)?;
        let Locked::Slot(slot) = visit.lock(lease.node())? else {
            return Err(Refusal::Taken(visit.exhausted(None, &[])));
        };
        let reservation = slot.reservation_of(lease.saved())?;
        match slot.start(&visit, Some(&reservation)) {
            Start::At(window) => Ok((visit, slot, reservation, window)),
            Start::In(wait_ms) => Err(Refusal::NotYet(wait_ms, visit.exhausted(Some(wait_ms), &[]))),
            Start::Never => Err(Refusal::Taken(visit.exhausted(None, &[]))),
        }
    }

    /// Begins to release a node of which nothing was used.
    fn give_back(&self, mut lease: StoreLease) {
        let start_ms = lease.window().start_ms;
        let release = async move {
            lease.release(start_ms).await;
        };
        // Without a thread the node is free when the reservation is over.
        drop(self.store.background().map(|background| background.run(release)));
    }

    /// Adds to an error of the store why reservations in the directory do not count.
    fn explained(&self, refusal: Refusal, foreign: u32) -> Refusal {
        match refusal {
            Refusal::Error(error) if foreign > 0 => {
                let directory = self.slots.path.display();
                Refusal::Error(Error::new(
                    error.kind(),
                    format!(
                        "{error}. {foreign} reservations in {directory} do not count, because the directory was copied, or the \
                         machine has started anew since"
                    ),
                ))
            }
            refusal => refusal,
        }
    }

    fn claim_of_store(&self, terms: &Terms, now_ms: i64, slowest_ms: &AtomicU64) -> Result<StoreLease, Refusal> {
        let (store, slowest) = (Arc::clone(&self.store), Arc::new(AtomicU64::new(0)));
        let terms = Terms { window_ms: self.reserve_ms, ..terms.clone() };
        let answered = Arc::clone(&slowest);
        let claim = async move {
            let answered = |took: Duration| {
                answered.fetch_max(whole_ms(took), Ordering::Relaxed);
            };
            claim_node(store.record_store().await?, &terms, &Claimer::this_process()?, now_ms, &answered).await
        };
        wait_for(&*self.store, claim, || {
            slowest_ms.fetch_max(slowest.load(Ordering::Relaxed), Ordering::Relaxed);
        })
    }
}

impl PartialEq for Reservations {
    fn eq(&self, other: &Self) -> bool {
        (&self.slots, self.number, self.reserve_ms) == (&other.slots, other.number, other.reserve_ms)
    }
}

impl Eq for Reservations {}

impl Hash for Reservations {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.slots.hash(state);
    }
}

/// Returns the name of the directory for a store: what people can read of its identity, and a hash of it.
fn directory_of(identity: &str) -> String {
    const MAX_LETTERS: usize = 60;
    const MAX_WORDS: usize = 3;
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || ".-".contains(letter) { letter } else { '_' };
    // The engine and the place, as options may have a secret.
    let shown = identity.split(' ').take(MAX_WORDS).collect::<Vec<_>>().join(" ");
    let readable: String = shown.chars().take(MAX_LETTERS).map(letter).collect();
    let hash = identity.bytes().fold(0, |hash, byte| mix(hash, byte.into()));
    format!("{readable}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_a_directory_of_its_own() {
        let name = directory_of("postgres at db:5432/ids");
        assert!(name.starts_with("postgres_at_db_5432_ids-"), "{name}");
        assert_ne!(name, directory_of("postgres at db:5432_ids"));
        let secret = directory_of("postgres at db:5432/ids?x options=secret snowmint");
        assert!(!secret.contains("secret"), "{secret}");
        let long = "x".repeat(3000);
        assert!(directory_of(&long).len() < 100);
        assert_ne!(directory_of(&long), directory_of(&long[1..]));
    }
}
