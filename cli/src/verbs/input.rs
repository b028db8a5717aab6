//! IDs on the command line and on standard input.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, stdin};

use snowmint_core::{ErrorKind, Integer};
use snowmint_stores::Error;

/// Returns the lines of standard input that are not blank. Bytes that are not UTF-8 become `\xff`, which no ID contains.
pub(super) fn lines() -> impl Iterator<Item = io::Result<String>> {
    let text = |line: Vec<u8>| {
        let mut text = String::new();
        for chunk in line.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        text.trim().to_owned()
    };
    let lines = stdin().lock().split(b'\n').map(move |line| line.map(text));
    lines.filter(|line| line.as_ref().map_or(true, |line| !line.is_empty()))
}

/// Reads a decimal number of any size, with or without a minus sign.
pub(super) fn integer(text: &str) -> Result<Integer, Error> {
    snowmint_inspect::audit::integer(text).map_err(|sentence| Error::told(ErrorKind::InvalidId, sentence))
}
