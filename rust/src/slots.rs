//! Slots of one machine: a locked file for each node.
//!
//! The holder of the lock of `DIRECTORY/NAMESPACE/NODE.slot` owns the file, which says until when the holder may mint. The
//! file is written in place and never renamed or removed: a lock is on the file, not on its name.

mod blocks;
mod directory;
mod operate;
mod pin;
pub mod record;
mod reserved;
mod slot;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, iter};

use snowmint_core::lease::{NamespaceRecord, Record, Reservation};
use snowmint_core::time::Rfc3339;
use snowmint_core::{ErrorKind, Window, bytes, mutant};
use snowmint_stores::host::fork::OwnFile;
use snowmint_stores::host::label::label;
use snowmint_stores::host::nonce::nonce;
use snowmint_stores::host::{Refusal, Terms, plain_file};
use snowmint_stores::{Error, Version};

use crate::lease::grant::Grant;
use crate::lease::outer::Outer;

pub use self::directory::SlotDirectory;
use self::directory::cannot;
pub use self::operate::{SlotState, Slots};
use self::pin::Pin;
pub(crate) use self::reserved::Found;
use self::reserved::Within;
pub(crate) use self::reserved::boot;
pub(crate) use self::slot::Slot;
use self::slot::{Attempt, lock};

/// The file of the floor for new namespaces. No name of a namespace begins with a dot.
const FLOOR_FILE: &str = ".fence";
/// The pause before the next try to lock a slot, in ms.
const RETRY_PAUSE_MS: u64 = 50;

impl SlotDirectory {
    /// Claims the node of the terms, or the lowest node without a holder whose last window is over.
    pub(crate) fn claim(&self, terms: &Terms, now_ms: i64) -> Result<Grant, Refusal> {
        let visit = self.visit(terms, now_ms)?;
        let all = terms.layout.nodes();
        let first = match (&self.warning, terms.nodes.single()) {
            (Some(_), None) => {
                getrandom::u64().map_err(|error| cannot("use", &self.path, &io::Error::other(error)))? % all
            }
            _ => 0,
        };
        // From the first one to the end, then the ones before it.
        let between = |begin, end| {
            let next = move |from| terms.nodes.next(from).filter(|node| u64::from(*node) < end);
            iter::successors(next(begin), move |node| next(u64::from(*node) + 1))
        };
        let mut nearest_ms: Option<u64> = None;
        let mut skipped = Vec::new();
        for node in between(first, all).chain(between(0, first)) {
            if terms.exclude.contains(&node) {
                continue;
            }
            match visit.lock(node)? {
                Locked::Taken => {}
                Locked::Unusable(path) => skipped.push(path),
                Locked::Slot(slot) => match slot.start(&visit, None) {
                    Start::Never => skipped.push(slot.path),
                    Start::In(wait_ms) => {
                        nearest_ms = Some(nearest_ms.map_or(wait_ms, |nearest| nearest.min(wait_ms)));
                    }
                    Start::At(window) => {
                        let mut grant = slot.grant(&visit, window, None)?;
                        grant.skipped = skipped.iter().map(|path| path.display().to_string()).collect();
                        return Ok(grant);
                    }
                },
            }
        }
        let error = visit.exhausted(nearest_ms, &skipped);
        Err(match nearest_ms {
            Some(wait_ms) => Refusal::NotYet(wait_ms, error),
            None => Refusal::Taken(error),
        })
    }

    /// Opens the directory of a namespace for a claim at `now_ms` (Unix ms).
    pub(crate) fn visit<'a>(&'a self, terms: &'a Terms, now_ms: i64) -> Result<Visit<'a>, Error> {
        let directory = self.prepare(terms.namespace.directory())?;
        let pin = Pin::new(&directory, &terms.namespace, &terms.layout, self.file_mode());
        let (namespace, slots) = pin.open()?;
        Ok(Visit { slots: self, terms, now_ms, directory, pin, namespace, count: slots })
    }

    fn file_mode(&self) -> Option<u32> {
        self.shared.then_some(0o666)
    }
}

/// The directory of a namespace during a claim.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    slots: &'a SlotDirectory,
    terms: &'a Terms,
    now_ms: i64,
    directory: PathBuf,
    pin: Pin,
    namespace: NamespaceRecord,
    /// How many slots there are.
    count: u64,
}

