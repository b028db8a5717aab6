//! The values of JavaScript that users pass, as values of core.

use js_sys::{Object, Reflect};
use snowmint_core::Integer;
use snowmint_core::store::Reply;
use wasm_bindgen::JsValue;

use crate::error::raise;

/// Reads an integer of any size from its digits. The package has refused all other values, such as a number that has lost digits.
pub fn integer(digits: &str) -> Integer {
    Integer::parse(digits).unwrap_or(Integer::Above)
}

/// Reads an ID from its digits. Throws `INVALID_ID` beyond 64 bits.
pub fn id(digits: &str) -> Result<u64, JsValue> {
    integer(digits).id().map_err(raise)
}

/// Reads a length of time, rounded down. A number below 0 and NaN are below all lengths.
pub fn length(ms: f64) -> Integer {
    // 2^64.
    if (0.0..18_446_744_073_709_551_616.0).contains(&ms) { Integer::Fits(ms as u64) } else { Integer::Below }
}

/// Sets a property of an object that this crate has made.
pub fn set(object: &Object, name: &str, value: impl Into<JsValue>) {
    // It fails for objects of other makers only.
    let _ = Reflect::set(object, &name.into(), &value.into());
}

/// Reads the outcome of a write: the version of the record, null if the store holds another version, undefined if the store did not
/// answer.
pub fn written<R>(outcome: &JsValue) -> Reply<R> {
    match outcome.as_f64() {
        Some(version) => Reply::Written(version as u64),
        None if outcome.is_null() => Reply::Conflict,
        None => Reply::Unknown,
    }
}
