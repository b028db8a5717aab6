//! Texts that another party wrote, such as messages of servers.

use alloc::string::{String, ToString};

use snowmint_core::shown::Shown;
use wasm_bindgen::prelude::wasm_bindgen;

/// Returns a text with its control and format characters escaped.
#[wasm_bindgen]
pub fn shown(text: &str) -> String {
    Shown(text).to_string()
}
