//! IDs on the command line and on standard input.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, stdin};

use snowmint_core::{ErrorKind, Integer};
use snowmint_stores::Error;

use crate::exit::{Exit, complain};

/// Returns the lines of standard input that are not blank. Bytes that are not UTF-8 become `\xff`, which no ID contains.
fn lines() -> impl Iterator<Item = io::Result<String>> {
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

/// Passes each ID to `print`. The IDs are arguments of the command line, or else the lines of standard input. `print`
/// returns the exit code of the ID. A bad ID is reported, and the others are printed. Returns the highest exit code, 2
/// for a bad ID.
pub(super) fn each(ids: &[String], mut print: impl FnMut(&str) -> Result<io::Result<u8>, Error>) -> Result<u8, Exit> {
    let mut code = 0;
    let mut one = |value: &str| -> Result<(), Exit> {
        code = code.max(match print(value) {
            Ok(printed) => printed?,
            Err(error) => {
                complain(format_args!("{value}: {error}"));
                2
            }
        });
        Ok(())
    };
    if ids.is_empty() {
        for line in lines() {
            one(&line?)?;
        }
    } else {
        ids.iter().try_for_each(|id| one(id))?;
    }
    Ok(code)
}

/// Reads a number, as [`integer`].
pub(super) fn number(text: &str) -> Result<Integer, Error> {
    integer(text).map_err(|message| Error::new(ErrorKind::InvalidId, message))
}

/// Reads a decimal number of any size, with or without a minus sign.
///
/// # Errors
/// A message for any other text.
pub fn integer(text: impl AsRef<[u8]>) -> Result<Integer, &'static str> {
    Integer::parse(text).ok_or("an ID is an integer from -2^63 to 2^64-1; --format names another form")
}
