//! `snowmint audit`: reads a list of IDs, and says why there are duplicates.

mod reader;

use std::fs::File;
use std::io::{BufReader, IsTerminal as _, stdin};
use std::path::Path;

use indicatif::ProgressBar;

use snowmint_core::Layout;
use snowmint_core::time::Rfc3339;
use snowmint_inspect::audit::{Audit, AuditOptions};

use self::reader::{Source, read};
use super::output;
use super::progress::{progress, working};
use crate::arguments;
use crate::exit::{Exit, complain};
use crate::tables::{ReportJson, report, svg};

/// The size of the buffer for reading: a large buffer saves calls of the system.
const BUFFER_BYTES: usize = 1 << 18;
/// The size of a file that takes a while, in bytes.
const LARGE_FILE_BYTES: u64 = 1 << 22;

/// Reads IDs, and prints the report. Exit code 1: findings; 2: lines that are no ID.
pub fn audit(options: &arguments::Audit) -> Result<u8, Exit> {
    let layout = Layout::find(&options.layout)?;
    let &arguments::Audit { since, until, jitter_ms, unordered, format, .. } = options;
    if let Some((since, until)) = since.zip(until).filter(|(since, until)| since > until) {
        let (since, until) = (Rfc3339(since), Rfc3339(until));
        return Err(Exit::Wrong(format!(
            "--since {since} is later than --until {until}: every ID would be a finding, so give an earlier --since"
        )));
    }
    let mut terms = AuditOptions::default().jitter_ms(jitter_ms).unordered(unordered);
    (terms.since_ms, terms.until_ms) = (since, until);
    let source = Source { format, prefix: options.prefix, column: options.column.as_deref() };
    let ids = Audit::new(&layout, &terms);
    let bytes = bytes_read(options.file.as_deref());
    let reading = match &options.file {
        Some(path) => {
            let file = File::open(path).map_err(|error| Exit::Wrong(format!("{}: {error}", path.display())))?;
            read(BufReader::with_capacity(BUFFER_BYTES, bytes.wrap_read(file)), ids, &source)?
        }
        None => read(BufReader::with_capacity(BUFFER_BYTES, bytes.wrap_read(stdin().lock())), ids, &source)?,
    };
    let is_shown = !bytes.is_hidden();
    drop(bytes);
    reading.complaints.iter().for_each(complain);
    let line = is_shown.then(|| working("looking for faults"));
    let found = reading.audit.finish();
    drop(line);
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

/// Returns the progress of reading, which is hidden for short files and while a user types the IDs.
fn bytes_read(file: Option<&Path>) -> ProgressBar {
    match file.map(|path| path.metadata().map_or(0, |file| file.len())) {
        Some(..LARGE_FILE_BYTES) => ProgressBar::hidden(),
        Some(size) => progress(Some(size), "[{bar:24}] {bytes} of {total_bytes}, {eta} left"),
        None if stdin().is_terminal() => ProgressBar::hidden(),
        None => progress(None, "{spinner} {bytes} read"),
    }
}
