//! The files of a store, while its lock is held.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::entry::Entry;
use super::path::{GOES_ON, RECORD};
use crate::plain;

/// How long to wait before another look whether the lock is free.
const POLL: Duration = Duration::from_millis(1);

fn late(path: &Path) -> String {
    format!("others hold {} for too long", path.display())
}

/// The only one to use the files of a store.
pub(super) struct Files {
    root: PathBuf,
    lock: File,
}

impl Files {
    /// Waits for the lock until the deadline.
    pub(super) fn lock(root: &Path, deadline: Instant) -> Result<Self, String> {
        let path = root.join("lock");
        let opened = plain::open(File::options().read(true).write(true).create(true).truncate(false), &path, true);
        let lock = opened.map_err(|error| cannot("open", &path, &error))?;
        loop {
            match lock.try_lock() {
                Ok(()) => {
                    let files = Self { root: root.to_owned(), lock };
                    // The caller has given up: what it asked for must not happen later.
                    return if Instant::now() < deadline { Ok(files) } else { Err(late(&path)) };
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => return Err(late(&path)),
                Err(TryLockError::Error(error)) => return Err(cannot("lock", &path, &error)),
            }
        }
    }

    /// What is in a file, which has to be of that key; nothing if there is no such file.
    pub(super) fn read(&self, path: &Path, key: &str) -> Result<Option<Entry>, String> {
        let entry = self.entry(path)?;
        if entry.as_ref().is_some_and(|entry| entry.key != key) {
            return Err(format!("{} is damaged: it is not of the key {key}", self.root.join(path).display()));
        }
        Ok(entry)
    }

    /// Makes sure that what was read stays: whoever wrote it may have been killed before it was synced.
    pub(super) fn keep(&self, path: &Path) -> Result<(), String> {
        let path = self.root.join(path);
        let parent = path.parent().unwrap_or(&self.root);
        sync_up(parent, &self.root).map_err(|error| cannot("sync", parent, &error))
    }

    /// Puts a file in the place of the one that is there, for good.
    pub(super) fn write(&self, path: &Path, entry: &Entry) -> Result<(), String> {
        let path = self.root.join(path);
        let parent = path.parent().unwrap_or(&self.root);
        let draft = self.root.join("draft");
        (|| {
            fs::create_dir_all(parent)?;
            let mut file = plain::open(File::options().write(true).create(true).truncate(true), &draft, true)?;
            file.write_all(&entry.to_bytes())?;
            file.sync_all()?;
            drop(file);
            fs::rename(&draft, &path)?;
            sync_up(parent, &self.root)
        })()
        .map_err(|error| cannot("write", &path, &error))
    }

    /// All records of a directory, which are sure to stay.
    pub(super) fn list(&self, directory: &Path) -> Result<Vec<Entry>, String> {
        let mut list = Vec::new();
        self.list_into(directory, &mut list)?;
        Ok(list)
    }

    fn list_into(&self, directory: &Path, list: &mut Vec<Entry>) -> Result<(), String> {
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
            if name.ends_with(GOES_ON) {
                self.list_into(&below, list)?;
            } else if name.ends_with(RECORD) {
                list.extend(self.entry(&below)?);
            }
        }
        // Syncs the directory itself, and those above.
        self.keep(&directory.join(RECORD))
    }

    fn entry(&self, path: &Path) -> Result<Option<Entry>, String> {
        let path = self.root.join(path);
        let bytes = match plain::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot("read", &path, &error)),
        };
        Entry::from_bytes(&bytes).map(Some).map_err(|why| format!("{} is damaged: {why}", path.display()))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // A fork that happened meanwhile has the open file too, so closing it would not do.
        let _ = self.lock.unlock();
    }
}

/// Syncs a directory and those above it, which may be new too, up to `top`.
pub(super) fn sync_up(directory: &Path, top: &Path) -> io::Result<()> {
    #[cfg(unix)]
    for directory in directory.ancestors().take_while(|directory| directory.starts_with(top)) {
        match File::open(directory) {
            Ok(directory) => directory.sync_all()?,
            // What this user cannot open it has not made.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    #[cfg(not(unix))]
    let _ = (directory, top);
    Ok(())
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}
