//! A lease: a node held by this process, its cell, and the renewal of its window.

pub(crate) mod acquire;
pub(crate) mod backend;
pub(crate) mod held;
pub(crate) mod key;
pub(crate) mod lessor;
pub(crate) mod lessor_clock;
pub(crate) mod on_lost;
pub(crate) mod registry;

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::lease::renewal_pause_ms;
use snowmint_core::{ErrorKind, Layout, SystemHost, Window, Words};
use snowmint_stores::process::background::{PATIENCE, Pending};
use snowmint_stores::process::fork::Cell;
use snowmint_stores::process::wake::Wake;
use snowmint_stores::process::{Owner, lock};
use snowmint_stores::{Error, Outcome};

use self::held::{Held, Hold};
use self::lessor_clock::LessorClock;
use self::on_lost::OnLost;

/// A node held by this process, window by window. Generators share it and are counted.
///
/// Its cell is opened once, and closed for good when the lease is released or lost.
#[derive(Debug)]
pub(crate) struct Lease {
    layout: Layout,
    node: u32,
    cell: Cell,
    held: Arc<Held>,
    /// `slot` or `lease`, for error messages.
    kind: &'static str,
    /// Wakes the thread that renews.
    wake: &'static Wake,
    start_ms: i64,
    end_ms: AtomicI64,
    window_ms: u64,
    /// The largest `max_ahead_ms` of its generators.
    max_ahead_ms: AtomicU64,
    users: AtomicUsize,
    renewal: Mutex<Renewal>,
    /// The caller's clock when a call last found the window over. The renewer reads the system's clock itself.
    asked_ms: Option<AtomicI64>,
    /// The clock of the lessor, if there is one. Generators read it.
    clock: Option<Arc<LessorClock>>,
    lost: OnceLock<Error>,
    on_lost: Mutex<Vec<OnLost>>,
    skipped: Vec<String>,
}

#[derive(Debug)]
struct Renewal {
    due: Instant,
    /// Whether a call waits for the renewal, which begins at `not_before` at the earliest.
    asked: bool,
    not_before: Instant,
    /// When the renewal under way began.
    under_way: Option<Instant>,
    failures: u64,
    /// Why the last renewal failed.
    trouble: Option<Error>,
    skew_ms: Option<i64>,
    /// The writes that a failover of the store could lose.
    standby_risk: Option<Error>,
}

/// A granted node, as its slot, store or lessor granted it.
#[derive(Debug)]
pub(crate) struct GrantedNode {
    pub(crate) hold: Hold,
    /// When the claim read the clock: the window counts from then.
    pub(crate) since: Instant,
    pub(crate) node: u32,
    pub(crate) window: Window,
    pub(crate) window_ms: u64,
    /// The clock of the lessor, if a lessor granted the node.
    pub(crate) clock: Option<Arc<LessorClock>>,
    /// How far this machine's clock is ahead of the store's, in ms.
    pub(crate) skew_ms: Option<i64>,
    /// The writes that a failover of the store could lose.
    pub(crate) standby_risk: Option<Error>,
    /// Slot files or records that are not valid.
    pub(crate) skipped: Vec<String>,
}

/// The pause after a failed renewal.
const RETRY: Duration = Duration::from_millis(renewal_pause_ms(0, true));

/// The count of users of a lease that takes no more.
const OVER: usize = usize::MAX;

