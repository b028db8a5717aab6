//! Slots for operators: list them, reset one, raise a fence.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use snowmint_core::lease::{NamespaceRecord, Record};
use snowmint_core::{ErrorKind, Layout, Window, bytes};
use snowmint_stores::Error;
use snowmint_stores::host::label::label;
use snowmint_stores::host::nonce::nonce;
use snowmint_stores::host::{Namespace, plain_file};

use super::directory::{SlotDirectory, cannot, replace};
use super::record;
use super::slot::{Attempt, Slot, lock};
use super::{FLOOR_FILE, pin, read, read_namespace, reserved, unreadable};

/// The slots of a directory.
///
/// # Examples
/// ```
/// use snowmint::{LeaseOptions, Slots, Snowflake};
/// # let directory = tempfile::tempdir()?;
/// # let url = format!("file:{}", directory.path().display());
/// let generator = Snowflake::lease(LeaseOptions::new().store(&url).namespace("orders"))?;
/// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
/// for slot in slots.list(None)? {
///     println!("{} {} {}", slot.namespace, slot.node, if slot.held { "held" } else { "free" });
/// }
/// # assert!(slots.list(Some("orders"))?[0].held);
/// # drop(generator);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Slots(SlotDirectory);

/// One slot.
///
/// # Examples
/// ```
/// use snowmint::{LeaseOptions, Slots, Snowflake};
/// # let directory = tempfile::tempdir()?;
/// # let url = format!("file:{}", directory.path().display());
/// # let generator = Snowflake::lease(LeaseOptions::new().store(&url).namespace("orders"))?;
/// # generator.close();
/// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
/// let state = &slots.list(Some("orders"))?[0];
/// assert_eq!((state.node, state.held), (0, false));
/// assert!(state.record.is_some_and(|record| record.window.start_ms > 1_600_000_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotState {
    /// The namespace, as [`Namespace`] shows it.
    pub namespace: String,
    /// The node.
    pub node: u32,
    /// Whether a live holder has its lock.
    pub held: bool,
    /// The record of the last holder; `None` if the file is new or not a valid slot.
    pub record: Option<Record>,
    /// The window that a store has reserved for the directory; `None` without one, and if the directory was copied.
    pub reserved: Option<Window>,
}

impl Slots {
    /// Returns the slots of the directory of `file:DIRECTORY`; `None` for the URL of another store.
    ///
    /// # Errors
    /// `StoreUnavailable` for a URL that has no directory.
    ///
    /// # Examples
    /// ```
    /// use snowmint::Slots;
    /// assert!(Slots::of_url("file:/var/lib/ids")?.is_some());
    /// assert!(Slots::of_url("postgres://db/ids")?.is_none());
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn of_url(url: &str) -> Result<Option<Self>, Error> {
        if url.starts_with("file:") { SlotDirectory::of_url(url).map(|place| Some(Self(place))) } else { Ok(None) }
    }

    pub(crate) const fn of_directory(directory: SlotDirectory) -> Self {
        Self(directory)
    }

    /// Returns the record of a namespace for generators of a layout. `None` for a new namespace.
    pub(crate) fn record(&self, namespace: &Namespace, layout: &Layout) -> Result<Option<NamespaceRecord>, Error> {
        let path = self.path().join(namespace.directory()).join("layout");
        let Some(found) = read(&path)? else { return Ok(None) };
        namespace.read(&path.display().to_string(), &found, layout).map(|(_, record)| Some(record))
    }

    /// Refuses a namespace of which slots have vanished.
    pub(crate) fn refuse_vanished(&self, namespace: &Namespace, record: &NamespaceRecord) -> Result<(), Error> {
        let directory = self.path().join(namespace.directory());
        let refused =
            |error: snowmint_core::Error| Error::new(error.kind(), format!("{}: {error}", directory.display()));
        record.refuse_fewer(pin::count(&directory)).map_err(refused)
    }

