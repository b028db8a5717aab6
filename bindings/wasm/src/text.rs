//! Text forms of IDs.

use alloc::string::String;

use snowmint_core::TextForm;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert;
use crate::error::raise;

/// Writes an ID in a form.
#[wasm_bindgen(js_name = writeText)]
pub fn write_text(id: &JsValue, form: &str) -> Result<String, JsValue> {
    // The form before the ID, as in every language.
    let form = TextForm::find(form).map_err(raise)?;
    Ok(form.encode(convert::id(id)?).as_str().into())
}

/// Reads a text of a form.
#[wasm_bindgen(js_name = readText)]
pub fn read_text(text: &str, form: &str) -> Result<u64, JsValue> {
    TextForm::find(form).and_then(|form| form.decode(text)).map_err(raise)
}