impl Lease {
    /// Opens a cell on a granted node, whose window is durable.
    ///
    /// `own_clock` says whether generators read the caller's clock, not the system's.
    pub(crate) fn new(layout: &Layout, granted: GrantedNode, own_clock: bool, wake: &'static Wake) -> Self {
        let GrantedNode { hold, since, node, window, window_ms, clock, skew_ms, standby_risk, skipped } = granted;
        let kind = if matches!(hold, Hold::Slot(_)) { "slot" } else { "lease" };
        let cell = Cell::new();
        let words: &Words = cell.borrow();
        // A grant begins within the layout.
        words.open(layout, window);
        Self {
            layout: *layout,
            node,
            cell,
            held: Held::new(hold),
            kind,
            wake,
            start_ms: window.start_ms,
            end_ms: AtomicI64::new(window.end_ms),
            window_ms,
            max_ahead_ms: AtomicU64::new(0),
            users: AtomicUsize::new(0),
            renewal: Mutex::new(Renewal {
                due: since + until_renewal(window_ms),
                asked: false,
                not_before: since,
                under_way: None,
                failures: 0,
                trouble: None,
                skew_ms,
                standby_risk,
            }),
            asked_ms: own_clock.then(|| AtomicI64::new(i64::MIN)),
            clock,
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

    /// Returns the lessor's time, if there is a lessor.
    #[inline]
    pub(crate) fn lessor_ms(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| clock.now_ms())
    }

    /// Returns the slot files or records that are not valid.
    pub(crate) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Returns how many renewals have failed since the last success. A forked child never takes this lock.
    pub(crate) fn failures(&self) -> u64 {
        if self.is_open() { lock(&self.renewal).failures } else { 0 }
    }

    /// Returns why the window is not renewed.
    pub(crate) fn trouble(&self) -> Option<Error> {
        if !self.is_open() {
            return None;
        }
        let renewal = lock(&self.renewal);
        renewal.trouble.clone().or_else(|| {
            // A renewal under way is late when it takes longer than the pause between two renewals.
            let waiting = renewal.under_way.map(|since| since.elapsed()).filter(|waiting| *waiting >= RETRY)?;
            let (what, waiting_ms) = (self.kind, waiting.as_millis());
            Some(Error::told(
                ErrorKind::StoreUnavailable,
                format!("the renewal of its {what} has no answer for {waiting_ms} ms"),
            ))
        })
    }

    /// Returns how far this machine's clock is ahead of the store's, in ms.
    pub(crate) fn skew_ms(&self) -> Option<i64> {
        if self.is_open() { lock(&self.renewal).skew_ms } else { None }
    }

    /// Returns what a failover of the store could lose, as the last renewal found it.
    pub(crate) fn standby_risk(&self) -> Option<Error> {
        if self.is_open() { lock(&self.renewal).standby_risk.clone() } else { None }
    }

    /// Returns why the lease was lost.
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    fn words(&self) -> &Words {
        self.cell.borrow()
    }

    /// Returns whether this process holds the node, and has neither released nor lost it.
    pub(crate) fn is_open(&self) -> bool {
        self.words().unused_from_ms(&self.layout).is_some()
    }

    /// Notes the needs of a generator that begins to use the lease.
    pub(crate) fn serve(&self, max_ahead_ms: u64, on_lost: Option<&OnLost>) {
        self.max_ahead_ms.fetch_max(max_ahead_ms, Ordering::AcqRel);
        if let Some(on_lost) = on_lost {
            lock(&self.on_lost).push(on_lost.clone());
            if let Some(error) = self.lost() {
                self.tell(error);
            }
        }
    }

    /// Forgets the callback of a closed generator.
    pub(crate) fn forget(&self, on_lost: &OnLost) {
        let mut callbacks = lock(&self.on_lost);
        if let Some(place) = callbacks.iter().position(|each| each.is(on_lost)) {
            callbacks.swap_remove(place);
        }
    }

    /// Counts a user in. Returns false if the lease is over.
    pub(crate) fn join(&self) -> bool {
        let more = |users| (users != OVER).then_some(users + 1);
        self.is_open() && self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Counts a user out. The last user releases the lease.
    pub(crate) fn leave(&self) {
        let less = |users| Some(if users <= 1 || users == OVER { OVER } else { users - 1 });
        if self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, less) == Ok(1) {
            self.release();
        }
    }

    /// Releases the node, and waits [`PATIENCE`] at most. A forked child and a second call do nothing.
    pub(crate) fn release(&self) {
        if let Some(releasing) = self.begin_release() {
            wait_for(releasing, Instant::now() + PATIENCE);
        }
    }

    /// Begins to release the node.
    fn begin_release(&self) -> Option<Pending<()>> {
        // In this order: close the cell, write the end down, unlock. In a child the cell is wiped, so it does nothing.
        let end_ms = self.words().close(&self.layout)?;
        // Without a thread the window runs out by itself.
        self.held.release(end_ms).ok()
    }

    /// Releases many leases, some at a time, and waits [`PATIENCE`] in all.
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

    /// Leaves the lease to the parent process: a forked child neither mints from it nor renews or releases it.
    pub(crate) fn leave_to_parent(self) {
        // A lease whose cell is closed is not released when it is dropped.
        self.words().close(&self.layout);
    }

    /// Returns whether a call at `now_ms` may need a tick past the window.
    pub(crate) fn is_short(&self, now_ms: i64) -> bool {
        now_ms.saturating_add_unsigned(self.max_ahead_ms.load(Ordering::Acquire)) >= self.window().end_ms
    }

    /// Asks for a renewal, because a call found the window over at `now_ms`.
    pub(crate) fn ask(&self, now_ms: i64) {
        if let Some(asked_ms) = &self.asked_ms {
            asked_ms.fetch_max(now_ms, Ordering::AcqRel);
        }
        lock(&self.renewal).asked = true;
        self.wake.notify();
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let renewal = lock(&self.renewal);
        renewal.under_way.is_none() && (now >= renewal.due || (renewal.asked && now >= renewal.not_before))
    }

    /// Returns whether a renewal is due or under way, as after a claim that took half of its window or longer.
    pub(crate) fn is_old(&self) -> bool {
        let renewal = lock(&self.renewal);
        renewal.under_way.is_some() || Instant::now() >= renewal.due
    }

    /// Returns whether no generator fetched the lease for a whole window.
    pub(crate) fn is_forgotten(&self, since: Instant) -> bool {
        since.elapsed() > Duration::from_millis(self.window_ms)
    }

    /// Returns when the next renewal is due: half a window after the last one, or sooner after a failure.
    pub(crate) fn due(&self) -> Instant {
        let renewal = lock(&self.renewal);
        match (renewal.under_way.is_some(), renewal.asked) {
            // The end of the renewal wakes the renewing thread.
            (true, _) => Instant::now() + until_renewal(self.window_ms),
            (false, true) => renewal.not_before.min(renewal.due),
            (false, false) => renewal.due,
        }
    }

    /// Begins to extend the window, in the file or store first. A slot that cannot be written, or belongs to another holder,
    /// is abandoned. A store that does not answer is asked again.
    pub(crate) fn renew(self: &Arc<Self>, now_ms: i64) {
        let now_ms = self.asked_ms.as_ref().map_or(now_ms, |asked_ms| asked_ms.load(Ordering::Acquire));
        let then = self.renewing();
        let Some(last_ms) = self.words().unused_from_ms(&self.layout) else {
            lock(&self.renewal).under_way = None;
            return;
        };
        let reach_ms = self.max_ahead_ms.load(Ordering::Acquire).saturating_add(self.window_ms);
        if let Err(error) = self.held.renew(now_ms, last_ms, reach_ms, then) {
            self.renewed(Outcome::Later(error));
        }
    }

    /// Notes that a renewal is under way, and returns what to do with its outcome.
    fn renewing(self: &Arc<Self>) -> impl FnOnce(Outcome) + Send + 'static {
        let now = Instant::now();
        {
            let mut renewal = lock(&self.renewal);
            (renewal.due, renewal.asked) = (now + until_renewal(self.window_ms), false);
            renewal.under_way = Some(now);
        }
        let lease = Arc::downgrade(self);
        move |renewed| {
            if let Some(lease) = lease.upgrade() {
                lease.renewed(renewed);
            }
        }
    }