    /// Returns the directory.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use snowmint::Slots;
    /// let slots = Slots::of_url("file:/var/lib/ids")?;
    /// assert_eq!(slots.as_ref().map(Slots::path), Some(Path::new("/var/lib/ids")));
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns whether the directory also holds the records of a store, as a service keeps them.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Slots};
    /// # let directory = tempfile::tempdir()?;
    /// # let url = format!("file:{}", directory.path().display());
    /// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
    /// assert!(!slots.are_beside_a_store());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn are_beside_a_store(&self) -> bool {
        self.path().join(".store").is_dir()
    }

    /// Returns whether a namespace has slots here.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Slots, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let url = format!("file:{}", directory.path().display());
    /// # let generator = Snowflake::lease(LeaseOptions::new().store(&url).namespace("orders"))?;
    /// # generator.close();
    /// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
    /// assert!(slots.has("orders") && !slots.has("mails"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has(&self, namespace: &str) -> bool {
        Namespace::parse(namespace).is_ok_and(|namespace| self.path().join(namespace.directory()).is_dir())
    }

    /// Lists the slots of a namespace, or of all, by namespace and node.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Slots, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let url = format!("file:{}", directory.path().display());
    /// # let generator = Snowflake::lease(LeaseOptions::new().store(&url).namespace("orders"))?;
    /// # generator.close();
    /// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
    /// assert_eq!(slots.list(Some("orders"))?.len(), 1);
    /// assert_eq!(slots.list(Some("mails"))?.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn list(&self, namespace: Option<&str>) -> Result<Vec<SlotState>, Error> {
        let mut slots = Vec::new();
        for directory in self.namespaces()? {
            let name = name_of(&directory);
            if namespace.is_some_and(|namespace| namespace != name) {
                continue;
            }
            for (node, path) in nodes(&directory)? {
                let (held, record) = match look(&path)? {
                    Attempt::Taken => {
                        (true, record::latest(&plain_file::read(&path).unwrap_or_default()).unwrap_or_default())
                    }
                    Attempt::Locked(_, record) => (false, record),
                    Attempt::Faulty(_) => (false, None),
                };
                let reserved = reserved::window(&path);
                slots.push(SlotState { namespace: name.clone(), node, held, record, reserved });
            }
        }
        Ok(slots)
    }

    /// Sets the end of the last window (Unix ms) of a slot without a holder.
    ///
    /// # Errors
    /// `InvalidNode`, if the slot does not exist, or a live holder has it; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Slots, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let url = format!("file:{}", directory.path().display());
    /// # let generator = Snowflake::lease(LeaseOptions::new().store(&url).namespace("orders"))?;
    /// # generator.close();
    /// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
    /// let state = slots.reset("orders", 0, 1_800_000_000_000)?;
    /// assert_eq!(state.record.map(|record| record.window.end_ms), Some(1_800_000_000_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reset(&self, namespace: &str, node: u32, end_ms: i64) -> Result<SlotState, Error> {
        let path = self.path().join(Namespace::parse(namespace)?.directory()).join(format!("{node}.slot"));
        if !path.exists() {
            let path = path.display();
            return Err(Error::new(ErrorKind::InvalidNode, format!("nobody ever had node {node}: no file {path}")));
        }
        match write(&path, |_| end_ms)? {
            Some(record) => {
                let reserved = reserved::window(&path);
                Ok(SlotState { namespace: namespace.to_owned(), node, held: false, record: Some(record), reserved })
            }
            None => Err(cannot("use", &path, &io::Error::other("it is not a valid slot"))),
        }
    }

    /// Raises the end of every slot to `until_ms` (Unix ms), and writes a floor there for new nodes and namespaces. Returns
    /// how many slots it raised.
    ///
    /// # Errors
    /// `InvalidNode`, if a live holder has a slot: some may be raised, and raising again does no harm; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Slots, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let url = format!("file:{}", directory.path().display());
    /// # let generator = Snowflake::lease(LeaseOptions::new().store(&url).namespace("orders"))?;
    /// # generator.close();
    /// let slots = Slots::of_url(&url)?.ok_or("a directory")?;
    /// let hour_ahead_ms = snowmint::core::SystemHost::unix_ms() + 3_600_000;
    /// assert_eq!(slots.fence(hour_ahead_ms)?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fence(&self, until_ms: i64) -> Result<usize, Error> {
        let mut count = 0;
        let mode = self.0.file_mode();
        raise_floor(&self.path().join(FLOOR_FILE), until_ms, mode)?;
        for directory in self.namespaces()? {
            for (_, path) in nodes(&directory)? {
                count += usize::from(write(&path, |end_ms| end_ms.max(until_ms))?.is_some());
            }
            // Last, as vanished slots stop all claims until this count is right.
            pin::count_slots(&directory, |record, slots| NamespaceRecord { nodes: slots, ..record.raised(until_ms) })?;
        }
        Ok(count)
    }

    /// Returns the directories of namespaces, by name.
    fn namespaces(&self) -> Result<Vec<PathBuf>, Error> {
        let mut found = entries(self.path())?;
        found.retain(|path| path.is_dir() && Namespace::parse(&name_of(path)).is_ok());
        found.sort_unstable();
        Ok(found)
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the paths in a directory; none if it does not exist.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let listed = || fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    match listed() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|error| cannot("list", directory, &error)),
    }
}

