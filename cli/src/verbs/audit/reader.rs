//! Reads the IDs of an audit: one ID a line, or a column of CSV.

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder, Terminator};
use snowmint_core::TextForm;
use snowmint_core::prefix::Prefix;
use snowmint_core::shown::Shown;
use snowmint_inspect::audit::Audit;

use crate::exit::Exit;
use crate::verbs::input::integer;

/// The most wrong lines that are shown.
const MAX_COMPLAINTS: u64 = 10;
/// How many wrong lines at the beginning, and no other line, mean that the input is of another kind.
const MAX_WRONG_LINES: u64 = 1000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";
/// The characters between columns, in the order in which they are tried.
const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];

/// How the IDs are written in the text.
#[derive(Debug, Default)]
pub(super) struct Source<'a> {
    /// The form of the IDs; `None`: decimal numbers without padding.
    pub(super) format: Option<TextForm>,
    /// The prefix of the IDs, where `format` is `None`.
    pub(super) prefix: Option<Prefix>,
    /// The column of the IDs; `None`: each line is an ID.
    pub(super) column: Option<&'a str>,
}

/// The IDs of a text.
#[derive(Debug)]
pub(super) struct Reading {
    /// The audit of all IDs.
    pub(super) audit: Audit,
    /// The number of lines that are no ID.
    pub(super) wrong: u64,
    /// Messages about the wrong lines.
    pub(super) complaints: Vec<String>,
}

/// Reads a text to its end. An empty line is passed over, and a wrong one is counted.
///
/// # Errors
/// `Wrong`, if the text has no ID or no such column; the errors of `input`.
pub(super) fn read(mut input: impl BufRead, audit: Audit, source: &Source<'_>) -> Result<Reading, Exit> {
    let start = input.fill_buf()?;
    if start.starts_with(PARQUET) {
        let message = "the input is a Parquet file: export the column with the IDs as CSV, for example by DuckDB";
        return Err(Exit::Wrong(message.to_owned()));
    }
    if start.starts_with(BYTE_ORDER_MARK) {
        input.consume(BYTE_ORDER_MARK.len());
    }
    let mut reader = Reader { source, reading: Reading { audit, wrong: 0, complaints: Vec::new() } };
    match source.column {
        Some(column) => reader.rows(input, column)?,
        None => reader.lines(input)?,
    }
    let mut reading = reader.reading;
    match reading.wrong {
        0 if reading.audit.is_empty() => {
            return Err(Exit::Wrong("there is no ID: give one ID per line, or a file".to_owned()));
        }
        _ if reading.audit.is_empty() => return Err(hopeless(source, &reading)),
        more @ 11.. => reading.complaints.push(format!("{} more lines are no ID", more - MAX_COMPLAINTS)),
        _ => {}
    }
    Ok(reading)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    reading: Reading,
}

impl Reader<'_> {
    fn lines(&mut self, mut input: impl BufRead) -> Result<(), Exit> {
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            self.add(&line)?;
            line.clear();
        }
        Ok(())
    }

    fn rows(&mut self, mut input: impl BufRead, column: &str) -> Result<(), Exit> {
        let mut header = Vec::new();
        if input.read_until(b'\n', &mut header)? == 0 {
            return Ok(());
        }
        let (delimiter, at) = find(&header, column)?;
        self.reading.audit.skip();
        // One more line end, so that the last row ends with one too.
        let mut rows = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(input.chain(&b"\n"[..]));
        let mut row = ByteRecord::new();
        while rows.read_byte_record(&mut row).map_err(std::io::Error::from)? {
            // The rows begin on line 2. The reader is behind the line end of the row, and quotes can hold more of them.
            let inside = row.as_slice().iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            let line = rows.position().line() - inside;
            while self.reading.audit.line() < line {
                self.reading.audit.skip();
            }
            match row.get(at) {
                Some(text) => self.add(text)?,
                None if row.as_slice().trim_ascii().is_empty() => self.reading.audit.skip(),
                None => {
                    let cells: Vec<_> = row.iter().collect();
                    self.refuse(&cells.join(&delimiter), "the line has too few columns")?;
                }
            }
        }
        Ok(())
    }

    /// Adds the ID of the next line.
    fn add(&mut self, text: &[u8]) -> Result<(), Exit> {
        let text = text.trim_ascii();
        if text.is_empty() {
            self.reading.audit.skip();
            return Ok(());
        }
        match self.parse(text) {
            Ok(id) => self.reading.audit.add(id),
            Err(message) => self.refuse(text, &message)?,
        }
        Ok(())
    }

    fn parse(&self, text: &[u8]) -> Result<u64, String> {
        let id = match (self.source.format, &self.source.prefix) {
            (Some(form), _) => form.decode(text),
            (None, Some(prefix)) => prefix.decode(text),
            (None, None) => integer(text).map_err(str::to_owned)?.id(),
        };
        id.map_err(|error| error.to_string())
    }

    /// Counts a wrong line.
    ///
    /// # Errors
    /// If all lines so far are wrong, and they are many.
    fn refuse(&mut self, value: &[u8], message: &str) -> Result<(), Exit> {
        let reading = &mut self.reading;
        reading.wrong += 1;
        if reading.wrong <= MAX_COMPLAINTS {
            let value = String::from_utf8_lossy(value);
            let line = reading.audit.line();
            reading.complaints.push(format!("line {line}: \"{}\": {message}", Shown(value)));
        }
        reading.audit.skip_unreadable();
        if reading.audit.is_empty() && reading.wrong == MAX_WRONG_LINES {
            return Err(hopeless(self.source, reading));
        }
        Ok(())
    }
}

