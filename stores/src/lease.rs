//! A lease: its cell, the slot or record that says until when, and the renewing of its window.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::{ErrorKind, Layout, SystemHost, Window, Words};

use crate::apart::{PATIENCE, Pending};
use crate::error::Error;
use crate::file::{Grant, Slot};
use crate::fork::Cell;
use crate::given;
use crate::held::Held;
#[cfg(feature = "engines")]
use crate::holding::Grant as StoreGrant;
use crate::holding::Renewed;
use crate::process::process;
#[cfg(feature = "engines")]
use crate::remote;
use crate::service_clock::ServiceClock;

/// Called once when a lease is lost, with the reason, on a thread of its own.
#[derive(Clone)]
pub struct OnLost(Arc<dyn Fn(&Error) + Send + Sync>);

impl OnLost {
    /// Calls `callback`.
    pub fn new(callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self(Arc::new(callback))
    }
}

impl fmt::Debug for OnLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLost")
    }
}

/// A node held by this process, window by window. Generators share it and count themselves.
///
/// Its cell is opened once, and closed for good when the lease is released or lost.
#[derive(Debug)]
pub(crate) struct Lease {
    layout: Layout,
    node: u32,
    cell: Cell,
    holder: Holder,
    start_ms: i64,
    end_ms: AtomicI64,
    window_ms: u64,
    /// The largest of its generators.
    max_ahead_ms: AtomicU64,
    users: AtomicUsize,
    renewal: Mutex<Renewal>,
    /// What a caller's clock read when a call found the window over; the system's clock needs no such help.
    asked_ms: Option<AtomicI64>,
    /// That of the lessor, if there is one: its generators go by it.
    clock: Option<Arc<ServiceClock>>,
    lost: OnceLock<Error>,
    on_lost: Mutex<Vec<OnLost>>,
    skipped: Vec<String>,
}

/// What is held.
#[derive(Debug)]
enum Holder {
    Slot(Arc<Held<Slot>>),
    #[cfg(feature = "engines")]
    Engine(Arc<remote::Held>),
    Given(Arc<Held<given::Hold>>),
}

#[derive(Debug)]
struct Renewal {
    due: Instant,
    /// A call needs it; not before that time.
    asked: bool,
    not_before: Instant,
    /// Since when one is under way.
    under_way: Option<Instant>,
    failures: u64,
    /// Why the last one failed.
    trouble: Option<Error>,
    skew_ms: Option<i64>,
    /// What a failover of the store could lose.
    risk: Option<Error>,
}

/// How long after a renewal without an answer the next one comes.
const RETRY: Duration = Duration::from_millis(200);

/// The count of a lease that takes no more users.
const OVER: usize = usize::MAX;

impl Lease {
    /// On a granted slot, whose window is on disk.
    pub(crate) fn of_slot(layout: &Layout, grant: Grant, window_ms: u64, own_clock: bool) -> Self {
        let Grant { slot, node, window, skipped } = grant;
        let holder = Holder::Slot(Held::new(slot));
        let skipped = skipped.iter().map(|path| path.display().to_string()).collect();
        Self::new(layout, node, holder, window, window_ms, own_clock, skipped)
    }

    /// On a record granted by an engine, whose window is in the store.
    #[cfg(feature = "engines")]
    pub(crate) fn of_engine(layout: &Layout, grant: StoreGrant, window_ms: u64, own_clock: bool) -> Self {
        let StoreGrant { holding, skew_ms, skipped } = grant;
        let (node, window, risk) = (holding.node(), holding.window(), holding.standby_risk());
        let holder = Holder::Engine(remote::Held::new(holding));
        Self::new(layout, node, holder, window, window_ms, own_clock, skipped).told(skew_ms, risk)
    }

    /// On what a given store or lessor granted, whose window is durable.
    pub(crate) fn of_given(layout: &Layout, grant: given::Grant, window_ms: u64, own_clock: bool) -> Self {
        let given::Grant { hold, skew_ms, skipped } = grant;
        let (node, window, risk) = (hold.node(), hold.window(), hold.standby_risk());
        let (window_ms, clock) = hold.lent().map_or((window_ms, None), |(window_ms, clock)| (window_ms, Some(clock)));
        let holder = Holder::Given(Held::new(hold));
        let mut lease = Self::new(layout, node, holder, window, window_ms, own_clock, skipped).told(skew_ms, risk);
        lease.clock = clock;
        lease
    }

