//! The next step of a lease, as an object.

use js_sys::{Object, Uint8Array};
use snowmint_core::lease::{Record, RenewalStep};
use snowmint_core::store::Ask;
use snowmint_core::{Error, Window};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::set;
use crate::error::raise;

#[wasm_bindgen(typescript_custom_section)]
const STEP: &str = "
/** The next step of a lease. */
export type Step =
  | { kind: 'readLayout' | 'readFloor' | 'list' | 'clock' | 'unanswered' | 'released' }
  | { kind: 'writeLayout'; record: Uint8Array; version: number }
  | { kind: 'read'; node: number }
  | { kind: 'write'; node: number; record: Uint8Array; version: number }
  | { kind: 'window'; node: number; start: number; end: number; skewMs: number | null }
  | { kind: 'wait'; error: Error; waitMs: number }
  | { kind: 'taken' | 'failed' | 'lost'; error: Error }
  | { kind: 'refused'; code: string; message: string };";

pub(super) fn renewed(next: RenewalStep, node: u32) -> Object {
    match next {
        RenewalStep::ReadClock => step("clock"),
        RenewalStep::Ask(ask) => asked(&ask, node),
        RenewalStep::Window(window, skew_ms) => granted(node, window, skew_ms),
        RenewalStep::Later(None) => step("unanswered"),
        RenewalStep::Later(Some(error)) => failed("failed", error),
        RenewalStep::Lost(error) => failed("lost", error),
        RenewalStep::Released => step("released"),
    }
}

pub(super) fn step(kind: &str) -> Object {
    let step = Object::new();
    set(&step, "kind", kind);
    step
}

pub(super) fn failed(kind: &str, error: Error) -> Object {
    let step = step(kind);
    set(&step, "error", raise(error));
    step
}

pub(super) fn asked(ask: &Ask<Record>, node: u32) -> Object {
    let Ask::Write(record, version) = ask else {
        let step = step("read");
        set(&step, "node", node);
        return step;
    };
    let step = step("write");
    set(&step, "node", node);
    set(&step, "record", Uint8Array::from(&record.to_bytes()[..]));
    set(&step, "version", *version as f64);
    step
}

pub(super) fn granted(node: u32, window: Window, skew_ms: Option<i64>) -> Object {
    let step = step("window");
    set(&step, "node", node);
    set(&step, "start", window.start_ms as f64);
    set(&step, "end", window.end_ms as f64);
    set(&step, "skewMs", skew_ms.map_or(JsValue::NULL, |ms| (ms as f64).into()));
    step
}
