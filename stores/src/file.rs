//! The embedded store: slots of one machine, a locked file a node.
//!
//! `DIRECTORY/NAMESPACE/NODE.slot` belongs to whoever has its lock, and says until when that holder may mint. The file is
//! written in place and never renamed or removed: a lock is on the file, not on its name.

mod place;
pub mod record;
mod slot;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use snowmint_core::{ErrorKind, Layout, Window};

pub(crate) use self::place::Place;
use self::place::cannot;
pub use self::place::kind_of;
#[cfg(feature = "file")]
pub(crate) use self::place::refuse_unsafe_filesystem;
use self::record::Fault;
pub(crate) use self::slot::Slot;
use self::slot::{Attempt, lock};
use crate::error::Error;
use crate::label::label;
use crate::namespace::Namespace;
use crate::token::token;

/// What a holder wants.
pub(crate) struct Wanted<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) now_ms: i64,
    pub(crate) max_ahead_ms: u64,
    pub(crate) window_ms: u64,
    /// Whether a node is not to be taken.
    pub(crate) excluded: &'a dyn Fn(u32) -> bool,
}

/// What a holder gets: a node, and its first window, which is on disk by now.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) slot: Slot,
    pub(crate) node: u32,
    pub(crate) window: Window,
    pub(crate) skipped: Vec<PathBuf>,
}

/// Why a holder gets nothing.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Every node that is not taken has been used up to a time after now; the nearest is free in so many ms.
    NotYet(u64, Error),
    /// Every node is taken, perhaps by somebody who only looks.
    Taken(Error),
    Error(Error),
}

impl Refused {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::NotYet(_, error) | Self::Taken(error) | Self::Error(error) => error,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Place {
    /// Takes the lowest node that nobody holds and whose last window is over.
    pub(crate) fn claim(&self, namespace: &Namespace, wanted: &Wanted<'_>) -> Result<Grant, Refused> {
        let layout = wanted.layout;
        let directory = self.prepare(namespace.directory())?;
        pin_layout(&directory, namespace, layout, self.file_mode())?;
        let mut nearest_ms: Option<u64> = None;
        let mut skipped = Vec::new();
        for node in 0..layout.nodes() {
            // There are at most 2^32 nodes.
            let node = u32::try_from(node).unwrap_or(u32::MAX);
            if (wanted.excluded)(node) {
                continue;
            }
            let path = directory.join(format!("{node}.slot"));
            let attempt = lock(&path, self.file_mode()).map_err(|error| cannot("use", &path, &error))?;
            let (file, previous) = match attempt {
                Attempt::Taken => continue,
                Attempt::Faulty(Fault::Invalid) => {
                    skipped.push(path);
                    continue;
                }
                Attempt::Faulty(Fault::Newer(version)) => return Err(newer(&path, version).into()),
                Attempt::Locked(file, previous) => (file, previous),
            };
            let reach_ms = wanted.max_ahead_ms.saturating_add(wanted.window_ms);
            let window = Window::first(layout, previous.map(|record| record.end_ms), wanted.now_ms, reach_ms);
            let Some(mints_from_ms) = layout.mints_from_ms(window.start_ms) else {
                skipped.push(path);
                continue;
            };
            // A node used up to a time after now has just been given up, or its clock was ahead: there may be another.
            let reached_ms = wanted.now_ms.saturating_add_unsigned(wanted.max_ahead_ms);
            if mints_from_ms > reached_ms {
                let wait_ms = mints_from_ms.abs_diff(reached_ms);
                nearest_ms = Some(nearest_ms.map_or(wait_ms, |nearest| nearest.min(wait_ms)));
                continue;
            }
            let token = token()?;
            let slot = Slot::grant(file, path.clone(), previous, window, token, &label())
                .map_err(|error| cannot("write", &path, &error))?;
            return Ok(Grant { slot, node, window, skipped });
        }
        let error = exhausted(&directory, layout, nearest_ms, &skipped);
        Err(match nearest_ms {
            Some(wait_ms) => Refused::NotYet(wait_ms, error),
            None => Refused::Taken(error),
        })
    }

    fn file_mode(&self) -> Option<u32> {
        self.shared.then_some(0o666)
    }
}

/// Writes the layout of a namespace down where nothing was, and refuses another one: two layouts would give the same ID.
fn pin_layout(directory: &Path, namespace: &Namespace, layout: &Layout, mode: Option<u32>) -> Result<(), Error> {
    let path = directory.join("layout");
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            place::make_once(&path, &format!("{layout}\n"), mode).map_err(|error| cannot("write", &path, &error))?;
            fs::read_to_string(&path)
        }
        found => found,
    };
    let text = text.map_err(|error| cannot("read", &path, &error))?;
    let pinned = Layout::parse(text.trim_end()).map_err(|_| {
        cannot("use", &path, &io::Error::new(io::ErrorKind::InvalidData, format!("it is no layout: {text:?}")))
    })?;
    if pinned.same_numbers(layout) {
        return Ok(());
    }
    Err(namespace.has_another_layout(&pinned))
}

fn newer(path: &Path, version: u32) -> Error {
    Error::told(
        ErrorKind::StoreUnavailable,
        format!("{} is of version {version}, later than this snowmint knows: update snowmint here", path.display()),
    )
}

fn exhausted(directory: &Path, layout: &Layout, nearest_ms: Option<u64>, skipped: &[PathBuf]) -> Error {
    let ahead = nearest_ms.map_or_else(String::new, |wait_ms| {
        format!(" or used up to a time after now (the nearest for {wait_ms} ms more)")
    });
    let faulty = skipped.iter().map(|path| format!("; {} was skipped, as it is no valid slot", path.display()));
    let (nodes, directory) = (layout.nodes(), directory.display());
    Error::told(
        ErrorKind::NodesExhausted,
        format!(
            "all {nodes} nodes in {directory} are taken{ahead}{}: close generators, or use a layout with more node bits",
            faulty.collect::<String>()
        ),
    )
}
