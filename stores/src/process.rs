//! What the generators of one process share: a state for each vouched node, a lease for each namespace, and the thread
//! that renews leases. A forked child starts with none of it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::{ErrorKind, Layout, Numbers, SystemHost, Words, mutant};

use crate::error::Error;
use crate::fork::{Cell, PerProcess, at_exit};
use crate::lease::Lease;
use crate::namespace::Namespace;
use crate::plan::Keeper;

/// Which leases are one: the same store, namespace, layout and clock (0 is the system's), and nodes not to get.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeaseKey {
    pub(crate) keeper: Keeper,
    pub(crate) namespace: Namespace,
    pub(crate) numbers: Numbers,
    pub(crate) clock: usize,
    pub(crate) exclude: Vec<u32>,
}

/// What this process shares.
#[derive(Debug, Default)]
pub(crate) struct Process {
    shared: Mutex<Shared>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Shared {
    /// By clock, layout and node. They live as long as the process: a node used again goes on above its last ID.
    vouched: HashMap<(usize, Numbers, u32), Cell>,
    leases: HashMap<Arc<LeaseKey>, Entry>,
    renewing: bool,
}

#[derive(Debug)]
enum Entry {
    /// A thread is claiming it.
    Claiming,
    Live(Weak<Lease>),
    /// Claimed in the background at that time, and not fetched yet.
    Ready(Arc<Lease>, Instant),
    /// Not to be had, and not told yet.
    Failed(Error),
}

/// How it stands with a lease that a generator wants.
pub(crate) enum Wish {
    Granted(Share),
    /// Another thread is claiming it.
    Pending,
    /// It is for the caller to claim.
    Yours(Claim),
    /// A claim in the background came to nothing.
    Failed(Error),
}

static PROCESS: PerProcess<Process> = PerProcess::new();

/// That of this process.
pub(crate) fn process() -> &'static Process {
    PROCESS.get()
}

impl Process {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is this process, and not the one that forked it.
    pub(crate) fn is_this(&self) -> bool {
        PROCESS.existing().is_some_and(|this| ptr::eq(this, self))
    }

    /// Refuses to write, or to adopt, records by a token of this process in a forked child.
    pub(crate) fn refuse_child(&self) -> Result<(), Error> {
        if self.is_this() { Ok(()) } else { Err(snowmint_core::Error::forked().into()) }
    }

    /// The one state of a vouched node.
    pub(crate) fn vouched(&self, clock: usize, layout: &Layout, node: u32) -> Result<Cell, Error> {
        let mut shared = self.lock();
        let live = |entry: &Entry| entry.lease().is_some_and(|lease| lease.is_open() && lease.node() == node);
        let held = |(key, entry): (&Arc<LeaseKey>, &Entry)| {
            clock == 0 && key.clock == 0 && key.numbers == layout.numbers() && live(entry)
        };
        if shared.leases.iter().any(held) {
            return Err(Error::told(
                ErrorKind::InvalidNode,
                format!(
                    "node {node} is leased by another generator of this process: pass another, or none to lease one"
                ),
            ));
        }
        if mutant::removes("share") {
            return Ok(open_vouched());
        }
        Ok(shared.vouched.entry((clock, layout.numbers(), node)).or_insert_with(open_vouched).clone())
    }

    /// Whether a generator of this process was vouched to have that node to itself.
    pub(crate) fn is_vouched(&self, layout: &Layout, node: u32) -> bool {
        self.lock().vouched.contains_key(&(0, layout.numbers(), node))
    }

    /// The nodes that generators of this process were vouched to have to themselves.
    pub(crate) fn vouched_nodes(&self, layout: &Layout) -> Vec<u32> {
        let numbers = layout.numbers();
        let shared = self.lock();
        shared.vouched.keys().filter(|key| (key.0, key.1) == (0, numbers)).map(|key| key.2).collect()
    }

    /// The lease of that key, if it is there; otherwise the caller may be the one to claim it.
    pub(crate) fn wish(&'static self, key: &Arc<LeaseKey>) -> Wish {
        let mut shared = self.lock();
        match shared.leases.get(key) {
            Some(Entry::Claiming) => return Wish::Pending,
            Some(entry) => {
                if let Entry::Failed(error) = entry {
                    let error = error.clone();
                    shared.leases.remove(key);
                    return Wish::Failed(error);
                }
                if let Some(share) = entry.lease().and_then(|lease| Share::of(&lease)) {
                    shared.leases.insert(key.clone(), Entry::Live(Arc::downgrade(&share.0)));
                    return Wish::Granted(share);
                }
            }
            None => {}
        }
        shared.leases.insert(key.clone(), Entry::Claiming);
        Wish::Yours(Claim { process: self, key: Some(key.clone()) })
    }

