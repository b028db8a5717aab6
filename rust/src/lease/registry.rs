//! The leases and vouched nodes that the generators of one process share, and the thread that renews leases. A forked child
//! starts with an empty registry.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::time::{Duration, Instant};
use std::{mem, thread};

use snowmint_core::{ErrorKind, Layout, LayoutId, SystemHost, Words, mutant};
use snowmint_stores::Error;
use snowmint_stores::host::background::{Pending, Progress};
use snowmint_stores::host::fork::{Cell, PerProcess, at_exit};
use snowmint_stores::host::wake::Wake;
use snowmint_stores::host::{Owner, lock};

use super::Lease;
use super::key::{ClockId, LeaseKey};

/// The leases and vouched nodes of this process.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    shared: Mutex<Shared>,
    wake: Wake,
}

#[derive(Debug, Default)]
struct Shared {
    /// The cells of vouched nodes. They live as long as their clock, or the process: a node used again continues above its
    /// last ID.
    vouched: HashMap<(Option<ClockId>, LayoutId, u32), Cell>,
    leases: HashMap<Arc<LeaseKey>, Entry>,
    /// Releases that have begun when a generator was dropped.
    releases: Vec<(Arc<LeaseKey>, Pending<()>)>,
    renewing: bool,
}

#[derive(Debug)]
enum Entry {
    /// A thread is claiming it.
    Claiming,
    Live(Weak<Lease>),
    /// Claimed in the background at this time; no generator has fetched it yet.
    Ready(Arc<Lease>, Instant),
    /// The claim failed, and no generator has got the error yet.
    Failed(Error),
}

/// The answer of the registry to a generator that looks up a lease.
pub(crate) enum Lookup {
    Granted(LeaseRef),
    /// Another thread is claiming it.
    Pending,
    /// The caller has to claim it.
    Unclaimed(ClaimGuard),
    /// A claim in the background failed.
    Failed(Error),
}

static REGISTRY: PerProcess<Registry> = PerProcess::new();

/// Returns the registry of this process.
pub(crate) fn registry() -> &'static Registry {
    REGISTRY.get()
}

impl Registry {
    /// Returns the shared cell of a vouched node.
    ///
    /// # Errors
    /// `InvalidNode`, if a generator of this process leases the node.
    pub(crate) fn vouched(&self, clock: Option<ClockId>, layout: &Layout, node: u32) -> Result<Cell, Error> {
        let mut shared = lock(&self.shared);
        let live = |entry: &Entry| entry.lease().is_some_and(|lease| lease.is_open() && lease.node() == node);
        let held = |(key, entry): (&Arc<LeaseKey>, &Entry)| {
            clock.is_none() && key.clock.is_none() && key.terms.layout.layout_id() == layout.layout_id() && live(entry)
        };
        if shared.leases.iter().any(held) {
            return Err(Error::new(
                ErrorKind::InvalidNode,
                format!(
                    "node {node} is leased by another generator of this process: pass another, or none to lease one"
                ),
            ));
        }
        if mutant::removes("share") {
            return Ok(open_vouched());
        }
        Ok(shared.vouched.entry((clock, layout.layout_id(), node)).or_insert_with(open_vouched).clone())
    }

    /// Returns the nodes that generators of this process use as vouched ones.
    pub(crate) fn vouched_nodes(&self, layout: &Layout) -> Vec<u32> {
        let layout_id = layout.layout_id();
        let shared = lock(&self.shared);
        shared.vouched.keys().filter(|key| (key.0, key.1) == (None, layout_id)).map(|key| key.2).collect()
    }

    /// Returns how many vouched nodes have a state on this clock.
    #[cfg(test)]
    pub(crate) fn states_of(&self, clock: ClockId) -> usize {
        lock(&self.shared).vouched.keys().filter(|key| key.0 == Some(clock)).count()
    }

    /// Looks the lease of a key up. Without a lease the caller becomes its claimer.
    pub(crate) fn look_up(&'static self, key: &Arc<LeaseKey>) -> Lookup {
        let mut shared = lock(&self.shared);
        match shared.leases.get(key) {
            Some(Entry::Claiming) => return Lookup::Pending,
            Some(entry) => {
                if let Entry::Failed(error) = entry {
                    let error = error.clone();
                    shared.leases.remove(key);
                    return Lookup::Failed(error);
                }
                if let Some(lease_ref) = entry.lease().and_then(|lease| LeaseRef::of(&lease)) {
                    shared.leases.insert(key.clone(), Entry::Live(Arc::downgrade(&lease_ref.0)));
                    return Lookup::Granted(lease_ref);
                }
            }
            None => {}
        }
        shared.leases.insert(key.clone(), Entry::Claiming);
        Lookup::Unclaimed(ClaimGuard { registry: self, owner: Owner::this(), key: Some(key.clone()) })
    }