/// The outcome of an attempt to lock a slot.
pub(crate) enum Locked {
    /// Another holder has it.
    Taken,
    /// The file is not a valid slot.
    Unusable(PathBuf),
    Slot(LockedSlot),
}

/// A slot that this process has locked.
#[derive(Debug)]
pub(crate) struct LockedSlot {
    node: u32,
    file: OwnFile,
    path: PathBuf,
    previous: Option<Record>,
}

/// When a slot can be used.
pub(crate) enum Start {
    /// Now, with this window.
    At(Window),
    /// In this many ms.
    In(u64),
    /// Never: the layout or the reservation ends before.
    Never,
}

impl Visit<'_> {
    /// Locks the slot of a node.
    ///
    /// # Errors
    /// `NodesExhausted`, if the terms name the node, and it has a holder.
    pub(crate) fn lock(&self, node: u32) -> Result<Locked, Refusal> {
        let path = self.directory.join(format!("{node}.slot"));
        let attempt = lock(&path, self.slots.file_mode()).map_err(|error| cannot("use", &path, &error))?;
        let (file, previous) = match attempt {
            Attempt::Taken if self.terms.nodes.single().is_some() => {
                return Err(Refusal::NotYet(RETRY_PAUSE_MS, held(node, &path)));
            }
            Attempt::Taken => return Ok(Locked::Taken),
            Attempt::Faulty(error) if error.is_later_version() => return Err(unreadable(&path, error).into()),
            Attempt::Faulty(_) => return Ok(Locked::Unusable(path)),
            Attempt::Locked(file, previous) => (file, previous),
        };
        if let Some(Err(error)) = previous.map(|record| record.refuse_other_layout(&self.terms.layout)) {
            return Err(Error::new(error.kind(), format!("{}: {error}", path.display())).into());
        }
        Ok(Locked::Slot(LockedSlot { node, file, path, previous }))
    }

    /// Returns the nodes of the terms that have a slot, ascending.
    pub(crate) fn nodes(&self) -> Result<Vec<u32>, Error> {
        let Terms { nodes, exclude, .. } = self.terms;
        let mut found: Vec<u32> = operate::nodes(&self.directory)?.into_iter().map(|(node, _)| node).collect();
        found.retain(|node| nodes.contains(*node) && !exclude.contains(node));
        Ok(found)
    }

    /// Returns the error of a claim that finds no node.
    pub(crate) fn exhausted(&self, nearest_ms: Option<u64>, skipped: &[PathBuf]) -> Error {
        let ahead = nearest_ms.map_or_else(String::new, |wait_ms| {
            format!(" or used up to a time after now (the nearest for {wait_ms} ms more)")
        });
        let faulty =
            skipped.iter().map(|path| format!("; {} was skipped, because it is not a valid slot", path.display()));
        // No window is as long as that.
        let cure = if let Some(fenced) = self.namespace.fenced(self.now_ms) {
            fenced.to_string()
        } else if nearest_ms.is_some_and(|wait_ms| wait_ms > Window::MAX_MS) {
            let store = self.slots.path.display();
            format!(
                "a clock was ahead when they were claimed. snowmint lease --store file:{store} ls shows them, and \
                 snowmint lease --store file:{store} release NAMESPACE NODE --stopped resets one"
            )
        } else {
            "close generators, or use a layout with more node bits".to_owned()
        };
        let (nodes, directory) = (&self.terms.nodes, self.directory.display());
        let nodes = match nodes.single() {
            Some(node) => format!("node {node} in {directory} is"),
            None => format!("all {} nodes in {directory} are", nodes.count(&self.terms.layout)),
        };
        Error::new(ErrorKind::NodesExhausted, format!("{nodes} taken{ahead}{}: {cure}", faulty.collect::<String>()))
    }
}

impl LockedSlot {
    /// Reads the reservation in the file.
    pub(crate) fn reservation(&self) -> Result<Found, Error> {
        reserved::find(&self.file, &self.path)
    }

    /// Returns the reservation that a store has granted to the file. Writes nothing.
    pub(crate) fn reservation_of(&self, granted: (Record, Version)) -> Result<Reservation, Error> {
        reserved::of(&self.file, &self.path, granted)
    }

    /// Makes sure that no process uses the reservation of the file again.
    pub(crate) fn give_up(&self, reservation: &Reservation) -> Result<(), Error> {
        reserved::keep(&self.file, &self.path, &reservation.given_up())
    }

