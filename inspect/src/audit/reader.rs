//! Reads IDs from the bytes of a text, for the command lines: one ID a line, or a column of CSV.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::mem;
use core::str;

use super::csv::{DELIMITERS, Table, names};
use super::pile::Audit;
use snowmint_core::prefix::Prefix;
use snowmint_core::shown::Shown;
use snowmint_core::{Integer, TextForm};

/// So many wrong lines are shown.
const SHOWN: u64 = 10;
/// So many wrong lines at the begin, and no other, mean that the input is of another kind.
const HOPELESS: u64 = 1000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How the IDs stand in the text.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The form of the IDs; `None`: decimal numbers without padding.
    pub format: Option<TextForm>,
    /// The prefix of the IDs, where `format` is `None`.
    pub prefix: Option<Prefix>,
    /// The column of the IDs; `None`: each line is an ID.
    pub column: Option<String>,
}

/// Reads IDs from the bytes of a text, which come in pieces.
///
/// Sentences name the options of the command line.
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Audit, AuditOptions, Reader, Source};
/// use snowmint_core::layouts::TWITTER;
/// let audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
/// let mut reader = Reader::new(audit, Source { column: Some("id".to_owned()), ..Source::default() });
/// reader.push(b"note,id\n\"a,b\",15418156036")?;
/// reader.push(b"06036480\nc,none\n")?;
/// let reading = reader.end()?;
/// assert_eq!((reading.audit.len(), reading.wrong), (1, 1));
/// assert!(reading.complaints[0].starts_with("line 3: \"none\": an ID is an integer"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    source: Source,
    audit: Audit,
    wrong: u64,
    /// Sentences about the first wrong lines.
    refused: Vec<String>,
    has_begun: bool,
    /// The bytes of a line that has not ended.
    rest: Vec<u8>,
    /// The table, once its header is read.
    table: Option<Table>,
}

/// The result of a [`Reader`].
#[derive(Debug)]
pub struct Reading {
    /// The audit of all IDs.
    pub audit: Audit,
    /// The number of lines that are no ID.
    pub wrong: u64,
    /// Sentences about the wrong lines.
    pub complaints: Vec<String>,
}

impl Reader {
    /// Makes a reader at the begin of a text.
    ///
    /// # Examples
    /// As for the type.
    pub const fn new(audit: Audit, source: Source) -> Self {
        Self { source, audit, wrong: 0, refused: Vec::new(), has_begun: false, rest: Vec::new(), table: None }
    }

