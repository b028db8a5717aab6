//! The file of a slot with its reservation: the reservation twice, behind the two records of the slot.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use snowmint_core::host::mix;
use snowmint_core::lease::{FileIdentity, RESERVATION_BYTES, Record, Reservation};
use snowmint_core::time::Rfc3339;
use snowmint_core::{ErrorKind, Window};
use snowmint_stores::host::fork::OwnFile;
use snowmint_stores::host::plain_file;
use snowmint_stores::{Error, Version};

use super::blocks::{read_at, write};
use super::directory::cannot;
use crate::lease::outer::Outer;

/// The places of the two reservations, in separate blocks.
const PLACES: [usize; 2] = [8192, 12_288];
/// Length of a reservation and its checksum in bytes.
const BYTES: usize = RESERVATION_BYTES + 4;

/// The reservation within which a process takes the windows of a slot.
#[derive(Debug)]
pub(crate) struct Within {
    pub(super) outer: Arc<Outer>,
    /// The reservation in the file: no window of the slot ends later.
    written: Reservation,
}

/// The reservation in the file of a slot.
#[derive(Debug)]
pub(crate) enum Found {
    /// The file has no reservation.
    Nothing,
    /// The reservation belongs to another file, of which this one is a copy, or to an earlier start of this machine.
    Foreign,
    Own(Reservation),
}

/// Reads the reservation in the file of a slot.
pub(super) fn find(file: &OwnFile, path: &Path) -> Result<Found, Error> {
    let found = file.with(|file| Ok((identity(file, path)?, read(file)?)));
    let (identity, found) = found.map_err(|error| cannot("read", path, &error))?;
    Ok(match found {
        None => Found::Nothing,
        Some(reservation) if reservation.is_in(&identity) => Found::Own(reservation),
        Some(_) => Found::Foreign,
    })
}

/// Returns the reserved window of a slot's file, for operators.
pub(super) fn window(path: &Path) -> Option<Window> {
    let file = plain_file::open(File::options().read(true), path, false).ok()?;
    let reservation = read(&file).ok()??;
    identity(&file, path).is_ok_and(|identity| reservation.is_in(&identity)).then_some(reservation.record.window)
}

/// Returns the reservation that the store has granted, for a slot's file.
pub(super) fn of(file: &OwnFile, path: &Path, (record, version): (Record, Version)) -> Result<Reservation, Error> {
    let identity = file.with(|file| identity(file, path)).map_err(|error| cannot("use", path, &error))?;
    Ok(Reservation { identity, version, record })
}

/// Writes a reservation into a slot's file, durably.
pub(super) fn keep(file: &OwnFile, path: &Path, reservation: &Reservation) -> Result<(), Error> {
    file.with(|file| put_reservation(file, reservation)).map_err(|error| cannot("write", path, &error))
}

impl Within {
    pub(super) const fn new(outer: Arc<Outer>, written: Reservation) -> Self {
        Self { outer, written }
    }

    /// Returns the end of a window as the reservation limits it, Unix ms.
    pub(super) fn end_of(&self, window: Window) -> i64 {
        self.written.within(window).map_or(self.written.record.window.end_ms, |within| within.end_ms)
    }

    /// Returns the error of a reservation that is over.
    pub(super) fn over(&self) -> Error {
        self.outer.trouble().1.unwrap_or_else(|| {
            let end = Rfc3339(self.written.record.window.end_ms);
            Error::new(
                ErrorKind::StoreUnavailable,
                format!("the reservation has ended at {end}, and is not renewed yet"),
            )
        })
    }

    /// Keeps the reservation: begins its renewal if it is due, and writes newer grants of the store to the file.
    pub(super) fn keep(&mut self, file: &OwnFile, now_ms: i64) -> io::Result<()> {
        drop(self.outer.begin(now_ms));
        if let Some(lost) = self.outer.lost() {
            // A process that starts while the store is unreachable must not use it.
            file.with(|file| put_reservation(file, &self.written.given_up()))?;
            return Err(io::Error::other(lost.to_string()));
        }
        let granted = self.outer.granted();
        if granted != (self.written.record, self.written.version) {
            let (record, version) = granted;
            let reservation = Reservation { version, record, ..self.written };
            file.with(|file| put_reservation(file, &reservation))?;
            self.written = reservation;
        }
        Ok(())
    }
}

/// Writes a reservation at both places, one after the other: at any moment one of them is whole.
fn put_reservation(file: &File, reservation: &Reservation) -> io::Result<()> {
    let mut bytes = [0; BYTES];
    let (content, sum) = bytes.split_at_mut(RESERVATION_BYTES);
    content.copy_from_slice(&reservation.to_bytes());
    sum.copy_from_slice(&crc32fast::hash(content).to_le_bytes());
    for place in PLACES {
        write(file, &bytes, place)?;
        file.sync_data()?;
    }
    Ok(())
}

/// Reads both copies of the reservation, and returns the later one that is complete. `None` without a complete copy.
fn read(file: &File) -> io::Result<Option<Reservation>> {
    let mut latest: Option<Reservation> = None;
    for place in PLACES {
        let mut bytes = [0; BYTES];
        let length = read_at(file, &mut bytes, place)?;
        let (content, sum) = bytes.split_at(RESERVATION_BYTES);
        if length == BYTES
            && sum == crc32fast::hash(content).to_le_bytes()
            && let Ok(found) = Reservation::from_bytes(content)
            && latest.is_none_or(|latest| latest.record.serial < found.record.serial)
        {
            latest = Some(found);
        }
    }
    Ok(latest)
}

/// Returns the identity of an open file.
fn identity(file: &File, path: &Path) -> io::Result<FileIdentity> {
    /// The directories of the store and of the namespace, and the file.
    const PARTS: usize = 3;
    let boot = boot().map_err(io::Error::other)?;
    let parts = path.iter().rev().take(PARTS).flat_map(|part| part.as_encoded_bytes().iter().chain(b"/"));
    let name = parts.fold(0, |hash, byte| mix(hash, u64::from(*byte)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = file.metadata()?;
        let born = found.created().ok().and_then(|born| born.duration_since(SystemTime::UNIX_EPOCH).ok());
        let born_ns = born.and_then(|born| u64::try_from(born.as_nanos()).ok()).unwrap_or_default();
        Ok(FileIdentity { boot, device: found.dev(), inode: found.ino(), born_ns, name })
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(FileIdentity { boot, device: 0, inode: 0, born_ns: 0, name })
    }
}

/// Returns the number that the kernel has drawn when this machine started.
pub(crate) fn boot() -> Result<u128, Error> {
    static BOOT: OnceLock<Option<u128>> = OnceLock::new();
    let read = || {
        let text = std::fs::read_to_string(Path::new("/proc/sys/kernel/random/boot_id")).ok()?;
        u128::from_str_radix(&text.trim_end().replace('-', ""), 16).ok()
    };
    BOOT.get_or_init(read).ok_or_else(|| Reservation::no_directory().into())
}
