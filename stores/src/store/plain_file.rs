//! Plain files, opened without waiting: a FIFO with the name of a file would block a caller for good.
//!
//! The crate `snowmint` keeps its slots in such files.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// The longest text that is read whole, in bytes.
const LONGEST: u64 = 1 << 20;

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
    open(OpenOptions::new().read(true), path, true)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
