//! Says why a pile of IDs has duplicates.
//!
//! An instance has one audit and is then thrown away, because the modules free no memory. Texts and IDs of any number go in
//! and out, so they do not use the glue's buffer.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use glue::{Single, buffer};
use snowmint_core::audit::{Audit, AuditOptions, Reader, Report, Source};
use snowmint_core::prefix::Prefix;
use snowmint_core::render::Format;
use snowmint_core::{Error, Layout, TextForm};

static INPUT: Single<Vec<u8>> = Single::new(Vec::new());
static OUTPUT: Single<String> = Single::new(String::new());
/// The IDs until the audit ends.
static READER: Single<Option<Reader>> = Single::new(None);
static REPORT: Single<Option<Report>> = Single::new(None);

/// Makes room for `len` bytes, and returns the address where JavaScript writes them.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: u32) -> u32 {
    let input = INPUT.get();
    input.resize(len as usize, 0);
    input.as_ptr() as u32
}

/// Returns the address of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> u32 {
    OUTPUT.get().as_ptr() as u32
}

/// Begins the audit. The input is a layout, a text form, a prefix and a column, separated by NUL; empty texts stand for the
/// defaults, and so does `NaN` for a number. All times are Unix ms. Returns 0 or, for an error, -1 minus the length of its code
/// and sentence.
#[unsafe(no_mangle)]
pub extern "C" fn begin(since_ms: f64, until_ms: f64, jitter_ms: f64, unordered: u32, now_ms: f64) -> i32 {
    let ms = |given: f64| (!given.is_nan()).then_some(given as i64);
    let mut options = AuditOptions { since_ms: ms(since_ms), until_ms: ms(until_ms), ..AuditOptions::default() };
    if !jitter_ms.is_nan() {
        options.jitter_ms = jitter_ms as u64;
    }
    options.unordered = unordered > 0;
    let mut texts = INPUT.get().split(|byte| *byte == 0);
    let [layout, format, prefix, column] = [(); 4].map(|()| texts.next().unwrap_or_default());
    match layout_and_source(layout, format, prefix, column) {
        Ok((layout, source)) => {
            *READER.get() = Some(Reader::new(Audit::at(&layout, &options, now_ms as i64), source));
            0
        }
        Err(error) => refused(&error),
    }
}

fn layout_and_source(layout: &[u8], format: &[u8], prefix: &[u8], column: &[u8]) -> Result<(Layout, Source), Error> {
    let source = Source {
        format: given(format).map(TextForm::find).transpose()?,
        prefix: given(prefix).map(Prefix::new).transpose()?,
        column: given(column).map(|name| String::from_utf8_lossy(name).into_owned()),
    };
    Ok((Layout::find(layout)?, source))
}

fn given(text: &[u8]) -> Option<&[u8]> {
    Some(text).filter(|text| !text.is_empty())
}

/// Reads integer 0 of the buffer as an ID, which becomes word 0. Returns 0 or an error as [`begin`] does.
#[unsafe(no_mangle)]
pub extern "C" fn id() -> i32 {
    match buffer().integer(0).id() {
        Ok(id) => {
            buffer().words[0] = id;
            0
        }
        Err(error) => refused(&error),
    }
}

/// Adds the IDs of the input, 8 bytes each, low bytes first.
#[unsafe(no_mangle)]
pub extern "C" fn add() {
    if let Some(reader) = READER.get() {
        for bytes in INPUT.get().as_chunks::<8>().0 {
            reader.add_id(u64::from_le_bytes(*bytes));
        }
    }
}

/// Reads the input as the next bytes of a text. Returns 0, or the length of a sentence: the text cannot be read at all.
#[unsafe(no_mangle)]
pub extern "C" fn push() -> u32 {
    match READER.get().as_mut().map(|reader| reader.push(INPUT.get())) {
        Some(Err(sentence)) => told(&sentence),
        _ => 0,
    }
}

/// Ends a text, and with it the audit. Returns the length of the sentences about wrong lines, one per line; or -1 minus the
/// length of a sentence: the text has no ID.
#[unsafe(no_mangle)]
pub extern "C" fn end_text() -> i32 {
    match READER.get().take().map(Reader::end) {
        Some(Ok(reading)) => {
            *REPORT.get() = Some(reading.audit.finish());
            told(&reading.complaints.join("\n")) as i32
        }
        Some(Err(sentence)) => -1 - told(&sentence) as i32,
        None => 0,
    }
}

/// Ends an audit of IDs.
#[unsafe(no_mangle)]
pub extern "C" fn end() {
    *REPORT.get() = READER.get().take().map(|reader| reader.into_audit().finish());
}

/// Writes the report: 0 text, 1 text with bold headlines, 2 JSON, 3 a picture. Returns the length of the output.
#[unsafe(no_mangle)]
pub extern "C" fn write(form: u32) -> u32 {
    let Some(report) = REPORT.get() else { return 0 };
    written(|out| match form {
        0 | 1 => report.write(out, Format::of(false, form > 0)),
        2 => report.write(out, Format::Json),
        _ => report.plot(out),
    })
}

/// Returns the number of findings.
#[unsafe(no_mangle)]
pub extern "C" fn findings() -> u32 {
    REPORT.get().as_ref().map_or(0, |report| report.findings().len() as u32)
}

/// Returns the IDs a second of the node at a place.
#[unsafe(no_mangle)]
pub extern "C" fn ids_per_second(at: u32) -> f64 {
    let nodes = REPORT.get().as_ref().map(Report::nodes).unwrap_or_default();
    nodes.get(at as usize).map_or(0.0, |node| node.ids_per_second)
}

fn refused(error: &Error) -> i32 {
    -1 - written(|out| write!(out, "{} {error}", error.code())) as i32
}

fn told(sentence: &str) -> u32 {
    written(|out| out.write_str(sentence))
}

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> u32 {
    let out = OUTPUT.get();
    out.clear();
    // Writing to a string cannot fail.
    let _ = write(out);
    out.len() as u32
}
