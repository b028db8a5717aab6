//! Reads and writes at places of an open file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Reads from `place` until the end or until `bytes` is full. Returns the number of bytes.
pub(super) fn read_at(mut file: &File, bytes: &mut [u8], place: usize) -> io::Result<usize> {
    file.seek(SeekFrom::Start(place as u64))?;
    let mut length = 0;
    while length < bytes.len() {
        match file.read(&mut bytes[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

/// Writes all bytes from `place` on.
pub(super) fn write(mut file: &File, bytes: &[u8], place: usize) -> io::Result<()> {
    file.seek(SeekFrom::Start(place as u64))?;
    file.write_all(bytes)
}
