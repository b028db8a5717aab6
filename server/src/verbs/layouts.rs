//! `snowmint layouts`: prints a table of all presets, or a picture of each given layout.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use snowmint_core::{Layout, layouts};

use crate::arguments;
use crate::exit::Exit;
use crate::json;
use crate::show::{self, Style};

/// Shows them.
pub fn layouts(options: &arguments::Layouts) -> Result<ExitCode, Exit> {
    let given = options.layouts.iter().map(Layout::find).collect::<Result<Vec<_>, _>>()?;
    let chosen = if given.is_empty() { layouts::all().map(|(_, layout)| layout).collect() } else { given };
    let mut out = stdout().lock();
    if options.json {
        for layout in &chosen {
            json::write_line(&mut out, &show::Figures::of(layout))?;
        }
    } else if options.layouts.is_empty() {
        writeln!(out, "{}", show::table(&chosen, Style::of_terminal()))?;
    } else {
        let pictures: Vec<_> = chosen.iter().map(|layout| show::picture(layout, Style::of_terminal())).collect();
        writeln!(out, "{}", pictures.join("\n\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
