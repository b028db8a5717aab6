//! Layouts and generators.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(missing_docs, reason = "wasm-bindgen adds items; what is exported here is documented")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss
)]

mod generator;
mod layout;
