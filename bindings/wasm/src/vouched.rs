//! Whether the caller or a lease vouches for a node.

use snowmint_core::lease;
use wasm_bindgen::prelude::wasm_bindgen;

/// Returns whether the caller vouches for the node that it gives.
#[wasm_bindgen(js_name = isVouched)]
pub fn is_vouched(has_store: bool, has_namespace: bool) -> bool {
    lease::is_vouched(has_store, has_namespace)
}
