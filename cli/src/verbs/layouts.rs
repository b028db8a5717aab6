//! `snowmint layouts`: prints a table of all presets, or a picture of each given layout.

use snowmint_core::{Layout, layouts};
use snowmint_inspect::render;

use super::output;
use crate::arguments;
use crate::exit::Exit;

/// Prints layouts.
pub fn layouts(options: &arguments::Layouts) -> Result<u8, Exit> {
    let given = options.layouts.iter().map(Layout::find).collect::<Result<Vec<_>, _>>()?;
    let format = output::format(options.json);
    let presets: Vec<_> = layouts::all().map(|(_, layout)| layout).collect();
    output::print(|out| match given.as_slice() {
        [] => render::table(out, &presets, format),
        given => render::pictures(out, given, format),
    })?;
    Ok(0)
}
