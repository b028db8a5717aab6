//! Plain files, opened without waiting for anybody: a FIFO in the place of one would hold a caller up for good.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// The longest text that is read whole, in bytes.
const LONGEST: u64 = 1 << 20;

/// Opens a file as `options` say. What is no file is refused, and a link too if `follow` is not set.
pub(crate) fn open(options: &mut OpenOptions, path: &Path, follow: bool) -> io::Result<File> {
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

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(OpenOptions::new().read(true), path, true)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
