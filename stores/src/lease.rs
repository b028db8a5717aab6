//! A lease of a slot: its cell, its file, and the renewing of its window.

use std::borrow::Borrow;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::{ErrorKind, Layout, Window, Words};

use crate::error::Error;
use crate::file::{Grant, Slot};
use crate::fork::Cell;
use crate::process::process;

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
    /// Nothing once the slot is given up. A forked child never takes this lock.
    slot: Mutex<Option<Slot>>,
    start_ms: i64,
    end_ms: AtomicI64,
    window_ms: u64,
    /// The largest of its generators.
    max_ahead_ms: AtomicU64,
    users: AtomicUsize,
    renewal: Mutex<Renewal>,
    /// What a caller's clock read when a call found the window over; the system's clock needs no such help.
    asked_ms: Option<AtomicI64>,
    lost: OnceLock<Error>,
    on_lost: Mutex<Vec<OnLost>>,
    skipped: Vec<PathBuf>,
}

#[derive(Debug)]
struct Renewal {
    last: Instant,
    asked: bool,
}

/// The count of a lease that takes no more users.
const OVER: usize = usize::MAX;

impl Lease {
    /// On a granted slot, whose window is on disk.
    pub(crate) fn new(layout: &Layout, grant: Grant, window_ms: u64, own_clock: bool) -> Self {
        let Grant { slot, node, window, skipped } = grant;
        let cell = Cell::new();
        let words: &Words = cell.borrow();
        // A grant begins within the layout.
        words.open(layout, window);
        Self {
            layout: *layout,
            node,
            cell,
            slot: Mutex::new(Some(slot)),
            start_ms: window.start_ms,
            end_ms: AtomicI64::new(window.end_ms),
            window_ms,
            max_ahead_ms: AtomicU64::new(0),
            users: AtomicUsize::new(0),
            renewal: Mutex::new(Renewal { last: Instant::now(), asked: false }),
            asked_ms: own_clock.then(|| AtomicI64::new(i64::MIN)),
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

    /// Slot files that held no valid record.
    pub(crate) fn skipped(&self) -> &[PathBuf] {
        &self.skipped
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

    /// Gives the rest of the window back. Nothing happens in a forked child, nor twice.
    pub(crate) fn release(&self) {
        // In this order: closed, written down, unlocked. In a child the cell is wiped, and the lock is not its own to take.
        let Some(end_ms) = self.words().close(&self.layout) else { return };
        if let Some(slot) = lock(&self.slot).take() {
            // If it cannot be written, the window runs out by itself.
            drop(slot.release(end_ms));
        }
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
        lock(&self.renewal).asked || now >= self.due()
    }

    /// Whether nobody came for it for a whole window.
    pub(crate) fn is_forgotten(&self, since: Instant) -> bool {
        since.elapsed() > Duration::from_millis(self.window_ms)
    }

    /// Half a window after the last renewal.
    pub(crate) fn due(&self) -> Instant {
        lock(&self.renewal).last + Duration::from_millis(self.window_ms / 2)
    }

    /// Moves the window's end up, on disk first. A slot that cannot be written, or is not ours any more, is abandoned.
    pub(crate) fn renew(&self, now_ms: i64) {
        {
            let mut renewal = lock(&self.renewal);
            *renewal = Renewal { last: Instant::now(), asked: false };
        }
        let now_ms = self.asked_ms.as_ref().map_or(now_ms, |asked_ms| asked_ms.load(Ordering::Acquire));
        let mut slot = lock(&self.slot);
        let (Some(held), Some(last_ms)) = (slot.as_mut(), self.words().unused_from_ms(&self.layout)) else { return };
        let reach_ms = self.max_ahead_ms.load(Ordering::Acquire).saturating_add(self.window_ms);
        let end_ms = self.window().renewed_end_ms(now_ms, last_ms, reach_ms);
        match held.renew(end_ms) {
            Ok(()) => {
                self.end_ms.store(end_ms, Ordering::Release);
                self.words().extend(&self.layout, end_ms);
            }
            Err(error) => {
                let node = self.node;
                let lost = Error::told(
                    ErrorKind::WindowClosed,
                    format!("the slot of node {node} was lost: {error}. The generator is closed: make a new one"),
                );
                // The reason is there before a call can need it.
                let first = self.lost.set(lost.clone()).is_ok();
                self.words().close(&self.layout);
                *slot = None;
                drop(slot);
                if first {
                    self.tell(&lost);
                }
            }
        }
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

impl Drop for Lease {
    fn drop(&mut self) {
        self.release();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
