//! `snowmint inspect`: what IDs say.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, Write as _, stdin, stdout};
use std::process::ExitCode;

use snowmint_core::inspect::inspect_integer;
use snowmint_core::{ErrorKind, Integer, Layout, SystemHost};
use snowmint_stores::Error;

use crate::arguments;
use crate::exit::{Exit, complain};
use crate::json;
use crate::show::{self, Decoded, Found, Style};

/// An ID as it was given.
enum Given {
    Text(String),
    Number(u64),
}

/// Takes them apart, one by one: a bad one is reported, and the others are shown.
pub fn inspect(options: &arguments::Inspect) -> Result<ExitCode, Exit> {
    let layout = options.layout.as_ref().map(Layout::find).transpose()?;
    let mut code = 0;
    let mut each = |value: String| -> Result<(), Exit> {
        let given = match options.format {
            None => Ok(Given::Text(value.clone())),
            Some(form) => form.decode(&value).map(Given::Number).map_err(Error::from),
        };
        let mut out = stdout().lock();
        let shown = given.and_then(|given| match &layout {
            Some(layout) => Ok(Err(decoded(&given, layout)?)),
            None => Ok(Ok(candidates(&given))),
        });
        match shown {
            Err(error) => {
                complain(format_args!("{value}: {error}"));
                code = 2;
            }
            Ok(Err(told)) if options.json => json::write_line(&mut out, &told)?,
            Ok(Err(told)) => writeln!(out, "{}", show::decoded(&told))?,
            Ok(Ok(found)) => {
                code = code.max(u8::from(found.candidates.is_empty()));
                if options.json {
                    json::write_line(&mut out, &found)?;
                } else {
                    writeln!(out, "{}", show::candidates(&found, Style::of_terminal()))?;
                }
            }
        }
        Ok(out.flush()?)
    };
    if options.ids.is_empty() {
        for line in lines() {
            each(line?)?;
        }
    } else {
        options.ids.iter().cloned().try_for_each(&mut each)?;
    }
    Ok(ExitCode::from(code))
}

/// The lines of standard input that are not blank. What is no text is no ID either, and shown as it is.
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

fn decoded(given: &Given, layout: &Layout) -> Result<Decoded, Error> {
    let id = match given {
        Given::Number(id) => *id,
        Given::Text(text) => integer(text)?.id()?,
    };
    Ok(Decoded::new(id, text_of(given, id), layout)?)
}

/// As a decimal, the signed form too.
fn text_of(given: &Given, id: u64) -> String {
    match given {
        Given::Text(text) if text.starts_with('-') => text.parse::<i128>().unwrap_or_default().to_string(),
        _ => id.to_string(),
    }
}

fn integer(text: &str) -> Result<Integer, Error> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !(1..=40).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::told(
            ErrorKind::InvalidId,
            "an ID is an integer from -2^63 to 2^64-1; --format names another form",
        ));
    }
    Ok(match digits.parse::<u64>() {
        Err(_) => Integer::Beyond,
        Ok(magnitude) if text.starts_with('-') && magnitude > 0 => Integer::Negative(magnitude),
        Ok(number) => Integer::Fits(number),
    })
}

fn candidates(given: &Given) -> Found {
    let now_ms = SystemHost::unix_ms();
    match given {
        Given::Text(text) => Found::new(text.clone(), &snowmint_core::inspect(text, now_ms)),
        Given::Number(id) => Found::new(id.to_string(), &inspect_integer(Integer::from(*id), now_ms)),
    }
}
