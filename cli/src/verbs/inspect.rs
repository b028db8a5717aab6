//! `snowmint inspect`: prints the parts of IDs, or the systems that could have minted them.

use std::io;

use snowmint_core::{Integer, Layout, SystemHost};
use snowmint_inspect::inspect::inspect_integer;
use snowmint_inspect::render::{self, Decoded, Format};
use snowmint_stores::Error;

use super::input::{self, integer};
use super::output;
use crate::arguments;
use crate::exit::Exit;

/// An ID on the command line: its text, or its number if `--format` names the form.
enum Given {
    Text(String),
    Number(u64),
}

/// Prints each ID. A bad ID is reported, and the others are printed.
pub fn inspect(options: &arguments::Inspect) -> Result<u8, Exit> {
    let layout = options.layout.as_ref().map(Layout::find).transpose()?;
    let format = output::format(options.json);
    input::each(&options.ids, |value| {
        let given = match options.format {
            None => Given::Text(value.to_owned()),
            Some(form) => Given::Number(form.decode(value)?),
        };
        Ok(print(&given, layout.as_ref(), format)?.map(|is_known| u8::from(!is_known)))
    })
}

/// Prints an ID, and returns whether any known system could have minted it.
///
/// # Errors
/// `InvalidId`, if the layout cannot have minted the ID. The inner error is of standard output.
fn print(given: &Given, layout: Option<&Layout>, format: Format) -> Result<io::Result<bool>, Error> {
    let Some(layout) = layout else {
        let now_ms = SystemHost::unix_ms();
        let (value, found) = match given {
            Given::Text(text) => (text.clone(), snowmint_inspect::inspect(text, now_ms)),
            Given::Number(id) => (id.to_string(), inspect_integer(Integer::from(*id), now_ms)),
        };
        let printed = output::print(|out| render::candidates(out, &value, &found, format));
        return Ok(printed.map(|()| !found.is_empty()));
    };
    let value = match given {
        Given::Number(id) => Integer::from(*id),
        Given::Text(text) => integer(text)?,
    };
    let decoded = Decoded::new(value, layout)?;
    Ok(output::print(|out| decoded.write(out, format)).map(|()| true))
}
