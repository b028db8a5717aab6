//! Text forms of IDs.

use alloc::string::String;

use snowmint_core::TextForm;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::integer;
use crate::error::raise;

/// Writes an ID in a form.
#[wasm_bindgen(js_name = writeText)]
pub fn write_text(id: &str, form: &str) -> Result<String, JsValue> {
    Ok(TextForm::write(form, integer(id)).map_err(raise)?.as_str().into())
}

/// Reads a text of a form.
#[wasm_bindgen(js_name = readText)]
pub fn read_text(text: &str, form: &str) -> Result<u64, JsValue> {
    TextForm::read(form, text).map_err(raise)
}
