//! Finds the systems that could have minted an ID.

use alloc::string::ToString;
use alloc::vec::Vec;

use js_sys::{BigInt, Object};
use snowmint_inspect::inspect::{self as core_inspect, Candidate, Kind};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{integer, set};

/// Lists the systems that could have minted a text, or the integer with these digits, the most plausible first.
#[wasm_bindgen(unchecked_return_type = "Candidate[]")]
pub fn inspect(text: &str, is_integer: bool, now_ms: f64) -> Vec<Object> {
    let candidates = if is_integer {
        core_inspect::inspect_integer(integer(text), now_ms as i64)
    } else {
        core_inspect::inspect(text, now_ms as i64)
    };
    candidates.iter().map(object_of).collect()
}

fn object_of(candidate: &Candidate) -> Object {
    let object = Object::new();
    set(&object, "kind", candidate.kind().name());
    set(&object, "layout", candidate.system().map_or(JsValue::NULL, JsValue::from_str));
    set(&object, "layoutText", candidate.layout().map_or(JsValue::NULL, |layout| layout.to_string().into()));
    let id = if let Kind::Snowflake { id, .. } = candidate.kind() { BigInt::from(id).into() } else { JsValue::NULL };
    set(&object, "id", id);
    set(&object, "form", candidate.form().name());
    let ms = candidate.timestamp_ms().map(|ms| ms as f64);
    let more_us = candidate.timestamp_us().unwrap_or_default().rem_euclid(1000) as f64;
    set(&object, "timestampMs", ms.map_or(JsValue::NULL, JsValue::from_f64));
    set(&object, "timestampUs", ms.map_or(JsValue::NULL, |ms| (ms * 1000.0 + more_us).into()));
    set(&object, "confidence", candidate.confidence().name());
    set(&object, "plausible", candidate.is_plausible());
    set(&object, "reason", candidate.reason().to_string());
    object
}

#[wasm_bindgen(typescript_custom_section)]
const CANDIDATE: &str = "
/** A system that could have minted the inspected value. */
export interface Candidate {
  kind: string;
  layout: string | null;
  layoutText: string | null;
  id: bigint | null;
  form: string;
  timestampMs: number | null;
  timestampUs: number | null;
  confidence: string;
  plausible: boolean;
  reason: string;
}";
