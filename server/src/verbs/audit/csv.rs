//! A column of CSV.

use std::io::BufRead;

use csv::{ByteRecord, Error, ErrorKind, ReaderBuilder};

use super::{Ids, no_column};
use crate::exit::Exit;

/// The characters between columns, in the order in which they are tried.
const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];

/// Reads the IDs of a column. The first line names the columns.
pub(super) fn read(ids: &mut Ids<'_>, mut input: impl BufRead, column: &str) -> Result<(), Exit> {
    // The header decides which character stands between columns.
    let mut header = Vec::new();
    input.read_until(b'\n', &mut header)?;
    let header = header.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&header);
    let named = DELIMITERS.map(|delimiter| (delimiter, names(header, delimiter)));
    let found = named.iter().find_map(|(delimiter, names)| {
        let at = names.iter().position(|name| name == column)?;
        Some((*delimiter, at))
    });
    let Some((delimiter, at)) = found else {
        let most = named.into_iter().map(|(_, names)| names).max_by_key(Vec::len);
        return Err(no_column(column, &most.unwrap_or_default()));
    };
    ids.audit.skip();
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(input);
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(failed)? {
        // Blank lines, and line ends inside of quotes, have no record.
        let line = record.position().map_or(0, |position| position.line() + 1);
        while ids.audit.line() < line {
            ids.audit.skip();
        }
        match record.get(at) {
            Some(text) => ids.add(text)?,
            None => ids.refuse(
                &String::from_utf8_lossy(&record.iter().collect::<Vec<_>>().join(&delimiter)),
                "the line has too few columns",
            )?,
        }
    }
    Ok(())
}

fn names(header: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(header);
    let first = reader.byte_records().next().and_then(Result::ok).unwrap_or_default();
    first.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

/// Returns an error of the input. CSV itself has none here: lines of any length and any bytes are records.
fn failed(error: Error) -> Exit {
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        other => Exit::Wrong(format!("the input is not CSV: {other:?}")),
    }
}
