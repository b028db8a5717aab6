//! A lease: a node held by this process, its cell, and the renewal of its window.

pub(crate) mod acquire;
pub(crate) mod backend;
pub(crate) mod connector;
pub(crate) mod grant;
mod held;
pub(crate) mod key;
mod lanes;
pub(crate) mod lessor;
pub(crate) mod lessor_clock;
pub(crate) mod on_lost;
pub(crate) mod outer;
pub(crate) mod registry;
pub(crate) mod release;
mod renewal;
pub(crate) mod store;
pub(crate) mod wait;

use std::borrow::Borrow;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use snowmint_core::lease::disorder_ms;
use snowmint_core::{ErrorKind, Layout, SystemHost, Window, Words};
use snowmint_stores::Error;
use snowmint_stores::host::background::Background;
use snowmint_stores::host::fork::Cell;
use snowmint_stores::host::lock;
use snowmint_stores::host::wake::Wake;

use self::backend::Backend;
use self::grant::Grant;
use self::held::Held;
use self::key::LeaseKey;
use self::lessor_clock::LessorClock;
use self::on_lost::OnLost;
use self::outer::Outer;
use self::registry::registry;
use self::renewal::{Renewal, left_ms, until_renewal};

/// A node held by this process, window by window. Generators share it and are counted.
///
/// Its cell is opened once, and closed for good when the lease is released or lost.
#[derive(Debug)]
pub(crate) struct Lease {
    key: Arc<LeaseKey>,
    layout: Layout,
    node: u32,
    cell: Cell,
    held: Arc<Held>,
    /// Wakes the thread that renews.
    wake: &'static Wake,
    start_ms: i64,
    end_ms: AtomicI64,
    window_ms: u64,
    nonce: u128,
    /// The largest `max_ahead_ms` of its generators.
    max_ahead_ms: AtomicU64,
    users: AtomicUsize,
    renewal: Mutex<Renewal>,
    /// The caller's clock when a call last found the window over. The renewer reads the system's clock itself.
    asked_ms: Option<AtomicI64>,
    /// The clock of the lessor, if there is one. Generators read it.
    clock: Option<Arc<LessorClock>>,
    /// The reservation within which its windows lie.
    outer: Option<Arc<Outer>>,
    lost: OnceLock<Error>,
    on_lost: Mutex<Vec<OnLost>>,
    skipped: Vec<String>,
}

impl Lease {
    /// Opens a cell on a granted node.
    ///
    /// The claim read the clock at `since`: the window counts from then.
    pub(crate) fn new(key: &Arc<LeaseKey>, grant: Grant, since: Instant, background: Background) -> Self {
        let Grant { node, window, window_ms, nonce, holding, clock, outer, skew_ms, standby_risk, skipped } = grant;
        let layout = &key.terms.layout;
        let cell = Cell::new();
        let words: &Words = cell.borrow();
        // A grant begins within the layout.
        words.open(layout, window);
        // Less than a window, if a service or a reservation has cut it. A clock of the caller's is read by calls only.
        let now_ms = clock.as_ref().map_or_else(SystemHost::unix_ms, |clock| clock.now_ms());
        let left_ms = key.clock.map_or_else(|| left_ms(window, now_ms, key.terms.max_ahead_ms), |_| window_ms);
        let due = since + until_renewal(window_ms, left_ms, 0, nonce);
        Self {
            key: Arc::clone(key),
            layout: *layout,
            node,
            cell,
            held: Held::new(holding, background),
            wake: registry().wake(),
            start_ms: window.start_ms,
            end_ms: AtomicI64::new(window.end_ms),
            window_ms,
            nonce,
            max_ahead_ms: AtomicU64::new(0),
            users: AtomicUsize::new(0),
            renewal: Mutex::new(Renewal::new(due, skew_ms, standby_risk)),
            asked_ms: key.clock.map(|_| AtomicI64::new(i64::MIN)),
            clock,
            outer,
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

    /// Returns the window of the reservation within which its own windows lie.
    pub(crate) fn reserved(&self) -> Option<Window> {
        self.outer.as_ref().map(|outer| outer.window())
    }

    /// Returns how far the times of its IDs can be from the clock that its generators share with others, in ms.
    pub(crate) fn disorder_ms(&self) -> Option<u64> {
        let shares_clock =
            self.clock.is_some() || (matches!(self.key.backend, Backend::Slots(_)) && self.asked_ms.is_none());
        let skew_ms = if shares_clock { 0 } else { self.skew_ms()? };
        Some(disorder_ms(&self.layout, self.max_ahead_ms.load(Ordering::Acquire), skew_ms))
    }

    /// Returns the slot files or records that are not valid.
    pub(crate) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Returns why the lease was lost.
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    /// Returns its name in error messages.
    fn kind(&self) -> &'static str {
        if self.key.backend.slots().is_some() { "slot" } else { "lease" }
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
                self.report_loss(error);
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

    fn lose(&self, error: &Error) {
        // Before the cell closes, so that a call on the closed cell finds the reason.
        let first = self.note_loss(error);
        self.words().close(&self.layout);
        first.inspect(|lost| self.report_loss(lost));
    }

    /// Notes the loss, and returns it the first time.
    fn note_loss(&self, error: &dyn fmt::Display) -> Option<Error> {
        let (node, what) = (self.node, self.kind());
        let lost = Error::new(
            ErrorKind::WindowClosed,
            format!("the {what} of node {node} was lost: {error}. The generator is closed: make a new one"),
        );
        self.lost.set(lost.clone()).is_ok().then_some(lost)
    }

    fn report_loss(&self, error: &Error) {
        let callbacks = std::mem::take(&mut *lock(&self.on_lost));
        // A slow callback must not hold up the renewal of other leases.
        for on_lost in callbacks {
            let error = error.clone();
            let reported = thread::Builder::new().name("snowmint-lost".to_owned()).spawn(move || on_lost.call(&error));
            // Without a thread the next call still says why.
            drop(reported);
        }
    }
}