    fn put(&'static self, key: Arc<LeaseKey>, entry: Entry) -> Result<(), Arc<LeaseKey>> {
        let mut shared = lock(&self.shared);
        let node = entry.lease().filter(|_| key.clock.is_none()).map(|lease| lease.node());
        if node.is_some_and(|node| shared.vouched.contains_key(&(None, key.terms.layout.layout_id(), node))) {
            return Err(key);
        }
        let over: Vec<_> = shared
            .leases
            .extract_if(|_, entry| matches!(entry, Entry::Live(lease) if lease.strong_count() == 0))
            .collect();
        shared.leases.insert(key, entry);
        if shared.renewing {
            // The new lease may be due before the other ones.
            self.wake.notify();
        } else {
            static AT_EXIT: AtomicBool = AtomicBool::new(false);
            if !AT_EXIT.swap(true, Ordering::AcqRel) {
                at_exit(release_all);
            }
            let renewer = thread::Builder::new().name("snowmint-renew".to_owned()).spawn(|| self.renew_leases());
            // Without a thread windows end, and calls say so.
            shared.renewing = renewer.is_ok();
        }
        drop(shared);
        // Dropping a lease may drop a store of the caller, whose code may take the lock.
        drop(over);
        Ok(())
    }

    /// Keeps a release without waiting for it. The next claim of the namespace waits for it, and so does the end of the
    /// process.
    pub(crate) fn keep_release(&self, key: &Arc<LeaseKey>, releasing: Pending<()>) {
        lock(&self.shared).releases.push((Arc::clone(key), releasing));
    }

    /// Returns whether such a release of the namespace of `key` is under way.
    pub(crate) fn is_releasing(&self, key: &LeaseKey) -> bool {
        let mut shared = lock(&self.shared);
        let ended = shared.take_ended_releases();
        let is_releasing = shared.releases.iter().any(|(released, _)| released.is_beside(key));
        drop(shared);
        // Dropping a key may drop a store of the caller, whose code may take the lock.
        drop(ended);
        is_releasing
    }

    /// Returns the signal of the thread that renews.
    pub(crate) fn wake(&'static self) -> &'static Wake {
        &self.wake
    }

    /// Renews leases until none is left, and no release is under way.
    fn renew_leases(&self) {
        let mut shared = lock(&self.shared);
        loop {
            let forgotten: Vec<_> = shared.leases.extract_if(|_, entry| entry.is_forgotten()).collect();
            let ended = shared.take_ended_releases();
            if !forgotten.is_empty() || !ended.is_empty() {
                // Dropping a lease or a key may drop a store of the caller, whose code may take the lock.
                drop(shared);
                drop((forgotten, ended));
                shared = lock(&self.shared);
            }
            let leases: Vec<_> =
                shared.leases.values().filter_map(Entry::lease).filter(|lease| lease.is_open()).collect();
            if leases.is_empty() && shared.releases.is_empty() {
                shared.renewing = false;
                return;
            }
            let now = Instant::now();
            let (due, later): (Vec<_>, Vec<_>) = leases.into_iter().partition(|lease| lease.is_due(now));
            let next = later.iter().map(|lease| lease.due()).min();
            drop(later);
            if due.is_empty() {
                let wait = next.map_or(Duration::from_secs(1), |next| next.saturating_duration_since(now));
                drop(shared);
                self.wake.wait(wait);
                shared = lock(&self.shared);
            } else {
                drop(shared);
                for lease in &due {
                    lease.renew(SystemHost::unix_ms());
                }
                // The last owner of a lease releases it, which takes the lock.
                drop(due);
                shared = lock(&self.shared);
            }
        }
    }
}

impl Shared {
    /// Takes the releases that have ended out. Their keys are dropped without the lock.
    fn take_ended_releases(&mut self) -> Vec<(Arc<LeaseKey>, Pending<()>)> {
        self.releases.extract_if(.., |(_, releasing)| releasing.look() != Progress::UnderWay).collect()
    }
}

impl Entry {
    fn is_forgotten(&self) -> bool {
        match self {
            Self::Ready(lease, since) => lease.is_forgotten(*since),
            Self::Live(lease) => lease.strong_count() == 0,
            Self::Claiming | Self::Failed(_) => false,
        }
    }

