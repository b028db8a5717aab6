//! The next step of a machine, as an object.

use js_sys::{Object, Uint8Array};
use snowmint_core::store::Ask;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::set;

#[wasm_bindgen(typescript_custom_section)]
const STEP: &str = "
/** A request of a machine for its record, or the result of the call. */
export type Next<T> =
  | { kind: 'read' }
  | { kind: 'write'; record: Uint8Array; version: number }
  | { kind: 'done'; value: T };";

pub(super) fn asked<R, const N: usize>(ask: &Ask<R>, bytes: impl FnOnce(&R) -> [u8; N]) -> Object {
    let step = Object::new();
    if let Ask::Write(record, version) = ask {
        set(&step, "kind", "write");
        set(&step, "record", Uint8Array::from(&bytes(record)[..]));
        set(&step, "version", *version as f64);
    } else {
        set(&step, "kind", "read");
    }
    step
}

pub(super) fn done(value: impl Into<JsValue>) -> Object {
    let step = Object::new();
    set(&step, "kind", "done");
    set(&step, "value", value);
    step
}