    /// Takes in what the store told at the claim.
    fn told(self, skew_ms: Option<i64>, risk: Option<Error>) -> Self {
        {
            let mut renewal = lock(&self.renewal);
            (renewal.skew_ms, renewal.risk) = (skew_ms, risk);
        }
        self
    }

    fn new(
        layout: &Layout,
        node: u32,
        holder: Holder,
        window: Window,
        window_ms: u64,
        own_clock: bool,
        skipped: Vec<String>,
    ) -> Self {
        let cell = Cell::new();
        let words: &Words = cell.borrow();
        // A grant begins within the layout.
        words.open(layout, window);
        let now = Instant::now();
        Self {
            layout: *layout,
            node,
            cell,
            holder,
            start_ms: window.start_ms,
            end_ms: AtomicI64::new(window.end_ms),
            window_ms,
            max_ahead_ms: AtomicU64::new(0),
            users: AtomicUsize::new(0),
            renewal: Mutex::new(Renewal {
                due: now + half(window_ms),
                asked: false,
                not_before: now,
                under_way: None,
                failures: 0,
                trouble: None,
                skew_ms: None,
                risk: None,
            }),
            asked_ms: own_clock.then(|| AtomicI64::new(i64::MIN)),
            clock: None,
            lost: OnceLock::new(),
            on_lost: Mutex::default(),
            skipped,
        }
    }

    pub(crate) const fn node(&self) -> u32 {
        self.node
    }

    pub(crate) fn cell(&self) -> Cell {
        self.cell.clone()
    }

    pub(crate) fn window(&self) -> Window {
        Window { start_ms: self.start_ms, end_ms: self.end_ms.load(Ordering::Acquire) }
    }