    fn lease(&self) -> Option<Arc<Lease>> {
        match self {
            Self::Live(lease) => lease.upgrade(),
            Self::Ready(lease, _) => Some(Arc::clone(lease)),
            Self::Claiming | Self::Failed(_) => None,
        }
    }
}

fn open_vouched() -> Cell {
    let cell = Cell::new();
    let words: &Words = cell.borrow();
    words.open_vouched();
    cell
}

/// Forgets the vouched nodes on a clock of the caller that is gone.
pub(crate) fn forget_clock(clock: ClockId) {
    if let Some(registry) = REGISTRY.existing() {
        lock(&registry.shared).vouched.retain(|key, _| key.0 != Some(clock));
    }
}

/// Forgets the lease of `key` if it is over, so that the store of the caller in the key can go.
pub(crate) fn forget_ended(key: &LeaseKey) {
    let Some(registry) = REGISTRY.existing() else { return };
    let mut shared = lock(&registry.shared);
    let lease = match shared.leases.get(key) {
        Some(Entry::Live(lease)) => lease.upgrade(),
        _ => return,
    };
    let over = lease.as_ref().is_none_or(|lease| !lease.is_open());
    let gone = over.then(|| shared.leases.remove_entry(key));
    drop(shared);
    // Dropping a lease or a store of the caller may run code that takes the lock.
    drop((lease, gone));
}

/// Releases the leases over stores and lessors of the caller, before these go.
pub(crate) fn release_callers_stores() {
    release(|key| key.backend.is_the_callers());
}

/// Releases all leases, before the process ends in a way that runs no handlers.
pub(crate) fn release_leases() {
    release(|_| true);
}

fn release(which: impl Fn(&LeaseKey) -> bool) {
    let Some(registry) = REGISTRY.existing() else { return };
    let chosen = |(key, entry): (&Arc<LeaseKey>, &Entry)| entry.lease().filter(|_| which(key));
    let mut shared = lock(&registry.shared);
    let leases: Vec<_> = shared.leases.iter().filter_map(chosen).collect();
    let releases: Vec<_> = shared.releases.extract_if(.., |(key, _)| which(key)).collect();
    drop(shared);
    Lease::release_all(leases, &releases);
}

/// Releases all leases when the process exits without having closed its generators.
extern "C" fn release_all() {
    let released = std::panic::catch_unwind(|| {
        let Some(registry) = REGISTRY.existing() else { return };
        // The exit may come from within a call that holds the lock; then the windows just run out.
        for _ in 0..100 {
            let (leases, releases): (Vec<_>, _) = match registry.shared.try_lock() {
                Ok(mut shared) => {
                    (shared.leases.values().filter_map(Entry::lease).collect(), mem::take(&mut shared.releases))
                }
                Err(TryLockError::Poisoned(_)) => return,
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(Duration::from_millis(10));
                    continue;
                }
            };
            Lease::release_all(leases, &releases);
            return;
        }
    });
    // A panic at exit has no reader.
    drop(released);
}

/// Marks a lease as being claimed by its owner, while other threads may wait. Dropping it lets another thread claim.
#[derive(Debug)]
pub(crate) struct ClaimGuard {
    registry: &'static Registry,
    owner: &'static Owner,
    key: Option<Arc<LeaseKey>>,
}

impl ClaimGuard {
    /// Returns whether the process has forked since, and this is the child.
    pub(crate) fn is_of_parent(&self) -> bool {
        !self.owner.is_this_process()
    }

    /// Publishes the lease, and returns the first reference to it.
    ///
    /// The guard comes back if another generator has begun to use the node as a vouched one.
    pub(crate) fn publish(self, lease: &Arc<Lease>) -> Result<LeaseRef, Self> {
        let lease_ref = LeaseRef::first(lease);
        self.put(Entry::Live(Arc::downgrade(lease)))?;
        Ok(lease_ref)
    }

    /// Keeps the outcome of a claim in the background until a generator asks. The guard may come back as in `publish`.
    pub(crate) fn keep(self, outcome: Result<Arc<Lease>, Error>) -> Result<(), Self> {
        self.put(outcome.map_or_else(Entry::Failed, |lease| Entry::Ready(lease, Instant::now())))
    }

    fn put(mut self, entry: Entry) -> Result<(), Self> {
        let Some(key) = self.key.take() else { return Ok(()) };
        self.registry.put(key, entry).map_err(|key| Self { key: Some(key), ..self })
    }
}

impl Drop for ClaimGuard {
    // Another thread may claim then.
    fn drop(&mut self) {
        // A forked child never takes its parent's lock.
        if let Some(key) = self.key.take().filter(|_| !self.is_of_parent()) {
            lock(&self.registry.shared).leases.remove(&key);
        }
    }
}

/// A generator's counted reference to a lease. Dropping the last reference begins to release the lease.
#[derive(Debug)]
pub(crate) struct LeaseRef(pub(crate) Arc<Lease>, AtomicBool);

impl LeaseRef {
    fn first(lease: &Arc<Lease>) -> Self {
        // A new lease has no user yet, so it takes this one.
        Self::of(lease).unwrap_or_else(|| Self(Arc::clone(lease), AtomicBool::new(true)))
    }

    /// Returns `None` if the lease is over.
    fn of(lease: &Arc<Lease>) -> Option<Self> {
        lease.join().then(|| Self(Arc::clone(lease), AtomicBool::new(false)))
    }

    /// Gives this reference up, once. The last reference begins to release the lease.
    pub(crate) fn leave(&self) -> Option<Pending<()>> {
        if self.1.swap(true, Ordering::AcqRel) { None } else { self.0.leave() }
    }
}

impl Drop for LeaseRef {
    fn drop(&mut self) {
        if let Some(releasing) = self.leave() {
            registry().keep_release(&self.0.key, releasing);
        }
    }
}
