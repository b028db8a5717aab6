//! The rules and the output of the command line, in a module that no browser loads.
//!
//! Texts of any length go in and out, so they do not use the glue's buffer.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

extern crate alloc;

mod doctor;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use glue::Single;
use snowmint_core::inspect::{inspect, inspect_integer};
use snowmint_core::render::{self, Decoded, Format};
use snowmint_core::{Integer, Layout, time};

static INPUT: Single<Vec<u8>> = Single::new(Vec::new());
static OUTPUT: Single<String> = Single::new(String::new());

/// Makes room for a text of `len` bytes, and returns the address where JavaScript writes it.
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

/// Whether the caller vouches for the node that it gives.
#[unsafe(no_mangle)]
pub extern "C" fn is_vouched(has_store: bool, has_namespace: bool) -> bool {
    snowmint_core::lease::is_vouched(has_store, has_namespace)
}

/// Reads an instant in RFC 3339 or Unix ms, and returns it as Unix ms. `NaN` for another text; the output is then a sentence.
#[unsafe(no_mangle)]
#[allow(clippy::cast_precision_loss, reason = "JavaScript has its instants as doubles")]
pub extern "C" fn instant() -> f64 {
    time::parse_instant(text()).map_or_else(
        |sentence| {
            written(|out| out.write_str(sentence));
            f64::NAN
        },
        |ms| ms as f64,
    )
}

/// Returns the length of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> u32 {
    OUTPUT.get().len() as u32
}

/// Renders the layouts whose texts are the lines of the input: a table, or a picture of each. Returns the length of the output.
#[unsafe(no_mangle)]
pub extern "C" fn layouts(pictures: u32, json: u32, bold: u32) -> u32 {
    let layouts: Vec<_> = text().lines().filter_map(|text| Layout::parse(text).ok()).collect();
    let format = format(json, bold);
    written(|out| match pictures {
        0 => render::table(out, &layouts, format),
        _ => render::pictures(out, &layouts, format),
    })
}

/// Renders an ID under the layout of the input. Returns the length of the output, 0 if the layout cannot have minted the ID.
#[unsafe(no_mangle)]
pub extern "C" fn decoded(magnitude: u64, negative: u32, json: u32) -> u32 {
    let value = if negative == 0 { Integer::Fits(magnitude) } else { Integer::Negative(magnitude) };
    let decoded = Layout::parse(text()).and_then(|layout| Decoded::new(value, &layout));
    decoded.map_or(0, |decoded| written(|out| decoded.write(out, format(json, 0))))
}

/// Renders the candidates of the input, a text or the digits of an integer. Returns the length of the output, negative if there
/// is no candidate.
#[unsafe(no_mangle)]
pub extern "C" fn candidates(integer: u32, now_ms: i64, json: u32, bold: u32) -> i32 {
    let value = text();
    let found = match value.parse() {
        Ok(id) if integer > 0 => inspect_integer(Integer::Fits(id), now_ms),
        _ => inspect(value, now_ms),
    };
    let len = written(|out| render::candidates(out, value, &found, format(json, bold))) as i32;
    if found.is_empty() { -len } else { len }
}

fn format(json: u32, bold: u32) -> Format {
    Format::of(json > 0, bold > 0)
}

fn text() -> &'static str {
    core::str::from_utf8(INPUT.get()).unwrap_or_default()
}

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> u32 {
    let out = OUTPUT.get();
    out.clear();
    // Writing to a string cannot fail.
    let _ = write(out);
    out.len() as u32
}
