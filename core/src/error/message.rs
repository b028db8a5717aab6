//! The messages of errors.

use core::fmt::{self, Write};

use super::{BEYOND, Error, MINUS};
use crate::forms::text::TextForm;
use crate::int::write_decimal;
use crate::layout::layouts;
use crate::time;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message(f, self.what.message(), self.mark, self.numbers)
    }
}

fn write_message(f: &mut fmt::Formatter<'_>, message: &str, mark: u32, [a, b]: [u64; 2]) -> fmt::Result {
    let mut parts = message.split(['{', '}']);
    #[cfg(feature = "formatted")]
    let mut braces = ["{", "}"].into_iter().cycle();
    while let Some(text) = parts.next() {
        f.write_str(text)?;
        match parts.next() {
            None => break,
            #[cfg(feature = "formatted")]
            Some("") => f.write_str(braces.next().unwrap_or_default())?,
            Some("a") => write_decimal(f, a, 1)?,
            Some("b") => write_decimal(f, b, 1)?,
            Some("t") => time::write_rfc3339(f, a.cast_signed())?,
            Some("u") => time::write_rfc3339(f, b.cast_signed())?,
            Some("m") => match mark >> 2 {
                bits @ ..=64 => write_decimal(f, u64::MAX.checked_shr(64 - bits).unwrap_or(0), 1)?,
                bits => {
                    f.write_str("2^")?;
                    write_decimal(f, bits.into(), 1)?;
                    f.write_str("-1")?;
                }
            },
            Some("f") => f.write_str(TextForm::ALL[mark as usize].name())?,
            Some("p") => layouts::write_names(f)?,
            Some("k") => write_decimal(f, mark.into(), 1)?,
            Some("n") => write_name(f, u128::from(a) | (u128::from(b) << 64))?,
            Some("c") => write_name(f, a.into())?,
            Some("d") => write_name(f, b.into())?,
            Some(_) if mark & 3 == BEYOND => f.write_str("beyond 64 bits")?,
            Some(_) => {
                f.write_str(if mark & 3 == MINUS { "-" } else { "" })?;
                write_decimal(f, a, 1)?;
            }
        }
    }
    Ok(())
}

/// Writes the characters in the bytes of a number, from the lowest on.
fn write_name(f: &mut fmt::Formatter<'_>, name: u128) -> fmt::Result {
    name.to_le_bytes().into_iter().take_while(|byte| *byte != 0).try_for_each(|byte| f.write_char(char::from(byte)))
}
