//! Small text files: the token, certificates and keys.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Reads a text file of at most `most` bytes. A wrong path may name a device that never ends.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("the file is longer than {most} bytes")));
    }
    Ok(text)
}
