//! The files of a store, under its lock.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::entry::Entry;
use super::path::{CONTINUATION, DIRECTORY, RECORD};
use crate::store::plain_file;

/// The pause between two attempts to lock.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

fn late(path: &Path) -> String {
    format!("other processes hold {} for too long", path.display())
}

/// The files of a store, locked for this operation.
pub(super) struct Files {
    root: PathBuf,
    lock: File,
}

impl Files {
    /// Locks the store. Fails after the deadline.
    pub(super) fn lock(root: &Path, deadline: Instant) -> Result<Self, String> {
        let path = root.join("lock");
        let opened = plain_file::open(File::options().read(true).write(true).create(true).truncate(false), &path, true);
        let lock = opened.map_err(|error| cannot("open", &path, &error))?;
        loop {
            match lock.try_lock() {
                Ok(()) => {
                    let files = Self { root: root.to_owned(), lock };
                    // After the deadline the caller has given up, so nothing may change any more.
                    return if Instant::now() < deadline { Ok(files) } else { Err(late(&path)) };
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(POLL_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(late(&path)),
                Err(TryLockError::Error(error)) => return Err(cannot("lock", &path, &error)),
            }
        }
    }

    /// Returns whether the files of the store may rest, by its lock, and touches the lock: other processes see that.
    pub(super) fn rest(&self) -> bool {
        let rest = self.lock.metadata().is_ok_and(|found| plain_file::rests(&found));
        if rest {
            plain_file::touch(&self.root.join("lock"));
        }
        rest
    }

    /// Reads the entry of a key. `None` without a file.
    pub(super) fn read(&self, path: &Path, key: &str) -> Result<Option<Entry>, String> {
        let entry = self.entry(path)?;
        if entry.as_ref().is_some_and(|entry| entry.key != key) {
            return Err(format!("{} is damaged: it does not belong to the key {key}", self.root.join(path).display()));
        }
        Ok(entry)
    }

    /// Makes an entry that was read durable: its writer may have been killed before the sync.
    pub(super) fn keep(&self, path: &Path) -> Result<(), String> {
        let path = self.root.join(path);
        let parent = path.parent().unwrap_or(&self.root);
        sync_up(parent, &self.root).map_err(|error| cannot("sync", parent, &error))
    }

    /// Replaces a file durably.
    pub(super) fn write(&self, path: &Path, entry: &Entry) -> Result<(), String> {
        let path = self.root.join(path);
        let parent = path.parent().unwrap_or(&self.root);
        let draft = self.root.join("draft");
        (|| {
            fs::create_dir_all(parent)?;
            let mut file = plain_file::open(File::options().write(true).create(true).truncate(true), &draft, true)?;
            file.write_all(&entry.to_bytes())?;
            file.sync_all()?;
            drop(file);
            fs::rename(&draft, &path)?;
            sync_up(parent, &self.root)
        })()
        .map_err(|error| cannot("write", &path, &error))
    }

    /// Reads all records of a directory, and makes them durable. With `deep`, also reads the directories in it.
    pub(super) fn list(&self, directory: &Path, deep: bool) -> Result<Vec<Entry>, String> {
        let mut list = Vec::new();
        self.list_into(directory, deep, &mut list)?;
        Ok(list)
    }

    fn list_into(&self, directory: &Path, deep: bool, list: &mut Vec<Entry>) -> Result<(), String> {
        let path = self.root.join(directory);
        let there = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            there => there
                .and_then(Iterator::collect::<io::Result<Vec<_>>>)
                .map_err(|error| cannot("list", &path, &error))?,
        };
        for name in there.into_iter().map(|entry| entry.file_name()) {
            let below = directory.join(&name);
            let name = name.to_string_lossy();
            if name.ends_with(CONTINUATION) || deep && name.ends_with(DIRECTORY) {
                self.list_into(&below, deep, list)?;
            } else if name.ends_with(RECORD) {
                list.extend(self.entry(&below)?);
            }
        }
        // Syncs the directory and its parents.
        self.keep(&directory.join(RECORD))
    }

    fn entry(&self, path: &Path) -> Result<Option<Entry>, String> {
        let path = self.root.join(path);
        let bytes = match plain_file::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot("read", &path, &error)),
        };
        Entry::from_bytes(&bytes).map(Some).map_err(|why| format!("{} is damaged: {why}", path.display()))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Closing the file is not enough, as a forked child may have it open too.
        let _ = self.lock.unlock();
    }
}

/// Touches the files without a recent change. Otherwise a tidy-up of old files would remove records that are written
/// once, such as layouts and settings.
pub(super) fn touch_all(directory: &Path) {
    for path in fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => touch_all(&path),
            Ok(found) if plain_file::rests(&found) => plain_file::touch(&path),
            _ => {}
        }
    }
}

/// Syncs a directory and its parents up to `top`, which may be new too.
pub(super) fn sync_up(directory: &Path, top: &Path) -> io::Result<()> {
    #[cfg(unix)]
    for directory in directory.ancestors().take_while(|directory| directory.starts_with(top)) {
        match File::open(directory) {
            Ok(directory) => directory.sync_all()?,
            // A directory that this user cannot open was made by another user.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    #[cfg(not(unix))]
    let _ = (directory, top);
    Ok(())
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {verb} {}: {error}", path.display())
}