fn hopeless(source: &Source<'_>, reading: &Reading) -> Exit {
    let column = if source.column.is_none() { ", or --column names a column of CSV" } else { "" };
    Exit::Wrong(format!("no line is an ID, the first is {}{column}", reading.complaints[0]))
}

/// Finds a column in the header, which decides which character separates columns. Returns the character, and the place
/// of the column.
fn find(header: &[u8], column: &str) -> Result<(u8, usize), Exit> {
    let named = DELIMITERS.map(|delimiter| (delimiter, names(header, delimiter)));
    let found = named.iter().find_map(|(delimiter, names)| {
        let at = names.iter().position(|name| name == column)?;
        Some((*delimiter, at))
    });
    found.ok_or_else(|| {
        let most = named.into_iter().map(|(_, names)| names).max_by_key(Vec::len).unwrap_or_default();
        let names: Vec<_> = most.iter().map(|name| format!("\"{}\"", Shown(name))).collect();
        let names = names.join(", ");
        Exit::Wrong(format!("there is no column \"{}\": --column takes one of {names}", Shown(column)))
    })
}

/// Returns the names in a header.
fn names(header: &[u8], delimiter: u8) -> Vec<String> {
    let mut row = ByteRecord::new();
    let read =
        ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(header).read_byte_record(&mut row);
    let names = row.iter().filter(|_| read.is_ok());
    names.map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use snowmint_core::layouts::SNOWMINT;
    use snowmint_inspect::audit::AuditOptions;

    use super::*;

    fn read_in(text: &[u8], column: Option<&str>) -> Result<Reading, String> {
        let audit = Audit::at(&SNOWMINT, &AuditOptions::default(), 1_790_000_000_000);
        read(text, audit, &Source { column, ..Source::default() }).map_err(|exit| exit.to_string())
    }

    /// Returns the line of the ID 5.
    fn line_of_repeated(text: &str) -> u64 {
        let mut audit = read_in(text.as_bytes(), Some("id")).expect("IDs").audit;
        audit.add(5);
        let report = audit.finish();
        let repeated = report.findings.last().expect("an ID repeats");
        assert_eq!((report.ids, repeated.ids), (3, 1), "{text:?}");
        repeated.line
    }

    #[test]
    fn lines_without_an_id_are_passed_over_and_counted() {
        let reading = read_in(b"5\n\n 18446744073709551615 \r\n-1\nx\n7", None).expect("IDs");
        assert_eq!((reading.audit.len(), reading.audit.line(), reading.wrong), (4, 7, 1));
        let [complaint] = &reading.complaints[..] else { panic!("one") };
        assert!(complaint.starts_with("line 5: \"x\": an ID is"), "{complaint}");
    }

    #[test]
    fn a_row_is_on_the_line_where_it_begins() {
        for (text, line) in [
            ("id,note\n3,a\n5,b", 3),
            ("id,note\n\n\n3,a\n\r\n\n5,b\n\n", 7),
            ("note,id\r\na,\"3\"\r\nb,\"5\"\r\n", 3),
            ("note,id\n\"a\n\"\"b\n\",3\n\"\n\",5", 5),
            ("id\tnote\n3\n\n\n5\n", 5),
            ("note;id\n\"a\n;b\";3\n\nc;\"5\n\"\n", 5),
        ] {
            assert_eq!(line_of_repeated(text), line, "{text:?}");
        }
    }

    #[test]
    fn a_row_with_too_few_columns_is_wrong() {
        let reading = read_in(b"note,id\na,5\nb\n\nc,d,e\n", Some("id")).expect("an ID");
        assert_eq!(reading.complaints.len(), 2);
        assert_eq!(reading.complaints[0], "line 3: \"b\": the line has too few columns");
        assert!(reading.complaints[1].starts_with("line 5: \"d\": an ID is"), "{reading:?}");
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        for (text, column) in [(&b"\xef\xbb\xbf5\n"[..], None), (b"\xef\xbb\xbfid\n5\n", Some("id"))] {
            assert_eq!(read_in(text, column).map(|reading| (reading.audit.len(), reading.wrong)), Ok((1, 0)));
        }
    }

    #[test]
    fn a_text_without_an_id_is_refused() {
        let refused = |text: &[u8], column| read_in(text, column).expect_err("no ID");
        assert!(refused(b"", None).starts_with("there is no ID"));
        assert!(refused(b"", Some("id")).starts_with("there is no ID"));
        assert!(refused(b"\n\n", None).starts_with("there is no ID"));
        assert!(refused(b"id\n", None).ends_with("or --column names a column of CSV"));
        let many = refused(&b"id\n".repeat(5000), None);
        assert!(many.starts_with("no line is an ID, the first is line 1: \"id\": an ID is"), "{many}");
        assert!(refused(b"a;b", Some("id")).ends_with("--column takes one of \"a\", \"b\""));
        assert!(refused(b"id\n", Some("id")).starts_with("there is no ID"));
        assert!(refused(b"id\nx", Some("id")).contains("line 2: \"x\""));
        assert!(!refused(b"id\nx", Some("id")).contains("--column"));
    }

    #[test]
    fn ten_wrong_lines_are_shown() {
        let reading = read_in(&[&b"5\n"[..], &b"x\n".repeat(50)].concat(), None).expect("an ID");
        assert_eq!((reading.complaints.len(), reading.complaints[10].as_str()), (11, "40 more lines are no ID"));
    }

    #[test]
    fn a_header_has_names_in_quotes_or_without() {
        assert_eq!(names(b"id,\"the, note\", x \r\n", b','), ["id", "the, note", "x"]);
        assert_eq!(names(b"id;b", b','), ["id;b"]);
        assert_eq!(names(b"a,", b','), ["a", ""]);
    }
}
