//! Prints tables and lines of `snowmint_inspect::render` to standard output.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _, stdout};

use snowmint_inspect::render::Format;

/// Returns JSON if the user asked for it, otherwise text, with bold headlines on a terminal that shows them.
pub fn format(json: bool) -> Format {
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let bold =
        stdout().is_terminal() && unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    Format::of(json, bold)
}

/// Prints the text that `write` makes.
pub fn print(write: impl FnOnce(&mut String) -> fmt::Result) -> io::Result<()> {
    let mut text = String::new();
    write(&mut text).map_err(io::Error::other)?;
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
