//! The errors of a store over the service, for answers that do not grant a lease.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use snowmint_core::lease::{NOT_SNOWMINT, REFUSALS, TOKEN_REFUSED};
use wasm_bindgen::prelude::wasm_bindgen;

/// Returns the codes of the service's refusals; an answer with any other code is a `STORE_UNAVAILABLE`.
#[wasm_bindgen(js_name = serviceRefusals)]
pub fn service_refusals() -> Vec<String> {
    REFUSALS.iter().map(ToString::to_string).collect()
}

/// Returns the message about a refused token.
#[wasm_bindgen(js_name = tokenRefused)]
pub fn token_refused() -> String {
    TOKEN_REFUSED.into()
}

/// Returns the message about an answer that no service of snowmint gives.
#[wasm_bindgen(js_name = notSnowmint)]
pub fn not_snowmint(answer: &str) -> String {
    NOT_SNOWMINT.replace("{answer}", answer)
}
