//! The pin of a namespace: its file `layout`, with the text of the layout, the count of its slots, and the floor of a fence.
//!
//! The pin is made once and then written in place, because a user may not replace another user's file in a directory of
//! mode 1777. A tidy-up of `/var/tmp` removes files that have not changed for long, and use does not change a pin. So
//! each renewal touches it, and makes it again if it is gone; idle slots are touched too.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_core::lease::NamespaceRecord;
use snowmint_core::{ErrorKind, Layout, mutant};
use snowmint_stores::Error;
use snowmint_stores::host::{Namespace, plain_file};

use super::directory::{cannot, make_once};
use super::{FLOOR_FILE, read_namespace, record};

/// How long a claim waits for the lock of a pin. Another process has it for the time of one write.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The pin of a namespace, for generators of a layout.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    directory: PathBuf,
    namespace: Namespace,
    layout: Layout,
    mode: Option<u32>,
    touched: Instant,
}

impl Pin {
    pub(super) fn new(directory: &Path, namespace: &Namespace, layout: &Layout, mode: Option<u32>) -> Self {
        let (directory, namespace) = (directory.to_owned(), namespace.clone());
        Self { directory, namespace, layout: *layout, mode, touched: Instant::now() }
    }

    fn path(&self) -> PathBuf {
        path_in(&self.directory)
    }

    /// Reads the record of the namespace, which a new namespace gets first. Refuses another layout, and a namespace of which
    /// slots have vanished. Returns the record, and how many slots have one.
    pub(super) fn open(&self) -> Result<(NamespaceRecord, u64), Error> {
        let path = self.path();
        let record = if let Some(text) = read_locked(&path).map_err(|error| cannot("read", &path, &error))? {
            self.read(&text)?
        } else {
            self.refuse_other_slots()?;
            self.make()?;
            let text = read_locked(&path).map_err(|error| cannot("read", &path, &error))?;
            self.read(&text.unwrap_or_default())?
        };
        // After the record: slots come and do not go.
        let slots = self.survey();
        record.refuse_fewer(slots).map_err(|error| self.error(&error))?;
        Ok((record, slots))
    }

    fn read(&self, text: &[u8]) -> Result<NamespaceRecord, Error> {
        self.namespace.read(&self.path().display().to_string(), text, &self.layout).map(|(_, record)| record)
    }

    fn error(&self, error: &snowmint_core::Error) -> Error {
        Error::new(error.kind(), format!("{}: {error}", self.directory.display()))
    }

    /// Refuses a layout if there are slots of another one, whose pin has vanished.
    fn refuse_other_slots(&self) -> Result<(), Error> {
        for (path, _) in slot_files(&self.directory) {
            if let Ok(Some(record)) = record::latest(&plain_file::read(&path).unwrap_or_default()) {
                record.refuse_other_layout(&self.layout).map_err(|error| self.error(&error))?;
            }
        }
        Ok(())
    }

    /// Makes the pin, unless another process is first.
    fn make(&self) -> Result<(), Error> {
        let floor = self.directory.parent().map(|slots| read_namespace(&slots.join(FLOOR_FILE))).transpose()?.flatten();
        let (_, floor) = floor.unwrap_or_default();
        let record = NamespaceRecord { nodes: count(&self.directory), ..floor };
        let (path, text) = (self.path(), format!("{}{record}\n", self.layout));
        let made = make_once(&path, &text, self.mode).and_then(|()| {
            // A file that was emptied.
            change(&path, |there| there.is_empty().then_some(text))
        });
        made.map_err(|error| cannot("write", &path, &error))
    }

    /// Raises the count in the pin to the number of slots that have a record now.
    pub(super) fn count(&self) -> Result<(), Error> {
        count_slots(&self.directory, |record, slots| NamespaceRecord { nodes: record.nodes.max(slots), ..record })
    }