    /// Returns when the slot can be used, within a reservation if there is one.
    pub(crate) fn start(&self, visit: &Visit<'_>, reservation: Option<&Reservation>) -> Start {
        let Visit { terms, now_ms, namespace, .. } = visit;
        let (layout, now_ms) = (&terms.layout, *now_ms);
        let floor_ms = namespace.floor_ms.filter(|_| !mutant::removes("floor"));
        let reach_ms = terms.max_ahead_ms.saturating_add(terms.window_ms);
        let previous_end_ms = self.previous.map_or(floor_ms, |record| Some(record.window.end_ms));
        let window = match reservation {
            Some(reservation) => reservation.first(layout, previous_end_ms, now_ms, reach_ms),
            None => Some(Window::first(layout, previous_end_ms, now_ms, reach_ms)),
        };
        let Some((window, mints_from_ms)) =
            window.and_then(|window| Some((window, layout.mints_from_ms(window.start_ms)?)))
        else {
            return Start::Never;
        };
        // Such a node was released a moment ago, or its clock was ahead. Another node may be free.
        let reached_ms = now_ms.saturating_add_unsigned(terms.max_ahead_ms);
        if mints_from_ms > reached_ms { Start::In(mints_from_ms.abs_diff(reached_ms)) } else { Start::At(window) }
    }

    /// Grants the slot: writes its window, and then the reservation within which the window lies, if there is one.
    pub(crate) fn grant(
        self,
        visit: &Visit<'_>,
        window: Window,
        within: Option<(Arc<Outer>, Reservation)>,
    ) -> Result<Grant, Refusal> {
        let Self { node, file, path, previous } = self;
        let (terms, pin) = (visit.terms, visit.pin.clone());
        let identity = terms.layout.layout_id().identity();
        let nonce = nonce()?;
        let slot = Slot::grant(file, path.clone(), previous, window, nonce, bytes::label(&label()), identity)
            .map_err(|error| cannot("write", &path, &error))?;
        // Before the grant: a slot that counts is missed when it vanishes.
        if visit.count + u64::from(previous.is_none()) > visit.namespace.nodes {
            pin.count()?;
        }
        let mut slot = slot.pinned(pin);
        let outer = within.as_ref().map(|(outer, _)| Arc::clone(outer));
        if let Some((outer, reservation)) = within {
            reserved::keep(&slot.file, &path, &reservation)?;
            slot = slot.within(Within::new(outer, reservation));
        }
        Ok(Grant {
            node,
            window,
            window_ms: terms.window_ms,
            nonce,
            holding: Box::new(slot),
            clock: None,
            skew_ms: outer.as_ref().and_then(|outer| outer.skew_ms()),
            standby_risk: outer.as_ref().and_then(|outer| outer.standby_risk()),
            outer,
            skipped: Vec::new(),
        })
    }
}

/// Returns `NodesExhausted` for a locked slot, with its holder and the end of its window.
fn held(node: u32, path: &Path) -> Error {
    let record = plain_file::read(path).ok().and_then(|bytes| record::latest(&bytes).ok().flatten());
    let holder = record.map_or_else(
        || "another process".to_owned(),
        |record| format!("{} until {}", record.label_text(), Rfc3339(record.window.end_ms)),
    );
    Error::new(
        ErrorKind::NodesExhausted,
        format!(
            "node {node} is held by {holder} ({}): wait longer, close its holder, or lease another node",
            path.display()
        ),
    )
}

/// Reads the record of a namespace into the text of its layout and the numbers behind it. `None` without such a file.
fn read_namespace(path: &Path) -> Result<Option<(String, NamespaceRecord)>, Error> {
    let Some(text) = read(path)? else { return Ok(None) };
    let (layout, record) = NamespaceRecord::read(&text).map_err(|error| unreadable(path, error))?;
    Ok(Some((String::from_utf8_lossy(layout).into_owned(), record)))
}

/// Reads a file without the blanks at its end. `None` without such a file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match plain_file::read(path) {
        Ok(text) => Ok(Some(text.trim_ascii_end().to_vec())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("read", path, &error)),
    }
}

fn unreadable(path: &Path, error: snowmint_core::Error) -> Error {
    Error::unavailable(&path.display().to_string(), error)
}
