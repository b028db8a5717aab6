//! `snowmint audit`: reads a list of IDs, and says why there are duplicates.

mod reader;

use std::fs::File;
use std::io::{BufReader, IsTerminal as _, stderr, stdin};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use snowmint_core::Layout;
use snowmint_inspect::audit::{Audit, AuditOptions};

use self::reader::{Source, read};
use super::output;
use crate::arguments;
use crate::exit::{Exit, complain};
use crate::tables::{ReportJson, report, svg};

/// Memory for reading: fewer calls of the system for a file of many MB.
const BUFFER: usize = 1 << 18;

/// Reads IDs, and prints the report. Exit code 1: findings; 2: lines that are no ID.
pub fn audit(options: &arguments::Audit) -> Result<u8, Exit> {
    let layout = Layout::find(&options.layout)?;
    let &arguments::Audit { since, until, jitter_ms, unordered, format, .. } = options;
    let terms = AuditOptions { since_ms: since, until_ms: until, jitter_ms, unordered };
    let source = Source { format, prefix: options.prefix, column: options.column.as_deref() };
    let ids = Audit::new(&layout, &terms);
    let bar = bar(options.file.as_deref());
    let reading = match &options.file {
        Some(path) => {
            let file = File::open(path).map_err(|error| Exit::Wrong(format!("{}: {error}", path.display())))?;
            read(BufReader::with_capacity(BUFFER, bar.wrap_read(file)), ids, &source)?
        }
        None => read(BufReader::with_capacity(BUFFER, bar.wrap_read(stdin().lock())), ids, &source)?,
    };
    bar.finish_and_clear();
    reading.complaints.iter().for_each(complain);
    let found = reading.audit.finish();
    if let Some(path) = &options.svg {
        std::fs::write(path, svg(&found)).map_err(|error| Exit::Failed(format!("{}: {error}", path.display())))?;
    }
    if options.json {
        output::print_json(&ReportJson::from(&found))?;
    } else {
        output::print(&report(&found, output::is_bold()))?;
    }
    Ok(match (reading.wrong, &found.findings[..]) {
        (0, []) => 0,
        (0, _) => 1,
        _ => 2,
    })
}

/// Returns a progress bar on standard error. It is hidden unless that is a terminal and standard output is not, or the input
/// is short.
fn bar(file: Option<&Path>) -> ProgressBar {
    let size = file.and_then(|path| path.metadata().ok()).map(|file| file.len());
    if !stderr().is_terminal() || size.is_some_and(|size| size < 1 << 22) || (file.is_none() && stdin().is_terminal()) {
        return ProgressBar::hidden();
    }
    let (bar, template) = match size {
        Some(size) => (ProgressBar::new(size), "{bar:40} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}  {bytes_per_sec}"),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
