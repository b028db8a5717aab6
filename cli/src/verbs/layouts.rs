//! `snowmint layouts`: prints a table of all presets, or a picture of each given layout.

use snowmint_core::{Layout, layouts};

use super::output;
use crate::arguments;
use crate::exit::Exit;
use crate::tables::{Figures, pictures, table};

/// Prints layouts.
pub fn layouts(options: &arguments::Layouts) -> Result<u8, Exit> {
    let given = options.layouts.iter().map(Layout::find).collect::<Result<Vec<_>, _>>()?;
    let presets: Vec<_> = layouts::all().map(|(_, layout)| layout).collect();
    if options.json {
        let shown = if given.is_empty() { presets } else { given };
        shown.iter().try_for_each(|layout| output::print_json(&Figures::of(layout)))?;
    } else if given.is_empty() {
        output::print(&table(&presets, output::is_bold()))?;
    } else {
        output::print(&pictures(&given, output::is_bold()))?;
    }
    Ok(0)
}
