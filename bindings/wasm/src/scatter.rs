//! Scatter: reversible permutations of IDs.

use snowmint_core::scatter;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{id, integer};
use crate::error::raise;

/// Moves the last `digits` decimal digits behind the first one.
#[wasm_bindgen(js_name = rotateDigits)]
pub fn rotate_digits(value: &str, digits: &str) -> Result<u64, JsValue> {
    scatter::rotate_digits(id(value)?, integer(digits).count()).map_err(raise)
}

/// The inverse of `rotateDigits`.
#[wasm_bindgen(js_name = unrotateDigits)]
pub fn unrotate_digits(value: &str, digits: &str) -> Result<u64, JsValue> {
    scatter::unrotate_digits(id(value)?, integer(digits).count()).map_err(raise)
}

/// Turns the low 63 bits round.
#[wasm_bindgen(js_name = reverseBits)]
pub fn reverse_bits(value: &str) -> Result<u64, JsValue> {
    scatter::reverse_bits(id(value)?).map_err(raise)
}

/// Puts one of 2^`bits` shard numbers on top.
#[wasm_bindgen(js_name = shardHigh)]
pub fn shard_high(value: &str, bits: &str) -> Result<u64, JsValue> {
    scatter::shard_high(id(value)?, integer(bits).count()).map_err(raise)
}

/// The inverse of `shardHigh`.
#[wasm_bindgen(js_name = unshardHigh)]
pub fn unshard_high(value: &str, bits: &str) -> Result<u64, JsValue> {
    scatter::unshard_high(id(value)?, integer(bits).count()).map_err(raise)
}