    /// Touches the pin, and makes it again if it is gone. Other failures wait for the next renewal.
    ///
    /// # Errors
    /// `InvalidLayout`, if another process has pinned another layout meanwhile.
    pub(super) fn keep(&mut self) -> Result<(), Error> {
        if mutant::removes("keep") {
            return Ok(());
        }
        let path = self.path();
        match plain_file::read(&path) {
            Ok(text) if !text.is_empty() => match self.read(text.trim_ascii_end()) {
                Err(error) if error.kind() == ErrorKind::InvalidLayout => return Err(error),
                _ => plain_file::touch(&path),
            },
            Ok(_) => drop(self.make()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => drop(self.make()),
            Err(_) => {}
        }
        if self.touched.elapsed() >= plain_file::TOUCH_INTERVAL {
            self.touched = Instant::now();
            self.survey();
        }
        Ok(())
    }

    /// Counts the slots that have a record, and touches all files without a recent change.
    fn survey(&self) -> u64 {
        let floor = self.directory.parent().map(|slots| slots.join(FLOOR_FILE));
        let others = [Some(self.path()), floor].into_iter().flatten();
        let others = others.filter_map(|path| path.symlink_metadata().ok().map(|found| (path, found)));
        let slots = slot_files(&self.directory);
        for (path, found) in slots.iter().cloned().chain(others) {
            if plain_file::rests(&found) {
                plain_file::touch(&path);
            }
        }
        slots.iter().filter(|(_, found)| has_record(found)).count() as u64
    }
}

fn path_in(directory: &Path) -> PathBuf {
    directory.join("layout")
}

/// Updates the count of slots in the pin. The second argument of `to` is how many slots have a record. Does nothing
/// without a pin.
pub(super) fn count_slots(
    directory: &Path,
    to: impl FnOnce(NamespaceRecord, u64) -> NamespaceRecord,
) -> Result<(), Error> {
    let path = path_in(directory);
    let mut unreadable = None;
    let changed = change(&path, |text| match NamespaceRecord::read(text) {
        Ok((layout, record)) => {
            let new = to(record, count(directory));
            (new != record).then(|| format!("{}{new}\n", String::from_utf8_lossy(layout)))
        }
        Err(error) => {
            unreadable = Some(super::unreadable(&path, error));
            None
        }
    });
    match changed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot("write", &path, &error)),
        _ => unreadable.map_or(Ok(()), Err),
    }
}

/// Counts the slots that have a record, valid or not.
pub(super) fn count(directory: &Path) -> u64 {
    slot_files(directory).iter().filter(|(_, found)| has_record(found)).count() as u64
}

/// Returns whether a slot is more than an empty file.
fn has_record(found: &Metadata) -> bool {
    !found.is_file() || found.len() > 0
}

/// Returns the slots of a namespace; none where they cannot be listed.
fn slot_files(directory: &Path) -> Vec<(PathBuf, Metadata)> {
    let is_slot = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "slot");
    let found = fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    found.filter(is_slot).filter_map(|path| path.symlink_metadata().ok().map(|found| (path, found))).collect()
}

/// Reads a pin under its lock. `None` without a pin, or where the file is empty.
fn read_locked(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = lock(path, false)? else { return Ok(None) };
    let text = plain_file::read(path);
    let unlocked = file.unlock();
    // The first error counts.
    let text = text?.trim_ascii_end().to_vec();
    unlocked.map(|()| Some(text).filter(|text| !text.is_empty()))
}

/// Replaces the text of a pin in place, under its lock. `to` returns `None` to leave it.
fn change(path: &Path, to: impl FnOnce(&[u8]) -> Option<String>) -> io::Result<()> {
    let Some(file) = lock(path, true)? else { return Err(io::ErrorKind::NotFound.into()) };
    let changed = (|| {
        let there = plain_file::read(path)?;
        let Some(text) = to(there.trim_ascii_end()) else { return Ok(()) };
        // A shorter text ends with blanks: at any moment the file has a whole one.
        let text = format!("{:<1$}\n", text.trim_end(), there.len().saturating_sub(1));
        write_at_start(&file, text.as_bytes())?;
        file.sync_data()
    })();
    // A child of a raw clone has the open file too, so closing it here would not do.
    changed.and(file.unlock())
}

/// Leaves the place in the file alone, which a forked child shares.
#[cfg(unix)]
fn write_at_start(file: &File, text: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, text, 0)
}

#[cfg(not(unix))]
fn write_at_start(mut file: &File, text: &[u8]) -> io::Result<()> {
    io::Seek::rewind(&mut file)?;
    io::Write::write_all(&mut file, text)
}

/// Opens and locks a pin. `None` without a pin.
fn lock(path: &Path, to_write: bool) -> io::Result<Option<File>> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        let file = match plain_file::open(File::options().read(true).write(to_write), path, true) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        match if to_write { file.try_lock() } else { file.try_lock_shared() } {
            // Not a file that was removed or replaced meanwhile.
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            Ok(()) => file.unlock()?,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        if Instant::now() >= deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds its lock for too long"));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |held: Metadata, there: Metadata| (held.dev(), held.ino()) == (there.dev(), there.ino());
    file.metadata().is_ok_and(|held| fs::metadata(path).is_ok_and(|there| same(held, there)))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}