/// Returns the slot files of a namespace by node, ascending.
pub(super) fn nodes(directory: &Path) -> Result<Vec<(u32, PathBuf)>, Error> {
    let node = |path: PathBuf| Some((name_of(&path).strip_suffix(".slot")?.parse().ok()?, path));
    let mut nodes: Vec<(u32, PathBuf)> = entries(directory)?.into_iter().filter_map(node).collect();
    nodes.sort_unstable();
    Ok(nodes)
}

fn look(path: &Path) -> Result<Attempt, Error> {
    lock(path, None).map_err(|error| cannot("use", path, &error))
}

/// Writes another end into a slot without a holder. Returns `None` for a file that is not a valid slot: no claim takes it.
fn write(path: &Path, to: impl FnOnce(i64) -> i64) -> Result<Option<Record>, Error> {
    let (file, previous) = match look(path)? {
        Attempt::Locked(file, previous) => (file, previous),
        Attempt::Faulty(error) if error.is_later_version() => return Err(unreadable(path, error)),
        Attempt::Faulty(_) => return Ok(None),
        Attempt::Taken => {
            let record = record::latest(&plain_file::read(path).unwrap_or_default()).ok().flatten();
            let holder = record.map_or_else(|| "a live process".to_owned(), |record| record.label_text().to_string());
            let path = path.display();
            return Err(Error::new(ErrorKind::InvalidNode, format!("{path} is held by {holder}: stop it first")));
        }
    };
    let end_ms = to(previous.map_or(i64::MIN, |record| record.window.end_ms));
    let start_ms = previous.map_or(end_ms, |record| record.window.start_ms.min(end_ms));
    let label = previous.map_or_else(|| bytes::label(&label()), |record| record.label);
    // A new token: a holder that was stopped and not killed finds at its renewal that it lost the slot.
    let layout = previous.map_or(0, |record| record.layout);
    Slot::grant(file, path.to_owned(), previous, Window { start_ms, end_ms }, nonce()?, label, layout)
        .and_then(Slot::put_back)
        .map(Some)
        .map_err(|error| cannot("write", path, &error))
}

/// Raises the floor of new namespaces.
fn raise_floor(path: &Path, until_ms: i64, mode: Option<u32>) -> Result<(), Error> {
    let (layout, pin) = read_namespace(path)?.unwrap_or_default();
    let pin: NamespaceRecord = pin.raised(until_ms);
    replace(path, &format!("{layout}{pin}\n"), mode).map_err(|error| cannot("write", path, &error))
}
