//! The values of JavaScript that users pass, as values of core.

use js_sys::{BigInt, Object, Reflect};
use snowmint_core::{ErrorKind, Integer};
use wasm_bindgen::{JsCast, JsValue};

use crate::error::{not_an_integer, raise};

/// The largest integer below which a double has every integer.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// Reads the digits of an integer of any size, which JavaScript has checked.
pub fn digits(text: &str) -> Integer {
    Integer::parse(text).unwrap_or(Integer::Above)
}

/// Reads a length of time, rounded down. A number below 0 and NaN are below all lengths.
pub fn length(ms: f64) -> Integer {
    // 2^64.
    if (0.0..18_446_744_073_709_551_616.0).contains(&ms) { Integer::Fits(ms as u64) } else { Integer::Below }
}

/// Reads an integer of any size: a bigint, a decimal text, or a safe number.
///
/// # Errors
/// An exception with the code of `kind` for any other value.
pub fn integer_or(value: &JsValue, kind: ErrorKind) -> Result<Integer, JsValue> {
    let integer = if let Some(number) = value.as_f64() {
        let is_safe = number.abs() <= MAX_SAFE && number % 1.0 == 0.0;
        is_safe.then_some(Integer::from(number as i64))
    } else {
        let digits = value.dyn_ref::<BigInt>().map(|integer| integer.to_string(10));
        let digits = if let Some(Ok(digits)) = digits { digits.as_string() } else { value.as_string() };
        digits.and_then(Integer::parse)
    };
    integer.ok_or_else(|| not_an_integer(kind.code(), value))
}

/// Reads an integer of any size. Throws `INVALID_ID` for any other value.
pub fn integer(value: &JsValue) -> Result<Integer, JsValue> {
    integer_or(value, ErrorKind::InvalidId)
}

/// Reads an ID. Throws `INVALID_ID`.
pub fn id(value: &JsValue) -> Result<u64, JsValue> {
    integer(value)?.id().map_err(raise)
}

/// Sets a property of an object that this crate has made.
pub fn set(object: &Object, name: &str, value: impl Into<JsValue>) {
    // It fails for objects of other makers only.
    let _ = Reflect::set(object, &name.into(), &value.into());
}