    /// The time by the lessor's clock, if there is one.
    #[inline]
    pub(crate) fn lessor_ms(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| clock.now_ms())
    }

    /// Slot files or records that are not valid.
    pub(crate) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// How many renewals have failed since the last one that did not. A forked child never takes this lock.
    pub(crate) fn failures(&self) -> u64 {
        if self.is_open() { lock(&self.renewal).failures } else { 0 }
    }

    /// Why the window is not renewed, if it is not.
    pub(crate) fn trouble(&self) -> Option<Error> {
        if !self.is_open() {
            return None;
        }
        let renewal = lock(&self.renewal);
        renewal.trouble.clone().or_else(|| {
            // A renewal that is under way is in order until it takes longer than the pause between two of them.
            let waiting = renewal.under_way.map(|since| since.elapsed()).filter(|waiting| *waiting >= RETRY)?;
            let (what, waiting_ms) = (self.holder.what(), waiting.as_millis());
            Some(Error::told(
                ErrorKind::StoreUnavailable,
                format!("the renewal of its {what} has no answer for {waiting_ms} ms"),
            ))
        })
    }

    /// By how many ms this clock is ahead of the store's.
    pub(crate) fn skew_ms(&self) -> Option<i64> {
        if self.is_open() { lock(&self.renewal).skew_ms } else { None }
    }

    /// What a failover of the store could lose, as the last renewal found it.
    pub(crate) fn standby_risk(&self) -> Option<Error> {
        if self.is_open() { lock(&self.renewal).risk.clone() } else { None }
    }

    /// Why it was lost, if it was.
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    fn words(&self) -> &Words {
        self.cell.borrow()
    }

    /// Whether it is held by this process and neither released nor lost.
    pub(crate) fn is_open(&self) -> bool {
        self.words().unused_from_ms(&self.layout).is_some()
    }

    /// Lets a generator of these needs use it.
    pub(crate) fn serve(&self, max_ahead_ms: u64, on_lost: Option<&OnLost>) {
        self.max_ahead_ms.fetch_max(max_ahead_ms, Ordering::AcqRel);
        if let Some(on_lost) = on_lost {
            lock(&self.on_lost).push(on_lost.clone());
            if let Some(error) = self.lost() {
                self.tell(error);
            }
        }
    }

    /// Tells a generator that is closed nothing any more.
    pub(crate) fn forget(&self, on_lost: &OnLost) {
        let mut callbacks = lock(&self.on_lost);
        if let Some(place) = callbacks.iter().position(|each| Arc::ptr_eq(&each.0, &on_lost.0)) {
            callbacks.swap_remove(place);
        }
    }

    /// Counts a user; not when it is over.
    pub(crate) fn join(&self) -> bool {
        let more = |users| (users != OVER).then_some(users + 1);
        self.is_open() && self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Counts a user out; the last one releases it.
    pub(crate) fn leave(&self) {
        let less = |users| Some(if users <= 1 || users == OVER { OVER } else { users - 1 });
        if self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, less) == Ok(1) {
            self.release();
        }
    }

    /// Gives the rest of the window back, and waits for that, [`PATIENCE`] at most. Nothing happens in a forked child, nor
    /// twice.
    pub(crate) fn release(&self) {
        if let Some(releasing) = self.begin_release() {
            wait_for(releasing, Instant::now() + PATIENCE);
        }
    }

    /// Begins to give the rest of the window back.
    fn begin_release(&self) -> Option<Pending<()>> {
        // In this order: closed, written down, unlocked. In a child the cell is wiped, and the lock is not its own to take.
        let end_ms = self.words().close(&self.layout)?;
        // Without a thread the window runs out by itself.
        match &self.holder {
            Holder::Slot(held) => held.release(end_ms).ok(),
            #[cfg(feature = "engines")]
            Holder::Engine(held) => held.release(end_ms).ok(),
            Holder::Given(held) => held.release(end_ms).ok(),
        }
    }

    /// Releases all of them at once, a few at a time if they are many, and waits [`PATIENCE`] in all.
    pub(crate) fn release_all(leases: Vec<Arc<Self>>) {
        const AT_ONCE: usize = 64;
        let deadline = Instant::now() + PATIENCE;
        let mut under_way = VecDeque::new();
        for lease in leases {
            if under_way.len() == AT_ONCE
                && let Some(first) = under_way.pop_front()
            {
                wait_for(first, deadline);
            }
            under_way.extend(lease.begin_release());
        }
        for releasing in under_way {
            wait_for(releasing, deadline);
        }
    }

    /// Leaves it to the parent, in a forked child: nothing is minted from it here, renewed or given back.
    pub(crate) fn leave_to_parent(self) {
        // What is closed is not released when it is dropped.
        self.words().close(&self.layout);
    }

    /// Whether a call at that time may need a tick past the window.
    pub(crate) fn is_short(&self, now_ms: i64) -> bool {
        now_ms.saturating_add_unsigned(self.max_ahead_ms.load(Ordering::Acquire)) >= self.window().end_ms
    }

    /// Asks for a renewal now, by a call that found the window over at that time.
    pub(crate) fn ask(&self, now_ms: i64) {
        if let Some(asked_ms) = &self.asked_ms {
            asked_ms.fetch_max(now_ms, Ordering::AcqRel);
        }
        lock(&self.renewal).asked = true;
        process().wake();
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let renewal = lock(&self.renewal);
        renewal.under_way.is_none() && (now >= renewal.due || (renewal.asked && now >= renewal.not_before))
    }

    /// Whether nobody came for it for a whole window.
    pub(crate) fn is_forgotten(&self, since: Instant) -> bool {
        since.elapsed() > Duration::from_millis(self.window_ms)
    }

    /// When to look at it again: half a window after the last renewal, or sooner after one that failed.
    pub(crate) fn due(&self) -> Instant {
        let renewal = lock(&self.renewal);
        match (renewal.under_way.is_some(), renewal.asked) {
            // Its end has the renewing thread look again.
            (true, _) => Instant::now() + half(self.window_ms),
            (false, true) => renewal.not_before.min(renewal.due),
            (false, false) => renewal.due,
        }
    }

    /// Begins to move the window's end up, in file or store first. A slot that cannot be written, or is not ours any more,
    /// is abandoned; a store that does not answer is asked again.
    pub(crate) fn renew(self: &Arc<Self>, now_ms: i64) {
        let now_ms = self.asked_ms.as_ref().map_or(now_ms, |asked_ms| asked_ms.load(Ordering::Acquire));
        {
            let mut renewal = lock(&self.renewal);
            (renewal.due, renewal.asked) = (Instant::now() + half(self.window_ms), false);
        }
        let Some(last_ms) = self.words().unused_from_ms(&self.layout) else { return };
        let reach_ms = self.max_ahead_ms.load(Ordering::Acquire).saturating_add(self.window_ms);
        let then = self.renewing();
        let begun = match &self.holder {
            Holder::Slot(held) => held.renew(now_ms, last_ms, reach_ms, then),
            #[cfg(feature = "engines")]
            Holder::Engine(held) => held.renew(now_ms, last_ms, reach_ms, then),
            Holder::Given(held) => held.renew(now_ms, last_ms, reach_ms, then),
        };
        if let Err(error) = begun {
            self.renewed(Renewed::Later(error));
        }
    }

    /// Notes that a renewal is under way; what to do with what comes of it.
    fn renewing(self: &Arc<Self>) -> impl FnOnce(Renewed) + Send + 'static {
        lock(&self.renewal).under_way = Some(Instant::now());
        let lease = Arc::downgrade(self);
        move |renewed| {
            if let Some(lease) = lease.upgrade() {
                lease.renewed(renewed);
            }
        }
    }

    /// Takes in what came of a renewal over a store.
    fn renewed(&self, outcome: Renewed) {
        let mut renewal = lock(&self.renewal);
        renewal.under_way = None;
        match outcome {
            Renewed::Window(window, skew_ms, risk) => {
                (renewal.failures, renewal.trouble) = (0, None);
                (renewal.skew_ms, renewal.risk) = (skew_ms, risk);
                drop(renewal);
                self.extend(window.end_ms);
            }
            // A store that loses writes grants nothing more: when the window has run out, that is the end.
            Renewed::Later(error) if self.is_over(&error) => {
                drop(renewal);
                self.lose(&error);
            }
            Renewed::Later(error) => {
                renewal.failures += 1;
                renewal.trouble = Some(error);
                renewal.not_before = Instant::now() + RETRY;
                renewal.due = renewal.not_before;
                drop(renewal);
            }
            Renewed::Lost(error) => {
                drop(renewal);
                self.lose(&error);
            }
        }
        process().wake();
    }

    /// Whether no renewal will come: the store is not safe, and the window is over.
    fn is_over(&self, error: &Error) -> bool {
        let asked_ms = || self.asked_ms.as_ref().map(|asked_ms| asked_ms.load(Ordering::Acquire));
        let now_ms = self.lessor_ms().or_else(asked_ms).unwrap_or_else(SystemHost::unix_ms);
        error.kind() == ErrorKind::UnsafeStore && now_ms >= self.window().end_ms
    }

    fn lose(&self, error: &Error) {
        // The reason is there before a call can need it.
        let first = self.note_loss(error);
        self.words().close(&self.layout);
        first.inspect(|lost| self.tell(lost));
    }

    /// The window ends then, durably.
    fn extend(&self, end_ms: i64) {
        self.end_ms.store(end_ms, Ordering::Release);
        self.words().extend(&self.layout, end_ms);
    }

    /// Why it is lost; nothing, if that is known already.
    fn note_loss(&self, error: &dyn fmt::Display) -> Option<Error> {
        let (node, what) = (self.node, self.holder.what());
        let lost = Error::told(
            ErrorKind::WindowClosed,
            format!("the {what} of node {node} was lost: {error}. The generator is closed: make a new one"),
        );
        self.lost.set(lost.clone()).is_ok().then_some(lost)
    }

    fn tell(&self, error: &Error) {
        let callbacks = std::mem::take(&mut *lock(&self.on_lost));
        // Not on the thread that renews: they may take their time, and other leases have none.
        for on_lost in callbacks {
            let error = error.clone();
            let told = thread::Builder::new().name("snowmint-lost".to_owned()).spawn(move || on_lost.0(&error));
            // Without a thread the next call still says why.
            drop(told);
        }
    }
}

impl Holder {
    const fn what(&self) -> &'static str {
        match self {
            Self::Slot(_) => "slot",
            #[cfg(feature = "engines")]
            Self::Engine(_) => "lease",
            Self::Given(_) => "lease",
        }
    }
}

const fn half(window_ms: u64) -> Duration {
    Duration::from_millis(window_ms / 2)
}

/// In a child forked meanwhile nobody will come.
fn wait_for(releasing: Pending<()>, deadline: Instant) {
    let here = process();
    releasing.wait(deadline, || std::ptr::eq(here, process()));
}

impl Drop for Lease {
    // Perhaps on the renewing thread, which waits for nobody.
    fn drop(&mut self) {
        drop(self.begin_release());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
