//! `snowmint inspect`: prints the parts of IDs, or the systems that could have minted them.

use std::io;

use snowmint_core::{Integer, Layout, SystemHost};
use snowmint_inspect::inspect::inspect_integer;
use snowmint_stores::Error;

use super::input::{self, number as parse};
use super::output;
use crate::arguments;
use crate::exit::Exit;
use crate::tables::{Decoded, Found};

/// Prints each ID. A bad ID is reported, and the others are printed.
pub fn inspect(options: &arguments::Inspect) -> Result<u8, Exit> {
    let layout = options.layout.as_ref().map(Layout::find).transpose()?;
    input::each(&options.ids, |value| {
        // The number, if --format names the form.
        let number = options.format.map(|form| form.decode(value)).transpose()?;
        match &layout {
            Some(layout) => Ok(decoded(value, number, layout, options.json)?.map(|()| 0)),
            None => Ok(candidates(value, number, options.json)),
        }
    })
}

/// Prints an ID in one layout.
///
/// # Errors
/// `InvalidId`, if the layout cannot have minted the ID. The inner error is of standard output.
fn decoded(value: &str, number: Option<u64>, layout: &Layout, json: bool) -> Result<io::Result<()>, Error> {
    let value = number.map_or_else(|| parse(value), |number| Ok(number.into()))?;
    let decoded = Decoded::new(value, layout)?;
    Ok(if json { output::print_json(&decoded) } else { output::print(&decoded.text()) })
}

/// Prints the systems that could have minted an ID. Returns 1 if no system could have.
fn candidates(value: &str, number: Option<u64>, json: bool) -> io::Result<u8> {
    let now_ms = SystemHost::unix_ms();
    let (value, candidates) = match number {
        None => (value.to_owned(), snowmint_inspect::inspect(value, now_ms)),
        Some(id) => (id.to_string(), inspect_integer(Integer::from(id), now_ms)),
    };
    let found = Found::new(&value, &candidates);
    let printed = if json { output::print_json(&found) } else { output::print(&found.text(output::is_bold())) };
    printed.map(|()| candidates.is_empty().into())
}
