//! A layout as SQL.
//!
//! A script is longer than the buffer. So JavaScript calls several times with the same arguments, each time for the
//! piece that starts at another byte. Arguments are texts, separated by NUL, which no name has.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

use core::fmt::{self, Write};

use glue::{Told, buffer};
use snowmint_core::sql::{Column, Dialect, Wide};
use snowmint_core::{Error, Layout, Options, SequenceStart};

/// Splits the arguments. The last part holds all that is left.
fn parts<const N: usize>(told: &Told) -> [&str; N] {
    let mut parts = told.text().splitn(N, '\0');
    [(); N].map(|()| parts.next().unwrap_or_default())
}

/// Writes the piece of a text that starts at a byte and fits into the buffer.
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

/// Writes a piece and returns its length. For an error, writes its code and sentence, and returns -1 minus their
/// length.
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

/// Calls `tell` with the arguments of a function that mints a layout's IDs: the layout, the node, the schema, the name
/// and the options. The arguments are a layout, a node, a start of sequences, a schema and a name. `NaN` stands for the
/// default of a time.
fn of_function(
    len: u32,
    max_ahead_ms: f64,
    max_wait_ms: f64,
    tell: impl FnOnce(&Layout, u64, &str, &str, Options) -> i32,
) -> i32 {
    let told = Told::take(len);
    let [layout, node, start, schema, name] = parts(&told);
    let mut options = Options::DEFAULT;
    for (given, option) in [(max_ahead_ms, &mut options.max_ahead_ms), (max_wait_ms, &mut options.max_wait_ms)] {
        if !given.is_nan() {
            *option = given as u64;
        }
    }
    options.sequence_start = SequenceStart::find(start).unwrap_or_default();
    match Layout::parse(layout).and_then(|layout| Ok((layout, layout.parse_node(node)?))) {
        Ok((layout, node)) => tell(&layout, node.into(), schema, name, options),
        Err(error) => answer(Err::<&str, _>(error), 0),
    }
}

/// Writes the script of a function of `PostgreSQL`.
#[unsafe(no_mangle)]
pub extern "C" fn postgres_function(len: u32, from: u32, max_ahead_ms: f64, max_wait_ms: f64) -> i32 {
    of_function(len, max_ahead_ms, max_wait_ms, |layout, node, schema, name, options| {
        let function = layout.postgres_function(schema, name, node.into());
        answer(function.map(|function| function.with_options(options)), from)
    })
}

/// Writes a statement for `MariaDB`, by its place among those that create the function.
#[unsafe(no_mangle)]
pub extern "C" fn mariadb_function(len: u32, from: u32, place: u32, max_ahead_ms: f64, max_wait_ms: f64) -> i32 {
    of_function(len, max_ahead_ms, max_wait_ms, |layout, node, schema, name, options| {
        let function = layout.mariadb_function(schema, name, node.into());
        let statements = function.map(|function| function.with_options(options).statements());
        // JavaScript asks for the first three.
        answer(statements.map(|statements| statements[place as usize % statements.len()]), from)
    })
}

/// Writes the script of a function of `PostgreSQL` for a kind of 128-bit IDs, a schema and a name.
#[unsafe(no_mangle)]
pub extern "C" fn postgres_wide_function(len: u32, from: u32) -> i32 {
    let told = Told::take(len);
    let [kind, schema, name] = parts(&told);
    answer(Wide::find(kind).and_then(|kind| kind.postgres_function(schema, name)), from)
}

/// Calls `tell` with a column, given as a layout, a dialect and a name.
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

/// Writes the expression for a part of the IDs in a column: 0 time, 1 time in Unix ms, 2 tick, 3 node, 4 sequence, from
/// 5 on the fields except `unused`.
#[unsafe(no_mangle)]
pub extern "C" fn expression(len: u32, from: u32, part: u32) -> i32 {
    of_column(len, |column| {
        let expression = match part {
            0 => column.timestamp(),
            1 => column.timestamp_ms(),
            2 => column.tick(),
            3 => column.node(),
            4 => column.sequence(),
            // JavaScript asks only for fields that the layout has.
            _ => column.fields().nth(part as usize - 5).map_or(column.tick(), |(_, expression)| expression),
        };
        answer(Ok(expression), from)
    })
}

/// Writes the predicate for a range of time (Unix ms).
#[unsafe(no_mangle)]
pub extern "C" fn between(len: u32, from: u32, from_ms: f64, to_ms: f64) -> i32 {
    of_column(len, |column| answer(column.between(from_ms as i64, to_ms as i64), from))
}
