//! A layout as SQL, in a module of its own.
//!
//! A script is longer than the buffer, so JavaScript asks for what it has from some byte on, with the same words each
//! time: texts one behind the other, parted by NUL, which no name has.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

use core::fmt::{self, Write};

use glue::{Told, buffer};
use snowmint_core::sql::{Column, Dialect};
use snowmint_core::{Error, Layout, Options, SequenceStart};

/// The first texts, of which the last one has the rest.
fn parts<const N: usize>(told: &Told) -> [&str; N] {
    let mut parts = told.text().splitn(N, '\0');
    [(); N].map(|()| parts.next().unwrap_or_default())
}

/// As much of a text as the buffer holds from a byte on.
struct Piece {
    skipped: usize,
    from: usize,
    len: usize,
}

impl Write for Piece {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.skipped < self.from {
                self.skipped += 1;
            } else if let Some(place) = buffer().text.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}

/// The length of a piece; or -1 and less the length of the code and sentence of an error.
fn answer(text: Result<impl fmt::Display, Error>, from: u32) -> i32 {
    let mut piece = Piece { skipped: 0, from: from as usize, len: 0 };
    // Writing into the buffer cannot fail.
    match text {
        Ok(text) => {
            let _ = write!(piece, "{text}");
            piece.len as i32
        }
        Err(error) => {
            piece.from = 0;
            let _ = write!(piece, "{} {error}", error.code());
            -1 - piece.len as i32
        }
    }
}

/// The script of a function of `PostgreSQL`, for a layout, a node, a start of sequences, a schema and a name. A time that is
/// no number is the default.
#[unsafe(no_mangle)]
pub extern "C" fn postgres_function(len: u32, from: u32, max_ahead_ms: f64, max_wait_ms: f64) -> i32 {
    let told = Told::take(len);
    let [layout, node, start, schema, name] = parts(&told);
    let mut options = Options::DEFAULT;
    for (given, option) in [(max_ahead_ms, &mut options.max_ahead_ms), (max_wait_ms, &mut options.max_wait_ms)] {
        if !given.is_nan() {
            *option = given as u64;
        }
    }
    options.sequence_start = SequenceStart::find(start).unwrap_or_default();
    let layout = match Layout::parse(layout) {
        Ok(layout) => layout,
        Err(error) => return answer(Err::<&str, _>(error), 0),
    };
    let function = layout.parse_node(node).and_then(|node| layout.postgres_function(schema, name, node.into()));
    answer(function.map(|function| function.with_options(options)), from)
}

/// What is to be told of a column, given as a layout, a dialect and a name.
fn of_column(len: u32, tell: impl FnOnce(Column<'_>) -> i32) -> i32 {
    let told = Told::take(len);
    let [layout, dialect, name] = parts(&told);
    let found = Layout::parse(layout).and_then(|layout| Ok((layout, Dialect::find(dialect)?)));
    let column = found.as_ref().map_err(|error| *error);
    match column.and_then(|(layout, dialect)| layout.decode_sql(*dialect, name)) {
        Ok(column) => tell(column),
        Err(error) => answer(Err::<&str, _>(error), 0),
    }
}

/// The expression for a part of the IDs in a column: time, time in Unix ms, tick, node, sequence, and then each field but
/// `unused`.
#[unsafe(no_mangle)]
pub extern "C" fn expression(len: u32, from: u32, part: u32) -> i32 {
    of_column(len, |column| {
        let expression = match part {
            0 => column.timestamp(),
            1 => column.timestamp_ms(),
            2 => column.tick(),
            3 => column.node(),
            4 => column.sequence(),
            // JavaScript asks for the fields that there are.
            _ => column.fields().nth(part as usize - 5).map_or(column.tick(), |(_, expression)| expression),
        };
        answer(Ok(expression), from)
    })
}

/// The predicate for a range of time (Unix ms).
#[unsafe(no_mangle)]
pub extern "C" fn between(len: u32, from: u32, from_ms: f64, to_ms: f64) -> i32 {
    of_column(len, |column| answer(column.between(from_ms as i64, to_ms as i64), from))
}
