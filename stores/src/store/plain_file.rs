//! Plain files, opened without waiting: a FIFO with the name of a file would block a caller for good.
//!
//! The crate `snowmint` keeps its slots in such files.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The longest text that is read whole, in bytes.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// How long a file of a store in use may rest before it is touched. Tidy-ups, as of `/var/tmp`, take files that rest for days.
pub const TOUCH_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Returns whether a file was last changed or touched at least [`TOUCH_INTERVAL`] ago.
pub fn rests(found: &Metadata) -> bool {
    found.modified().is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|rest| rest >= TOUCH_INTERVAL))
}

/// Sets the times of a file to now. If this user may not touch the file, its owner does.
pub fn touch(path: &Path) {
    #[cfg(unix)]
    {
        use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        let _ = utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
    }
    #[cfg(not(unix))]
    let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Opens a file by `options`. `follow` follows links.
///
/// # Errors
/// The system's; `InvalidData`, if the path is not a plain file.
pub fn open(options: &mut OpenOptions, path: &Path, follow: bool) -> io::Result<File> {
    #[cfg(unix)]
    {
        let flags = libc::O_NONBLOCK | if follow { 0 } else { libc::O_NOFOLLOW };
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags);
    }
    #[cfg(not(unix))]
    let _ = follow;
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "it is no plain file"))
    }
}

/// Reads a whole file, at most its first MiB.
///
/// # Errors
/// As of [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(OpenOptions::new().read(true), path, true)?.take(MAX_TEXT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