    fn put(&'static self, key: Arc<LeaseKey>, entry: Entry) -> Result<(), Arc<LeaseKey>> {
        let mut shared = self.lock();
        let node = entry.lease().filter(|_| key.clock == 0).map(|lease| lease.node());
        if node.is_some_and(|node| shared.vouched.contains_key(&(0, key.numbers, node))) {
            return Err(key);
        }
        let over: Vec<_> = shared
            .leases
            .extract_if(|_, entry| matches!(entry, Entry::Live(lease) if lease.strong_count() == 0))
            .collect();
        shared.leases.insert(key, entry);
        if shared.renewing {
            // The new lease may be due before those that the thread waits for.
            self.wake.notify_one();
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
        // With them go stores that callers gave, and what that runs may want the lock.
        drop(over);
        Ok(())
    }

    /// Has the renewing thread look at once.
    pub(crate) fn wake(&self) {
        // The lock lets no notice get lost between the thread's look and its wait.
        drop(self.lock());
        self.wake.notify_one();
    }

    /// The renewing thread: until there are no leases left.
    fn renew_leases(&self) {
        let mut shared = self.lock();
        loop {
            let forgotten: Vec<_> = shared.leases.extract_if(|_, entry| entry.is_forgotten()).collect();
            if !forgotten.is_empty() {
                // With them go stores that callers gave, and what that runs may want the lock.
                drop(shared);
                drop(forgotten);
                shared = self.lock();
            }
            let leases: Vec<_> =
                shared.leases.values().filter_map(Entry::lease).filter(|lease| lease.is_open()).collect();
            if leases.is_empty() {
                shared.renewing = false;
                return;
            }
            let now = Instant::now();
            let (due, later): (Vec<_>, Vec<_>) = leases.into_iter().partition(|lease| lease.is_due(now));
            let next = later.iter().map(|lease| lease.due()).min();
            drop(later);
            if due.is_empty() {
                let wait = next.map_or(Duration::from_secs(1), |next| next.saturating_duration_since(now));
                shared = self.wake.wait_timeout(shared, wait).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                drop(shared);
                for lease in &due {
                    lease.renew(SystemHost::unix_ms());
                }
                // The last owner of a lease releases it, which takes the lock.
                drop(due);
                shared = self.lock();
            }
        }
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

/// Gives back what is left of every window over a store that was given: for when such stores are about to go.
pub(crate) fn release_given() {
    let Some(process) = PROCESS.existing() else { return };
    let given =
        |(key, entry): (&Arc<LeaseKey>, &Entry)| entry.lease().filter(|_| matches!(key.keeper, Keeper::Given(_)));
    let leases: Vec<_> = process.lock().leases.iter().filter_map(given).collect();
    Lease::release_all(leases);
}

/// Gives back what is left of every window when the process exits without having closed its generators.
extern "C" fn release_all() {
    let released = std::panic::catch_unwind(|| {
        let Some(process) = PROCESS.existing() else { return };
        // The exit may come from within a call that holds the lock; then the windows just run out.
        for _ in 0..100 {
            let leases: Vec<_> = match process.shared.try_lock() {
                Ok(shared) => shared.leases.values().filter_map(Entry::lease).collect(),
                Err(TryLockError::Poisoned(_)) => return,
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(Duration::from_millis(10));
                    continue;
                }
            };
            Lease::release_all(leases);
            return;
        }
    });
    // Nobody is left to be told.
    drop(released);
}

/// The duty to claim a lease that others may be waiting for.
#[derive(Debug)]
pub(crate) struct Claim {
    process: &'static Process,
    key: Option<Arc<LeaseKey>>,
}

impl Claim {
    /// Whether the process has forked since, and this is the child.
    pub(crate) fn is_of_parent(&self) -> bool {
        !self.process.is_this()
    }

    /// Makes the lease known, and shares it.
    ///
    /// The claim comes back if another generator was vouched to have the node meanwhile.
    pub(crate) fn share(self, lease: &Arc<Lease>) -> Result<Share, Self> {
        let share = Share::first(lease);
        self.put(Entry::Live(Arc::downgrade(lease)))?;
        Ok(share)
    }

    /// Keeps what came of a claim in the background until a generator asks. The claim may come back as in `share`.
    pub(crate) fn keep(self, outcome: Result<Arc<Lease>, Error>) -> Result<(), Self> {
        self.put(outcome.map_or_else(Entry::Failed, |lease| Entry::Ready(lease, Instant::now())))
    }

    fn put(mut self, entry: Entry) -> Result<(), Self> {
        let Some(key) = self.key.take() else { return Ok(()) };
        self.process.put(key, entry).map_err(|key| Self { key: Some(key), ..self })
    }
}

impl Drop for Claim {
    // Others may try then.
    fn drop(&mut self) {
        // A forked child never takes its parent's lock.
        if let Some(key) = self.key.take().filter(|_| !self.is_of_parent()) {
            self.process.lock().leases.remove(&key);
        }
    }
}

/// A generator's part of a lease: the last one to go releases it.
#[derive(Debug)]
pub(crate) struct Share(pub(crate) Arc<Lease>, AtomicBool);

impl Share {
    fn first(lease: &Arc<Lease>) -> Self {
        // A new lease takes whoever comes.
        Self::of(lease).unwrap_or_else(|| Self(Arc::clone(lease), AtomicBool::new(true)))
    }

    /// Nothing, if the lease is over.
    fn of(lease: &Arc<Lease>) -> Option<Self> {
        lease.join().then(|| Self(Arc::clone(lease), AtomicBool::new(false)))
    }

    /// Gives this part up, once.
    pub(crate) fn leave(&self) {
        if !self.1.swap(true, Ordering::AcqRel) {
            self.0.leave();
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.leave();
    }
}