    /// Takes the outcome of a renewal.
    fn renewed(&self, outcome: Outcome) {
        let mut renewal = lock(&self.renewal);
        renewal.under_way = None;
        match outcome {
            Outcome::Window { window, skew_ms, standby_risk } => {
                (renewal.failures, renewal.trouble) = (0, None);
                (renewal.skew_ms, renewal.standby_risk) = (skew_ms, standby_risk);
                // Before the lock is free, so that no caller finds the renewal over and the window old.
                self.extend(window.end_ms);
                drop(renewal);
            }
            // A store that loses writes grants no more time: when the window is over, the lease is lost.
            Outcome::Later(error) if self.is_over(&error) => {
                drop(renewal);
                self.lose(&error);
            }
            Outcome::Later(error) => {
                renewal.failures += 1;
                renewal.trouble = Some(error);
                renewal.not_before = Instant::now() + RETRY;
                renewal.due = renewal.not_before;
                drop(renewal);
            }
            Outcome::Lost(error) => {
                drop(renewal);
                self.lose(&error);
            }
        }
        self.wake.notify();
    }

    /// Returns whether no renewal can follow: the store is unsafe, and the window is over.
    fn is_over(&self, error: &Error) -> bool {
        let asked_ms = || self.asked_ms.as_ref().map(|asked_ms| asked_ms.load(Ordering::Acquire));
        let now_ms = self.lessor_ms().or_else(asked_ms).unwrap_or_else(SystemHost::unix_ms);
        error.kind() == ErrorKind::UnsafeStore && now_ms >= self.window().end_ms
    }

    fn lose(&self, error: &Error) {
        // A call that meets the closed cell finds the reason.
        let first = self.note_loss(error);
        self.words().close(&self.layout);
        first.inspect(|lost| self.tell(lost));
    }

    /// Notes the durable end of the window.
    fn extend(&self, end_ms: i64) {
        self.end_ms.store(end_ms, Ordering::Release);
        self.words().extend(&self.layout, end_ms);
    }

    /// Notes the loss, and returns it the first time.
    fn note_loss(&self, error: &dyn fmt::Display) -> Option<Error> {
        let (node, what) = (self.node, self.kind);
        let lost = Error::told(
            ErrorKind::WindowClosed,
            format!("the {what} of node {node} was lost: {error}. The generator is closed: make a new one"),
        );
        self.lost.set(lost.clone()).is_ok().then_some(lost)
    }

    fn tell(&self, error: &Error) {
        let callbacks = std::mem::take(&mut *lock(&self.on_lost));
        // A slow callback must not hold up the renewal of other leases.
        for on_lost in callbacks {
            let error = error.clone();
            let told = thread::Builder::new().name("snowmint-lost".to_owned()).spawn(move || on_lost.call(&error));
            // Without a thread the next call still says why.
            drop(told);
        }
    }
}

const fn until_renewal(window_ms: u64) -> Duration {
    Duration::from_millis(renewal_pause_ms(window_ms, false))
}

/// Waits for a release. A forked child does not wait: the thread that releases is not in it.
fn wait_for(releasing: Pending<()>, deadline: Instant) {
    let owner = Owner::this();
    releasing.wait(deadline, || owner.is_this_process());
}

impl Drop for Lease {
    // The renewing thread may drop a lease, and must not wait.
    fn drop(&mut self) {
        drop(self.begin_release());
    }
}
