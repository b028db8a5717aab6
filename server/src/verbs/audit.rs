//! `snowmint audit`: reads a pile of IDs, and says why there are duplicates.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read, stderr, stdin};
use std::path::Path;
use std::process::ExitCode;
use std::str;

use indicatif::{ProgressBar, ProgressStyle};
use snowmint::audit::{Audit, AuditOptions};
use snowmint_core::Layout;
use snowmint_stores::Error;

use super::input::integer;
use super::output;
use crate::arguments;
use crate::exit::{Exit, complain};

/// So many wrong lines are shown.
const SHOWN: u64 = 10;
/// So many wrong lines at the begin, and no other, mean that the input is of another kind.
const HOPELESS: u64 = 1000;
/// Memory for reading: fewer calls of the system for a file of many MB.
const BUFFER: usize = 1 << 18;
/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Reads IDs, and prints the report. Exit code 1: findings; 2: lines that are no ID.
pub fn audit(options: &arguments::Audit) -> Result<ExitCode, Exit> {
    let layout = Layout::find(&options.layout)?;
    let bar = bar(options.file.as_deref());
    let mut ids = Ids::new(options, &layout);
    match &options.file {
        Some(path) => {
            let file = File::open(path).map_err(|error| Exit::Wrong(format!("{}: {error}", path.display())))?;
            read(options, &mut ids, BufReader::with_capacity(BUFFER, bar.wrap_read(file)))?;
        }
        None => read(options, &mut ids, BufReader::with_capacity(BUFFER, bar.wrap_read(stdin().lock())))?,
    }
    bar.finish_and_clear();
    let wrong = ids.wrong;
    let report = ids.end()?.finish();
    if let Some(path) = &options.svg {
        let mut svg = String::new();
        report.plot(&mut svg).map_err(std::io::Error::other)?;
        std::fs::write(path, svg).map_err(|error| Exit::Failed(format!("{}: {error}", path.display())))?;
    }
    output::print(|out| report.write(out, output::format(options.json)))?;
    Ok(match (wrong, report.findings()) {
        (0, []) => ExitCode::SUCCESS,
        (0, _) => ExitCode::FAILURE,
        _ => ExitCode::from(2),
    })
}

fn read(options: &arguments::Audit, ids: &mut Ids<'_>, mut input: impl BufRead) -> Result<(), Exit> {
    let is_parquet = input.fill_buf()?.starts_with(PARQUET);
    match &options.column {
        column if is_parquet => read_parquet(ids, input, column.as_deref()),
        Some(column) => csv::read(ids, input, column),
        None => read_lines(ids, input),
    }
}

#[cfg(feature = "parquet")]
fn read_parquet(ids: &mut Ids<'_>, input: impl Read, column: Option<&str>) -> Result<(), Exit> {
    parquet::read(ids, input, column)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(_: &mut Ids<'_>, _: impl Read, _: Option<&str>) -> Result<(), Exit> {
    let sentence = "the input is a Parquet file, which this build does not read: build snowmint-server with --features \
                    parquet, or export the column as CSV";
    Err(Exit::Wrong(sentence.to_owned()))
}

fn read_lines(ids: &mut Ids<'_>, mut input: impl BufRead) -> Result<(), Exit> {
    let mut line = Vec::with_capacity(64);
    while input.read_until(b'\n', &mut line)? > 0 {
        ids.add(&line)?;
        line.clear();
    }
    Ok(())
}

/// The IDs so far, and the lines without a valid ID.
struct Ids<'a> {
    options: &'a arguments::Audit,
    audit: Audit,
    wrong: u64,
    /// Sentences about the first wrong lines.
    refused: Vec<String>,
}

impl<'a> Ids<'a> {
    fn new(options: &'a arguments::Audit, layout: &Layout) -> Self {
        let &arguments::Audit { since, until, jitter_ms, unordered, .. } = options;
        let terms = AuditOptions { since_ms: since, until_ms: until, jitter_ms, unordered };
        Self { options, audit: Audit::new(layout, &terms), wrong: 0, refused: Vec::new() }
    }

    /// Adds the ID of the next line. An empty one is passed over, a wrong one is counted.
    fn add(&mut self, text: &[u8]) -> Result<(), Exit> {
        let text = text.trim_ascii();
        if text.is_empty() {
            self.audit.skip();
            return Ok(());
        }
        // The usual form, without a detour over errors.
        if self.options.format.is_none()
            && self.options.prefix.is_none()
            && text[0].is_ascii_digit()
            && let Some(id) = str::from_utf8(text).ok().and_then(|text| text.parse().ok())
        {
            self.audit.add(id);
            return Ok(());
        }
        match self.parse(text) {
            Ok(id) => self.audit.add(id),
            Err(error) => self.refuse(&String::from_utf8_lossy(text), &error.to_string())?,
        }
        Ok(())
    }

    fn parse(&self, text: &[u8]) -> Result<u64, Error> {
        match (self.options.format, &self.options.prefix) {
            (Some(form), _) => form.decode(text).map_err(Error::from),
            (None, Some(prefix)) => prefix.decode(text).map_err(Error::from),
            (None, None) => integer(&String::from_utf8_lossy(text))?.id().map_err(Error::from),
        }
    }

    /// Counts a wrong line.
    ///
    /// # Errors
    /// If all lines so far are wrong, and they are many.
    fn refuse(&mut self, value: &str, error: &str) -> Result<(), Exit> {
        self.wrong += 1;
        if self.wrong <= SHOWN {
            self.refused.push(format!("line {}: \"{}\": {error}", self.audit.line(), value.escape_debug()));
        }
        self.audit.skip_unreadable();
        if self.audit.is_empty() && self.wrong == HOPELESS {
            return Err(self.hopeless());
        }
        Ok(())
    }

    fn hopeless(&self) -> Exit {
        let column = if self.options.column.is_none() { ", or --column names a column of CSV" } else { "" };
        Exit::Wrong(format!("no line is an ID, the first is {}{column}", self.refused[0]))
    }

    /// Returns the audit of all IDs.
    ///
    /// # Errors
    /// If there is no ID.
    fn end(self) -> Result<Audit, Exit> {
        if self.audit.is_empty() {
            return Err(match self.wrong {
                0 => Exit::Wrong("there is no ID: give one ID per line, or a file".to_owned()),
                _ => self.hopeless(),
            });
        }
        self.refused.iter().for_each(complain);
        if self.wrong > SHOWN {
            complain(format_args!("{} more lines are no ID", self.wrong - SHOWN));
        }
        Ok(self.audit)
    }
}

/// Returns the error for a missing column, with the names of the existing columns.
fn no_column(name: &str, columns: &[String]) -> Exit {
    let names = columns.iter().map(|column| format!("\"{}\"", column.escape_debug())).collect::<Vec<_>>().join(", ");
    Exit::Wrong(format!("there is no column \"{}\": --column takes one of {names}", name.escape_debug()))
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
