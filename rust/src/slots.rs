//! Slots of one machine: a locked file for each node.
//!
//! The holder of the lock of `DIRECTORY/NAMESPACE/NODE.slot` owns the file, which says until when the holder may mint. The
//! file is written in place and never renamed or removed: a lock is on the file, not on its name.

mod directory;
mod operate;
mod pin;
pub mod record;
mod slot;

use std::path::{Path, PathBuf};
use std::{io, iter};

use snowmint_core::lease::NamespaceRecord;
use snowmint_core::time::Rfc3339;
use snowmint_core::{Error as CoreError, ErrorKind, Window, bytes, mutant};
use snowmint_stores::Error;
use snowmint_stores::host::label::label;
use snowmint_stores::host::nonce::nonce;
use snowmint_stores::host::{Refusal, Terms, plain_file};

use crate::lease::grant::Grant;

pub use self::directory::SlotDirectory;
use self::directory::cannot;
pub use self::operate::{SlotState, Slots};
use self::pin::Pin;
pub(crate) use self::slot::Slot;
use self::slot::{Attempt, lock};

/// The file of the floor for new namespaces. No name of a namespace begins with a dot.
const FLOOR_FILE: &str = ".fence";
/// The pause before the next try to lock a slot, in ms.
const RETRY_PAUSE_MS: u64 = 50;

impl SlotDirectory {
    /// Claims the node of the terms, or the lowest node without a holder whose last window is over.
    pub(crate) fn claim(&self, terms: &Terms, now_ms: i64) -> Result<Grant, Refusal> {
        let layout = &terms.layout;
        let directory = self.prepare(terms.namespace.directory())?;
        let pin = Pin::new(&directory, &terms.namespace, layout, self.file_mode());
        let (namespace, slots) = pin.open()?;
        let floor_ms = namespace.floor_ms.filter(|_| !mutant::removes("floor"));
        let reach_ms = terms.max_ahead_ms.saturating_add(terms.window_ms);
        let mut nearest_ms: Option<u64> = None;
        let mut skipped = Vec::new();
        let all = layout.nodes();
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
        for node in between(first, all).chain(between(0, first)) {
            if terms.exclude.contains(&node) {
                continue;
            }
            let path = directory.join(format!("{node}.slot"));
            let attempt = lock(&path, self.file_mode()).map_err(|error| cannot("use", &path, &error))?;
            let (file, previous) = match attempt {
                Attempt::Taken if terms.nodes.single().is_some() => {
                    return Err(Refusal::NotYet(RETRY_PAUSE_MS, held(node, &path)));
                }
                Attempt::Taken => continue,
                Attempt::Faulty(error) if error.is_later_version() => return Err(unreadable(&path, error).into()),
                Attempt::Faulty(_) => {
                    skipped.push(path);
                    continue;
                }
                Attempt::Locked(file, previous) => (file, previous),
            };
            if let Some(Err(error)) = previous.map(|record| record.refuse_other_layout(layout)) {
                return Err(Error::new(error.kind(), format!("{}: {error}", path.display())).into());
            }
            let previous_end_ms = previous.map_or(floor_ms, |record| Some(record.window.end_ms));
            let window = Window::first(layout, previous_end_ms, now_ms, reach_ms);
            let Some(mints_from_ms) = layout.mints_from_ms(window.start_ms) else {
                skipped.push(path);
                continue;
            };
            // Such a node was released a moment ago, or its clock was ahead. Another node may be free.
            let reached_ms = now_ms.saturating_add_unsigned(terms.max_ahead_ms);
            if mints_from_ms > reached_ms {
                let wait_ms = mints_from_ms.abs_diff(reached_ms);
                nearest_ms = Some(nearest_ms.map_or(wait_ms, |nearest| nearest.min(wait_ms)));
                continue;
            }
            let identity = layout.layout_id().identity();
            let nonce = nonce()?;
            let slot = Slot::grant(file, path.clone(), previous, window, nonce, bytes::label(&label()), identity)
                .map_err(|error| cannot("write", &path, &error))?;
            // Before the grant: a slot that counts is missed when it vanishes.
            if slots + u64::from(previous.is_none()) > namespace.nodes {
                pin.count()?;
            }
            let slot = slot.pinned(pin);
            return Ok(Grant {
                node,
                window,
                window_ms: terms.window_ms,
                nonce,
                holding: Box::new(slot),
                clock: None,
                skew_ms: None,
                standby_risk: None,
                skipped: skipped.iter().map(|path| path.display().to_string()).collect(),
            });
        }
        let error = self.exhausted(&directory, terms, nearest_ms, namespace.fenced(now_ms), &skipped);
        Err(match nearest_ms {
            Some(wait_ms) => Refusal::NotYet(wait_ms, error),
            None => Refusal::Taken(error),
        })
    }

    fn exhausted(
        &self,
        directory: &Path,
        terms: &Terms,
        nearest_ms: Option<u64>,
        fenced: Option<CoreError>,
        skipped: &[PathBuf],
    ) -> Error {
        let ahead = nearest_ms.map_or_else(String::new, |wait_ms| {
            format!(" or used up to a time after now (the nearest for {wait_ms} ms more)")
        });
        let faulty =
            skipped.iter().map(|path| format!("; {} was skipped, because it is not a valid slot", path.display()));
        // No window is as long as that.
        let cure = if let Some(fenced) = fenced {
            fenced.to_string()
        } else if nearest_ms.is_some_and(|wait_ms| wait_ms > Window::MAX_MS) {
            let store = self.path.display();
            format!(
                "a clock was ahead when they were claimed. snowmint lease --store file:{store} ls shows them, and \
                 snowmint lease --store file:{store} release NAMESPACE NODE --stopped resets one"
            )
        } else {
            "close generators, or use a layout with more node bits".to_owned()
        };
        let nodes = match terms.nodes.single() {
            Some(node) => format!("node {node} in {} is", directory.display()),
            None => format!("all {} nodes in {} are", terms.nodes.count(&terms.layout), directory.display()),
        };
        Error::new(ErrorKind::NodesExhausted, format!("{nodes} taken{ahead}{}: {cure}", faulty.collect::<String>()))
    }

    fn file_mode(&self) -> Option<u32> {
        self.shared.then_some(0o666)
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
