//! One slot: a locked file that says until when its holder may mint.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use snowmint_core::bytes::LABEL_BYTES;
use snowmint_core::lease::Record;
use snowmint_core::{ErrorKind, Window, mutant};
use snowmint_stores::Error;
use snowmint_stores::host::fork::OwnFile;
use snowmint_stores::host::{Outcome, plain_file};

use super::blocks::{read_at, write};
use super::directory::make_once;
use super::pin::Pin;
use super::record::{self, PLACES, RECORD_BYTES};
use super::reserved::Within;
use crate::lease::grant::Holding;

/// A slot that this process holds: its locked file, and the record in it.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(super) file: OwnFile,
    path: PathBuf,
    record: Record,
    /// The pin of the namespace, which renewals keep. `None` for an operator.
    pin: Option<Box<Pin>>,
    /// The reservation within which its windows lie, if a store has granted one.
    within: Option<Box<Within>>,
}

/// The result of an attempt to lock a slot.
pub(crate) enum Attempt {
    /// Another holder has the lock.
    Taken,
    /// The file is now locked. Its last record, or `None` if the file is new.
    Locked(OwnFile, Option<Record>),
    /// The file does not hold a valid record.
    Faulty(snowmint_core::Error),
}

/// Opens and locks the slot file at `path`, which is made if it is not there.
pub(crate) fn lock(path: &Path, mode: Option<u32>) -> io::Result<Attempt> {
    let file = match OwnFile::open(|| open(path, mode)) {
        Ok(file) => file,
        // The file of another user, or a link. The claim skips it.
        Err(_) if unusable(path) => return Ok(Attempt::Faulty(snowmint_core::Error::no_record())),
        Err(error) => return Err(error),
    };
    let locked = file.with(|file| match file.try_lock() {
        _ if mutant::removes("lock") => Ok(true),
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    })?;
    if !locked {
        return Ok(Attempt::Taken);
    }
    let mut bytes = [0; PLACES[1] + RECORD_BYTES];
    let length = file.with(|file| read(file, &mut bytes))?;
    Ok(match record::latest(&bytes[..length]) {
        Ok(record) => Attempt::Locked(file, record),
        Err(error) => Attempt::Faulty(error),
    })
}

impl Slot {
    /// Writes the first window of a new holder into a locked file.
    pub(crate) fn grant(
        file: OwnFile,
        path: PathBuf,
        previous: Option<Record>,
        window: Window,
        nonce: u128,
        label: [u8; LABEL_BYTES],
        layout: u64,
    ) -> io::Result<Self> {
        let record = Record {
            released: false,
            serial: previous.map_or(0, |record| record.serial),
            window,
            nonce,
            label,
            layout,
        };
        let mut slot = Self { file, path, record, pin: None, within: None };
        slot.write(window.end_ms)?;
        if previous.is_none() {
            // A new file is there for good only when its directory is synced too.
            #[cfg(unix)]
            slot.sync_directories()?;
        }
        Ok(slot)
    }

    /// Returns the same slot, whose renewals keep the pin.
    pub(crate) fn pinned(self, pin: Pin) -> Self {
        Self { pin: Some(Box::new(pin)), ..self }
    }

    /// Returns this slot, whose windows lie within a reservation.
    pub(super) fn within(self, within: Within) -> Self {
        Self { within: Some(Box::new(within)), ..self }
    }