    /// Reads the next bytes of the text, which may end anywhere.
    ///
    /// # Errors
    /// A sentence: the text has no such column, or many lines and no ID.
    ///
    /// # Examples
    /// As for the type.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        if !mem::replace(&mut self.has_begun, true) {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        if self.source.column.is_none() {
            return self.push_lines(bytes);
        }
        if self.table.is_none() {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                self.rest.extend_from_slice(bytes);
                return Ok(());
            };
            self.rest.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.read_header()?;
        }
        if bytes.is_empty() { Ok(()) } else { self.push_rows(bytes) }
    }

    /// Adds the ID of the next line. An empty line is passed over, a wrong one is counted.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions, Reader, Source};
    /// use snowmint_core::layouts::TWITTER;
    /// let audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
    /// let mut reader = Reader::new(audit, Source::default());
    /// reader.add(b" 1541815603606036480 \r")?;
    /// assert_eq!(reader.end()?.audit.len(), 1);
    /// # Ok::<(), String>(())
    /// ```
    pub fn add(&mut self, text: &[u8]) -> Result<(), String> {
        let text = text.trim_ascii();
        if text.is_empty() {
            self.audit.skip();
            return Ok(());
        }
        // The usual form, without a detour over errors.
        if self.source.format.is_none()
            && self.source.prefix.is_none()
            && text[0].is_ascii_digit()
            && let Some(id) = str::from_utf8(text).ok().and_then(|text| text.parse().ok())
        {
            self.audit.add(id);
            return Ok(());
        }
        match self.parse(text) {
            Ok(id) => self.audit.add(id),
            Err(error) => self.refuse(&String::from_utf8_lossy(text), &error)?,
        }
        Ok(())
    }

    /// Adds the ID of the next row of a table that has numbers.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions, Reader, Source};
    /// use snowmint_core::layouts::TWITTER;
    /// let audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
    /// let mut reader = Reader::new(audit, Source::default());
    /// reader.skip();
    /// reader.add_id(1_541_815_603_606_036_480);
    /// let audit = reader.into_audit();
    /// assert_eq!((audit.len(), audit.line()), (1, 3));
    /// ```
    pub fn add_id(&mut self, id: u64) {
        self.audit.add(id);
    }

    /// Passes over a row without an ID.
    ///
    /// # Examples
    /// As for [`add_id`](Self::add_id).
    pub fn skip(&mut self) {
        self.audit.skip();
    }

    /// Returns the audit of the IDs so far, which may be none.
    ///
    /// # Examples
    /// As for [`add_id`](Self::add_id).
    pub fn into_audit(self) -> Audit {
        self.audit
    }

    /// Ends the text.
    ///
    /// # Errors
    /// A sentence: the text has no ID, or no such column.
    ///
    /// # Examples
    /// As for the type.
    pub fn end(mut self) -> Result<Reading, String> {
        if self.source.column.is_some() && self.table.is_none() && self.has_begun {
            self.read_header()?;
        }
        if self.table.is_some() {
            self.push_rows(&[])?;
        }
        let rest = mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.add(&rest)?;
        }
        if self.audit.is_empty() {
            return Err(match self.wrong {
                0 => "there is no ID: give one ID per line, or a file".to_owned(),
                _ => self.hopeless(),
            });
        }
        let Self { audit, wrong, refused: mut complaints, .. } = self;
        if wrong > SHOWN {
            complaints.push(format!("{} more lines are no ID", wrong - SHOWN));
        }
        Ok(Reading { audit, wrong, complaints })
    }

    fn push_lines(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        if !self.rest.is_empty()
            && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
        {
            self.rest.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = mem::take(&mut self.rest);
            self.add(&line)?;
        }
        let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.rest.extend_from_slice(bytes);
            return Ok(());
        };
        bytes[..last].split(|byte| *byte == b'\n').try_for_each(|line| self.add(line))?;
        self.rest.extend_from_slice(&bytes[last + 1..]);
        Ok(())
    }

    /// Finds the column in the header. The header decides which character stands between columns.
    fn read_header(&mut self) -> Result<(), String> {
        let header = mem::take(&mut self.rest);
        let column = self.source.column.as_deref().unwrap_or_default();
        let named = DELIMITERS.map(|delimiter| (delimiter, names(&header, delimiter)));
        let found = named.iter().find_map(|(delimiter, names)| {
            let at = names.iter().position(|name| name == column)?;
            Some(Table::new(*delimiter, at))
        });
        if found.is_none() {
            let most = named.into_iter().map(|(_, names)| names).max_by_key(Vec::len);
            return Err(no_column(column, &most.unwrap_or_default()));
        }
        self.table = found;
        self.audit.skip();
        Ok(())
    }

    /// Reads bytes below the header. No bytes are the end of the text.
    fn push_rows(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Some(mut table) = self.table.take() else { return Ok(()) };
        let pushed = table.push(bytes, |row| {
            // Blank lines, and line ends inside of quotes, have no row.
            while self.audit.line() < row.line {
                self.audit.skip();
            }
            match row.cell {
                Ok(text) => self.add(text),
                Err(row) => self.refuse(&String::from_utf8_lossy(&row), "the line has too few columns"),
            }
        });
        self.table = Some(table);
        pushed
    }

    fn parse(&self, text: &[u8]) -> Result<u64, String> {
        match (self.source.format, &self.source.prefix) {
            (Some(form), _) => form.decode(text).map_err(|error| error.to_string()),
            (None, Some(prefix)) => prefix.decode(text).map_err(|error| error.to_string()),
            (None, None) => {
                let integer = integer(&String::from_utf8_lossy(text))?;
                integer.id().map_err(|error| error.to_string())
            }
        }
    }

    /// Counts a wrong line.
    ///
    /// # Errors
    /// If all lines so far are wrong, and they are many.
    fn refuse(&mut self, value: &str, error: &str) -> Result<(), String> {
        self.wrong += 1;
        if self.wrong <= SHOWN {
            self.refused.push(format!("line {}: \"{}\": {error}", self.audit.line(), Shown(value)));
        }
        self.audit.skip_unreadable();
        if self.audit.is_empty() && self.wrong == HOPELESS { Err(self.hopeless()) } else { Ok(()) }
    }

    fn hopeless(&self) -> String {
        let column = if self.source.column.is_none() { ", or --column names a column of CSV" } else { "" };
        format!("no line is an ID, the first is {}{column}", self.refused[0])
    }
}

