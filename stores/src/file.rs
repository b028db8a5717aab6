//! The embedded store: slots of one machine, a locked file a node.
//!
//! `DIRECTORY/NAMESPACE/NODE.slot` belongs to whoever has its lock, and says until when that holder may mint. The file is
//! written in place and never renamed or removed: a lock is on the file, not on its name.

mod claim;
mod place;
pub mod record;
mod slot;
mod slots;

use std::io;
use std::path::{Path, PathBuf};

use snowmint_core::lease::Pin;
use snowmint_core::{ErrorKind, Layout, Window, mutant};

pub(crate) use self::claim::claim_in_time;
pub(crate) use self::place::Place;
use self::place::cannot;
use self::record::Fault;
pub(crate) use self::slot::Slot;
use self::slot::{Attempt, lock};
pub use self::slots::{SlotState, Slots};
use crate::error::Error;
use crate::label::label;
use crate::namespace::Namespace;
use crate::plain;
use crate::token::token;

/// Where namespaces that are new begin, in the directory of all: no name of a namespace begins with a dot.
const FLOOR: &str = ".fence";

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
        let pin = self.pin(&directory, namespace, layout)?;
        let floor_ms = pin.floor_ms.filter(|_| !mutant::removes("floor"));
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
            let previous_end_ms = previous.map_or(floor_ms, |record| Some(record.end_ms));
            let window = Window::first(layout, previous_end_ms, wanted.now_ms, reach_ms);
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
        let error = self.exhausted(&directory, layout, nearest_ms, &skipped);
        Err(match nearest_ms {
            Some(wait_ms) => Refused::NotYet(wait_ms, error),
            None => Refused::Taken(error),
        })
    }

    /// Writes the layout of a namespace down where nothing was, and refuses another one: two layouts would give the same ID.
    fn pin(&self, directory: &Path, namespace: &Namespace, layout: &Layout) -> Result<Pin, Error> {
        let path = directory.join("layout");
        let (text, pin) = if let Some(found) = read_pin(&path)? {
            found
        } else {
            let (_, floor) = read_pin(&self.path.join(FLOOR))?.unwrap_or_default();
            place::make_once(&path, &format!("{layout}{floor}\n"), self.file_mode())
                .map_err(|error| cannot("write", &path, &error))?;
            read_pin(&path)?.unwrap_or_default()
        };
        let pinned = Layout::parse(&text).map_err(|_| invalid(&path, &format!("it is no layout: {text:?}")))?;
        if pinned.same_numbers(layout) { Ok(pin) } else { Err(namespace.has_another_layout(&pinned)) }
    }

    fn exhausted(&self, directory: &Path, layout: &Layout, nearest_ms: Option<u64>, skipped: &[PathBuf]) -> Error {
        let ahead = nearest_ms.map_or_else(String::new, |wait_ms| {
            format!(" or used up to a time after now (the nearest for {wait_ms} ms more)")
        });
        let faulty = skipped.iter().map(|path| format!("; {} was skipped, as it is no valid slot", path.display()));
        // No window is as long as that.
        let cure = if nearest_ms.is_some_and(|wait_ms| wait_ms > Window::MOST_MS) {
            let store = self.path.display();
            format!(
                "a clock was ahead when they were claimed. snowmint lease --store file:{store} ls shows them, and \
                 snowmint lease --store file:{store} release NAMESPACE NODE --stopped resets one"
            )
        } else {
            "close generators, or use a layout with more node bits".to_owned()
        };
        let (nodes, directory) = (layout.nodes(), directory.display());
        Error::told(
            ErrorKind::NodesExhausted,
            format!("all {nodes} nodes in {directory} are taken{ahead}{}: {cure}", faulty.collect::<String>()),
        )
    }

    fn file_mode(&self) -> Option<u32> {
        self.shared.then_some(0o666)
    }
}

/// The text of the layout in a namespace's record, and the numbers behind it; nothing, if there is no such file.
fn read_pin(path: &Path) -> Result<Option<(String, Pin)>, Error> {
    let text = match plain::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| cannot("read", path, &error))?,
    };
    let text = text.trim_ascii_end();
    let no_layout = || invalid(path, &format!("it is no layout: {:?}", String::from_utf8_lossy(text)));
    let (layout, pin) = Pin::read(text).map_err(|_| no_layout())?;
    Ok(Some((String::from_utf8_lossy(layout).into_owned(), pin)))
}

fn invalid(path: &Path, why: &str) -> Error {
    cannot("use", path, &io::Error::new(io::ErrorKind::InvalidData, why.to_owned()))
}

fn newer(path: &Path, version: u32) -> Error {
    Error::told(
        ErrorKind::StoreUnavailable,
        format!("{} is of version {version}, later than this snowmint knows: update snowmint here", path.display()),
    )
}
