//! The records of leases in a store, and their versions.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use snowmint_core::lease::{NamespaceRecord, Record};
use snowmint_core::store;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::length;

/// Returns the record of a namespace with another count of nodes, for a store that puts back a part of its records. Other bytes
/// stay.
#[wasm_bindgen]
pub fn recounted(record: &[u8], nodes: f64) -> Vec<u8> {
    let Ok((layout, namespace)) = NamespaceRecord::read(record) else { return record.into() };
    let namespace = NamespaceRecord { nodes: nodes as u64, ..namespace };
    let mut recounted = layout.to_vec();
    recounted.extend_from_slice(namespace.to_string().as_bytes());
    recounted
}

/// Returns whether a store's answer is the version of a record, after a write that expected another version; 0 for a read.
#[wasm_bindgen(js_name = isVersion)]
pub fn is_version(answer: &JsValue, expected: f64) -> bool {
    let number = answer.as_f64().filter(|number| number % 1.0 == 0.0);
    number.is_some_and(|number| store::version(length(number), expected as u64).is_some())
}

/// Returns the message about an answer that is not a version.
#[wasm_bindgen(js_name = notAVersion)]
pub fn not_a_version(answer: &str) -> String {
    store::NOT_A_VERSION.replace("{answer}", answer)
}

/// Returns whether two records have the same holder.
#[wasm_bindgen(js_name = isHeld)]
pub fn is_held(found: &[u8], saved: &[u8]) -> bool {
    let (found, saved) = (Record::from_bytes(found), Record::from_bytes(saved));
    found.is_ok_and(|found| saved.is_ok_and(|saved| found.is_held_by(saved.nonce)))
}
