//! The output of the command line.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use js_sys::Object;
use snowmint_core::{Integer, Layout, time};
use snowmint_inspect::inspect::{inspect, inspect_integer};
use snowmint_inspect::render::{self, Decoded, Format};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{integer, set};
use crate::error::raise;

/// Reads an instant in RFC 3339 or Unix ms, as Unix ms. Returns a sentence for another text.
#[wasm_bindgen(unchecked_return_type = "number | string")]
pub fn instant(text: &str) -> JsValue {
    time::parse_instant(text).map_or_else(JsValue::from_str, |ms| (ms as f64).into())
}

/// Returns a table of layouts, given by their texts.
#[wasm_bindgen(js_name = layoutTable)]
pub fn layout_table(texts: Vec<String>, json: bool, bold: bool) -> String {
    written(|out| render::table(out, &layouts_of(&texts), Format::of(json, bold)))
}

/// Returns a picture of each layout, given by its text.
#[wasm_bindgen(js_name = layoutPictures)]
pub fn layout_pictures(texts: Vec<String>, json: bool, bold: bool) -> String {
    written(|out| render::pictures(out, &layouts_of(&texts), Format::of(json, bold)))
}

fn layouts_of(texts: &[String]) -> Vec<Layout> {
    texts.iter().filter_map(|text| Layout::parse(text).ok()).collect()
}

/// Returns the line of an ID under a layout.
#[wasm_bindgen]
pub fn decoded(value: &str, layout: &str, json: bool) -> Result<String, JsValue> {
    let layout = Layout::parse(layout).map_err(raise)?;
    let decoded = Decoded::new(integer(value), &layout).map_err(raise)?;
    Ok(written(|out| decoded.write(out, Format::of(json, false))))
}

/// Returns the lines of the candidates for a text, or for the digits of an integer, and whether there are candidates.
#[wasm_bindgen(unchecked_return_type = "{ lines: string; isFound: boolean }")]
pub fn candidates(text: &str, is_integer: bool, now_ms: f64, json: bool, bold: bool) -> Object {
    let found = match text.parse() {
        Ok(id) if is_integer => inspect_integer(Integer::Fits(id), now_ms as i64),
        _ => inspect(text, now_ms as i64),
    };
    let lines = Object::new();
    set(&lines, "lines", written(|out| render::candidates(out, text, &found, Format::of(json, bold))));
    set(&lines, "isFound", !found.is_empty());
    lines
}

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out);
    out
}
