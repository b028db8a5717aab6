//! A table of CSV, read from bytes that come in pieces.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// The characters between columns, in the order in which they are tried.
pub(super) const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];

/// The rows below the header.
#[derive(Debug)]
pub(super) struct Table {
    reader: Reader,
    delimiter: u8,
    /// The place of the column.
    at: usize,
    /// The line of the next byte, from 1.
    line: u64,
    /// The line on which a row has begun that has not ended.
    began: Option<u64>,
    /// The cells of the row so far, one after the other, and where each ends. `filled` and `ended` are how much of both is used.
    cells: Vec<u8>,
    ends: Vec<usize>,
    filled: usize,
    ended: usize,
}

/// A row of CSV.
pub(super) struct Row<'a> {
    /// The line on which the row begins.
    pub(super) line: u64,
    /// The cell in the column, or all cells of a row that has too few.
    pub(super) cell: Result<&'a [u8], Vec<u8>>,
}

impl Table {
    /// Reads the rows below a header, which is the first line of the text. `at` is the place of the column.
    pub(super) fn new(delimiter: u8, at: usize) -> Self {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Self {
            reader,
            delimiter,
            at,
            line: 2,
            began: None,
            cells: vec![0; 1024],
            ends: vec![0; 64],
            filled: 0,
            ended: 0,
        }
    }

    /// Reads the next bytes, and passes each row that ends in them to `see`. No bytes are the end of the text.
    pub(super) fn push<E>(&mut self, bytes: &[u8], mut see: impl FnMut(Row<'_>) -> Result<(), E>) -> Result<(), E> {
        let (mut rest, is_end) = (bytes, bytes.is_empty());
        while is_end || !rest.is_empty() {
            // Blank lines have no row.
            while self.began.is_none()
                && let [byte @ (b'\n' | b'\r'), after @ ..] = rest
            {
                self.line += u64::from(*byte == b'\n');
                rest = after;
            }
            if rest.is_empty() && !is_end {
                break;
            }
            let began = *self.began.get_or_insert(self.line);
            let (cells, ends) = (&mut self.cells[self.filled..], &mut self.ends[self.ended..]);
            let (result, read, filled, ended) = self.reader.read_record(rest, cells, ends);
            self.line += rest[..read].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            rest = &rest[read..];
            self.filled += filled;
            self.ended += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    let ends = &self.ends[..self.ended];
                    let cell =
                        cell(&self.cells, ends, self.at).ok_or_else(|| joined(&self.cells, ends, self.delimiter));
                    (self.filled, self.ended, self.began) = (0, 0, None);
                    see(Row { line: began, cell })?;
                }
                ReadRecordResult::End => break,
            }
        }
        Ok(())
    }
}

/// Returns the names in a header.
pub(super) fn names(header: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let (mut cells, mut ends) = (vec![0; header.len() + 1], vec![0; header.len() + 2]);
    let (_, _, filled, ended) = reader.read_record(header, &mut cells, &mut ends);
    let (_, _, _, more) = reader.read_record(&[], &mut cells[filled..], &mut ends[ended..]);
    let ends = &ends[..ended + more];
    let names = (0..ends.len()).filter_map(|at| cell(&cells, ends, at));
    names.map(|name| String::from_utf8_lossy(name).trim().into()).collect()
}

fn cell<'a>(cells: &'a [u8], ends: &[usize], at: usize) -> Option<&'a [u8]> {
    let end = *ends.get(at)?;
    let begin = at.checked_sub(1).map_or(0, |before| ends[before]);
    cells.get(begin..end)
}

fn joined(cells: &[u8], ends: &[usize], delimiter: u8) -> Vec<u8> {
    let cells: Vec<_> = (0..ends.len()).filter_map(|at| cell(cells, ends, at)).collect();
    cells.join(&delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a row, and its cell or, if it has too few, all of them.
    type Seen = (u64, Result<Vec<u8>, Vec<u8>>);

    fn rows(text: &str, size: usize) -> Vec<Seen> {
        let (mut rows, mut seen) = (Table::new(b',', 1), Vec::new());
        let pieces = text.as_bytes().chunks(size).chain([&[][..]]);
        for piece in pieces {
            let pushed = rows.push(piece, |row| {
                seen.push((row.line, row.cell.map(<[u8]>::to_vec)));
                Ok::<(), ()>(())
            });
            assert_eq!(pushed, Ok(()));
        }
        seen
    }

    #[test]
    fn rows_are_the_same_in_pieces_of_any_size() {
        let text = "a,1\r\n\r\n\"b\n\"\"c\",\"2\"\r\nd\r\n\n\n,3,\"x\ny\"\ne,4\n\"\nf\",5";
        let ok = |cell: &str| Ok(cell.as_bytes().to_vec());
        let expected =
            [(2, ok("1")), (4, ok("2")), (6, Err(b"d".to_vec())), (9, ok("3")), (11, ok("4")), (12, ok("5"))];
        for size in [1, 2, 3, 7, 100] {
            assert_eq!(rows(text, size), expected, "pieces of {size}");
        }
        let long = alloc::format!("{},{}\n", "a".repeat(5000), "b".repeat(5000)) + &"c,".repeat(500);
        let seen = rows(&long, 1000);
        assert_eq!((seen[0].0, seen[0].1.as_ref().map(Vec::len)), (2, Ok(5000)));
        assert_eq!(seen[1], (3, ok("c")));
    }

    #[test]
    fn a_header_has_names_in_quotes_or_without() {
        assert_eq!(names(b"id,\"the, note\", x \r\n", b','), ["id", "the, note", "x"]);
        assert_eq!(names(b"id;b", b','), ["id;b"]);
        assert_eq!(names(b"", b','), Vec::<String>::new());
        assert_eq!(names(b"a,", b','), ["a", ""]);
    }
}
