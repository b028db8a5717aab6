//! Text forms of IDs, and scatter.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(missing_docs, reason = "wasm-bindgen adds items; what is exported here is documented")]
#![allow(clippy::cast_possible_truncation)]

mod scatter;
mod text;
