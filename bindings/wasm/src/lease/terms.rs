//! The terms that a caller sets for a lease: window, node, namespace and clock.

use alloc::string::{String, ToString};
use core::fmt::Write;

use snowmint_core::lease::{self, NamespaceName};
use snowmint_core::store::KeyPart;
use snowmint_core::{Error, Layout, Window};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::raise;

pub(super) fn length_ms(
    layout: &Layout,
    max_ahead_ms: f64,
    window_ms: Option<f64>,
    default_ms: f64,
) -> Result<u64, Error> {
    Window::length_ms(layout, window_ms.map(|ms| ms as u64), default_ms as u64, max_ahead_ms as u64)
}

/// Refuses windows that a claim would refuse, for a generator that shares an existing lease.
#[wasm_bindgen(js_name = checkWindow)]
pub fn check_window(layout: &str, max_ahead_ms: f64, window_ms: Option<f64>, default_ms: f64) -> Result<(), JsValue> {
    let layout = Layout::parse(layout).map_err(raise)?;
    length_ms(&layout, max_ahead_ms, window_ms, default_ms).map(drop).map_err(raise)
}

/// Reads nodes of a layout such as `5` or `datacenter=0`. Returns them as a text that is the same for the same nodes, which is empty
/// for all.
#[wasm_bindgen]
pub fn nodes(layout: &str, text: &str) -> Result<String, JsValue> {
    let layout = Layout::parse(layout).map_err(raise)?;
    let nodes = layout.parse_nodes(text).map_err(raise)?;
    Ok(layout.show_nodes(nodes).to_string())
}

/// Returns the value of a node field, if all these nodes have the same value there.
#[wasm_bindgen(js_name = nodeField)]
pub fn node_field(layout: &str, nodes: &str, field: &str) -> Result<Option<u32>, JsValue> {
    let layout = Layout::parse(layout).map_err(raise)?;
    let nodes = layout.parse_nodes(nodes).map_err(raise)?;
    Ok(layout.node_field(nodes, field))
}

/// Refuses a lease of one node that the caller excludes, or that this realm uses without a lease.
#[wasm_bindgen(js_name = checkNode)]
pub fn check_node(node: u32, is_excluded: bool, is_vouched: bool) -> Result<(), JsValue> {
    lease::check_node(node, is_excluded, is_vouched).map_err(raise)
}

/// Returns a namespace as a part of keys: of the name if there is one, otherwise the default one of the layout.
#[wasm_bindgen(js_name = namespaceKey)]
pub fn namespace_key(name: Option<String>, layout: &str) -> Result<String, JsValue> {
    let name = match &name {
        Some(name) => NamespaceName::new(name),
        None => Layout::parse(layout).map(|layout| NamespaceName::Default(layout.layout_id())),
    };
    let mut key = String::new();
    // Writing to a string cannot fail.
    let _ = write!(KeyPart::new(&mut key), "{}", name.map_err(raise)?);
    Ok(key)
}

/// Returns the ms from a renewal to the next one, after `failures` in a row. `left_ms` are left of the granted window,
/// and `nonce` has 16 random bytes.
#[wasm_bindgen(js_name = renewalPauseMs)]
pub fn renewal_pause_ms(window_ms: f64, left_ms: f64, failures: f64, nonce: &[u8]) -> f64 {
    lease::renewal_pause_ms(window_ms as u64, left_ms as u64, failures as u64, nonce_of(nonce)) as f64
}

/// Reads a nonce from its 16 bytes.
pub(super) fn nonce_of(bytes: &[u8]) -> u128 {
    bytes.try_into().map(u128::from_le_bytes).unwrap_or_default()
}

/// Returns how far the times of IDs can be from the store's clock, in ms.
#[wasm_bindgen(js_name = disorderMs)]
pub fn disorder_ms(layout: &str, max_ahead_ms: f64, skew_ms: f64) -> Result<f64, JsValue> {
    let layout = Layout::parse(layout).map_err(raise)?;
    Ok(lease::disorder_ms(&layout, max_ahead_ms as u64, skew_ms as i64) as f64)
}

/// Refuses a reservation where no directory can keep it.
#[wasm_bindgen(js_name = refuseReserve)]
pub fn refuse_reserve() -> Result<(), JsValue> {
    Err(raise(lease::Reservation::no_directory()))
}

/// Returns how far a lessor's clock is ahead of the monotonic clock, in µs; `before_us` is undefined for the first answer.
#[wasm_bindgen(js_name = lessorAheadUs)]
pub fn lessor_ahead_us(before_us: Option<f64>, clock_ms: f64, sent_us: f64, heard_us: f64) -> f64 {
    lease::lessor_ahead_us(before_us.map(|us| us as i64), clock_ms as i64, sent_us as i64, heard_us as i64) as f64
}
