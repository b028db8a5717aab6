//! `snowmint audit`: reads a list of IDs, and says why there are duplicates.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, stderr, stdin};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use snowmint::audit::{Audit, AuditOptions};
use snowmint_core::Layout;
use snowmint_inspect::audit::{Reader, Source};

use super::output;
use crate::arguments;
use crate::exit::{Exit, complain};

/// Memory for reading: fewer calls of the system for a file of many MB.
const BUFFER: usize = 1 << 18;
/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Reads IDs, and prints the report. Exit code 1: findings; 2: lines that are no ID.
pub fn audit(options: &arguments::Audit) -> Result<u8, Exit> {
    let layout = Layout::find(&options.layout)?;
    let bar = bar(options.file.as_deref());
    let mut ids = reader(options, &layout);
    match &options.file {
        Some(path) => {
            let file = File::open(path).map_err(|error| Exit::Wrong(format!("{}: {error}", path.display())))?;
            read(&mut ids, BufReader::with_capacity(BUFFER, bar.wrap_read(file)))?;
        }
        None => read(&mut ids, BufReader::with_capacity(BUFFER, bar.wrap_read(stdin().lock())))?,
    }
    bar.finish_and_clear();
    let reading = ids.end().map_err(Exit::Wrong)?;
    reading.complaints.iter().for_each(complain);
    let report = reading.audit.finish();
    if let Some(path) = &options.svg {
        let mut svg = String::new();
        report.plot(&mut svg).map_err(std::io::Error::other)?;
        std::fs::write(path, svg).map_err(|error| Exit::Failed(format!("{}: {error}", path.display())))?;
    }
    output::print(|out| report.write(out, output::format(options.json)))?;
    Ok(match (reading.wrong, report.findings()) {
        (0, []) => 0,
        (0, _) => 1,
        _ => 2,
    })
}

fn reader(options: &arguments::Audit, layout: &Layout) -> Reader {
    let &arguments::Audit { since, until, jitter_ms, unordered, format, .. } = options;
    let terms = AuditOptions { since_ms: since, until_ms: until, jitter_ms, unordered };
    let source = Source { format, prefix: options.prefix, column: options.column.clone() };
    Reader::new(Audit::new(layout, &terms), source)
}

fn read(ids: &mut Reader, mut input: impl BufRead) -> Result<(), Exit> {
    if input.fill_buf()?.starts_with(PARQUET) {
        let sentence = "the input is a Parquet file: export the column with the IDs as CSV, for example by DuckDB";
        return Err(Exit::Wrong(sentence.to_owned()));
    }
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        ids.push(bytes).map_err(Exit::Wrong)?;
        let read = bytes.len();
        input.consume(read);
    }
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