/// Reads a decimal number of any size, with or without a minus sign, as users of a command line write it.
///
/// # Errors
/// A sentence for any other text.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_inspect::audit::integer;
/// assert_eq!(integer("-5"), Ok(Integer::Negative(5)));
/// assert!(integer("5x").is_err());
/// ```
pub fn integer(text: &str) -> Result<Integer, &'static str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !(1..=40).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("an ID is an integer from -2^63 to 2^64-1; --format names another form");
    }
    Ok(match digits.parse::<u64>() {
        Err(_) if text.starts_with('-') => Integer::Below,
        Err(_) => Integer::Above,
        Ok(magnitude) if text.starts_with('-') && magnitude > 0 => Integer::Negative(magnitude),
        Ok(number) => Integer::Fits(number),
    })
}

/// Returns the sentence for a missing column, with the names of the existing columns.
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::no_column;
/// let columns = ["id".to_owned(), "note".to_owned()];
/// assert_eq!(no_column("ids", &columns), "there is no column \"ids\": --column takes one of \"id\", \"note\"");
/// ```
pub fn no_column(name: &str, columns: &[String]) -> String {
    let names = columns.iter().map(|column| format!("\"{}\"", Shown(column))).collect::<Vec<_>>().join(", ");
    format!("there is no column \"{}\": --column takes one of {names}", Shown(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::AuditOptions;
    use snowmint_core::layouts::SNOWMINT;

    fn read(text: &[u8], size: usize, column: Option<&str>) -> Result<(usize, u64, Vec<String>), String> {
        let audit = Audit::at(&SNOWMINT, &AuditOptions::default(), 1_790_000_000_000);
        let mut reader = Reader::new(audit, Source { column: column.map(Into::into), ..Source::default() });
        text.chunks(size).try_for_each(|piece| reader.push(piece))?;
        let reading = reader.end()?;
        Ok((reading.audit.len(), reading.audit.line(), reading.complaints))
    }

    #[test]
    fn lines_are_the_same_in_pieces_of_any_size() {
        let text = b"5\n\n 18446744073709551615 \r\n-1\nx\n7";
        for size in [1, 2, 3, 5, 100] {
            let (ids, line, complaints) = read(text, size, None).expect("IDs");
            assert_eq!((ids, line), (4, 7), "pieces of {size}");
            assert!(matches!(&complaints[..], [one] if one.starts_with("line 5: \"x\": an ID is")), "{complaints:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(read(b"\xef\xbb\xbf5\n", 100, None), Ok((1, 2, Vec::new())));
        assert_eq!(read(b"\xef\xbb\xbfid\n5\n", 100, Some("id")), Ok((1, 3, Vec::new())));
    }

    #[test]
    fn a_text_without_an_id_is_refused() {
        let told = |text: &[u8], column| read(text, 7, column).expect_err("no ID");
        assert!(told(b"", None).starts_with("there is no ID"));
        assert!(told(b"\n\n", None).starts_with("there is no ID"));
        assert!(told(b"id\n", None).ends_with("or --column names a column of CSV"));
        assert!(
            told(&b"id\n".repeat(5000), None).starts_with("no line is an ID, the first is line 1: \"id\": an ID is")
        );
        assert!(told(b"a;b", Some("id")).ends_with("--column takes one of \"a\", \"b\""));
        assert!(told(b"id\n", Some("id")).starts_with("there is no ID"));
        assert!(told(b"id\nx", Some("id")).contains("line 2: \"x\""));
        assert!(!told(b"id\nx", Some("id")).contains("--column"));
    }

    #[test]
    fn ten_wrong_lines_are_shown() {
        let (_, _, complaints) = read(&[&b"5\n"[..], &b"x\n".repeat(50)].concat(), 64, None).expect("an ID");
        assert_eq!((complaints.len(), complaints[10].as_str()), (11, "40 more lines are no ID"));
    }
}
