//! Names as keys of a store, and the defaults of drivers.

use alloc::string::{String, ToString};
use core::fmt::Write;

use snowmint_core::lease::Floor;
use snowmint_core::store::{KeyPart, MAX_WAIT_MS};
use snowmint_core::{Error, names, segment};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::raise;

/// Returns the key of a name.
#[wasm_bindgen(js_name = keyOf)]
pub fn key_of(prefix: &str, name: &str) -> Result<String, JsValue> {
    names::refuse_length(name).map_err(raise)?;
    let mut key = prefix.to_string();
    // Writing to a string cannot fail.
    let _ = KeyPart::new(&mut key).write_str(name);
    Ok(key)
}

/// Refuses a new name.
#[wasm_bindgen(js_name = refuseName)]
pub fn refuse_name(name: &str, is_nfc: bool) -> Result<(), JsValue> {
    names::refuse(name, is_nfc).map_err(raise)
}

/// Returns the key of a store's floor.
#[wasm_bindgen(js_name = floorKey)]
pub fn floor_key() -> String {
    Floor::KEY.into()
}

/// Returns how many numbers a new counter skips; undefined for a store without a floor.
pub(super) fn skipped(floor: Option<&[u8]>) -> Result<u64, Error> {
    floor.map_or(Ok(0), |floor| Floor::read(floor).map(|floor| floor.skip))
}

/// Returns the default time that a call waits for a store, ms.
#[wasm_bindgen(js_name = maxWaitMs)]
pub fn max_wait_ms() -> f64 {
    MAX_WAIT_MS as f64
}

/// Returns how long a request may be without an answer before it is asked again, ms.
#[wasm_bindgen(js_name = doubtMs)]
pub fn doubt_ms() -> f64 {
    segment::DOUBT_MS as f64
}

/// Makes the error of a call that finds no number.
#[wasm_bindgen(unchecked_return_type = "Error")]
pub fn dry(wait_ms: f64) -> JsValue {
    raise(Error::numbers_dry(wait_ms as u64))
}

/// Makes the error of a call after the close.
#[wasm_bindgen(unchecked_return_type = "Error")]
pub fn closed() -> JsValue {
    raise(Error::closed())
}

/// Returns the pause after an opening without an answer, ms.
#[wasm_bindgen(js_name = retryMs)]
pub fn retry_ms() -> f64 {
    segment::RETRY_MS as f64
}
