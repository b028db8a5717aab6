//! Core's default times.

use js_sys::Object;
use snowmint_core::{Options, Window};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::set;

/// Returns core's default times, ms.
#[wasm_bindgen(unchecked_return_type = "Defaults")]
pub fn defaults() -> Object {
    let defaults = Object::new();
    for (name, ms) in [
        ("aheadMs", Options::DEFAULT.max_ahead_ms),
        ("waitMs", Options::DEFAULT.max_wait_ms),
        ("eventLoopWaitMs", Options::EVENT_LOOP.max_wait_ms),
        ("nonblockingAheadMs", Options::NONBLOCKING.max_ahead_ms),
        ("nonblockingWaitMs", Options::NONBLOCKING.max_wait_ms),
        ("slotMs", Window::SLOT_MS),
        ("engineMs", Window::ENGINE_MS),
    ] {
        set(&defaults, name, ms as f64);
    }
    defaults
}

#[wasm_bindgen(typescript_custom_section)]
const DEFAULTS: &str = "
/** Core's default times, ms. */
export interface Defaults {
  aheadMs: number;
  waitMs: number;
  eventLoopWaitMs: number;
  nonblockingAheadMs: number;
  nonblockingWaitMs: number;
  slotMs: number;
  engineMs: number;
}";