    /// Syncs the directory of the file, and those above it that may be new too.
    #[cfg(unix)]
    fn sync_directories(&self) -> io::Result<()> {
        for directory in self.path.ancestors().skip(1).take(5) {
            match File::open(directory) {
                Ok(directory) => directory.sync_all()?,
                // What this user cannot open it has not made.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Checks that this process still holds the slot, then writes and syncs another end of the window.
    fn move_end(&mut self, end_ms: i64) -> io::Result<()> {
        self.verify()?;
        if end_ms == self.record.window.end_ms || mutant::removes("ahead") { Ok(()) } else { self.write(end_ms) }
    }

    /// Unlocks the slot without a change, for an operator, and returns its record.
    pub(super) fn put_back(self) -> io::Result<Record> {
        self.file.with(File::unlock)?;
        Ok(self.record)
    }

    /// Writes the end of the used part of the window, and unlocks the slot. Never call this in a forked child.
    pub(crate) fn give_back(mut self, end_ms: i64) -> io::Result<()> {
        self.move_end(end_ms)?;
        // A child of a raw clone has the open file too, so closing it here would not do.
        self.file.with(File::unlock)
    }

    fn write(&mut self, end_ms: i64) -> io::Result<()> {
        let window = Window { end_ms, ..self.record.window };
        let record = Record { serial: self.record.serial.saturating_add(1), window, ..self.record };
        let bytes = record::to_bytes(&record);
        for place in PLACES {
            self.file.with(|file| {
                write(file, &bytes, place)?;
                file.sync_data()
            })?;
        }
        self.record = record;
        Ok(())
    }

    /// Fails unless the path still leads to the locked file, and the file still holds the record of this holder.
    fn verify(&self) -> io::Result<()> {
        let mut bytes = [0; RECORD_BYTES];
        self.file.with(|file| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt;
                let (held, there) = (file.metadata()?, std::fs::symlink_metadata(&self.path)?);
                if (held.dev(), held.ino()) != (there.dev(), there.ino()) {
                    return Err(io::Error::other("another file has taken its place"));
                }
            }
            #[cfg(not(unix))]
            self.path.metadata()?;
            read(file, &mut bytes)
        })?;
        match record::from_bytes(&bytes) {
            Ok(record) if (record.nonce, record.serial) == (self.record.nonce, self.record.serial) => Ok(()),
            _ => Err(io::Error::other("somebody else has written to it")),
        }
    }
}

#[async_trait]
impl Holding for Slot {
    /// A slot that cannot be written, or belongs to another holder, is lost.
    async fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Outcome {
        let window = self.record.window;
        let mut end_ms = window.renewed_end_ms(now_ms, last_ms, reach_ms);
        let lost = |error: io::Error| Error::new(ErrorKind::StoreUnavailable, error.to_string());
        let (mut skew_ms, mut standby_risk) = (None, None);
        if self.within.is_some()
            && let Err(error) = self.verify()
        {
            return Outcome::Lost(lost(error));
        }
        if let Some(within) = &mut self.within {
            if let Err(error) = within.keep(&self.file, now_ms) {
                return Outcome::Lost(lost(error));
            }
            end_ms = within.end_of(Window { end_ms, ..window });
            if end_ms <= now_ms {
                return Outcome::Later(within.over());
            }
            (skew_ms, standby_risk) = (within.outer.skew_ms(), within.outer.standby_risk());
        }
        let kept =
            self.move_end(end_ms).map_err(lost).and_then(|()| self.pin.as_mut().map_or(Ok(()), |pin| pin.keep()));
        match kept {
            Ok(()) => Outcome::Window { window: Window { end_ms, ..window }, skew_ms, standby_risk },
            Err(error) => Outcome::Lost(error),
        }
    }

    async fn release(self: Box<Self>, end_ms: i64) {
        drop(self.give_back(end_ms));
    }
}

/// Returns whether the path leads to anything but a file that this user may open.
fn unusable(path: &Path) -> bool {
    let denied = || {
        plain_file::open(OpenOptions::new().read(true).write(true), path, true)
            .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    path.symlink_metadata().is_ok_and(|found| !found.is_file() || denied())
}

/// Opens the file, or makes it. Not both in one call: Linux refuses to open another user's file in a directory of
/// mode 1777 with `O_CREAT` (`fs.protected_regular`).
fn open(path: &Path, mode: Option<u32>) -> io::Result<File> {
    loop {
        match plain_file::open(OpenOptions::new().read(true).write(true), path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_once(path, "", mode)?,
            result => return result,
        }
    }
}

/// Reads from the start until the end or until `bytes` is full. Returns the number of bytes.
fn read(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    read_at(file, bytes, 0)
}
