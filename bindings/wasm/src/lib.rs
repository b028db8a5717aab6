//! snowmint for JavaScript: each function converts its arguments, calls core, and converts the result. No rules.
//!
//! The crate is built several times, for each module with the feature of its name.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(missing_debug_implementations, reason = "JavaScript cannot print a handle")]
#![allow(clippy::needless_pass_by_value, reason = "wasm-bindgen hands arguments over")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "JavaScript has its times and counts as doubles, and a cast saturates; enums are compared by what wasm-bindgen makes"
)]

extern crate alloc;

#[allow(dead_code, reason = "no module uses every conversion")]
mod convert;
#[cfg(feature = "mint")]
mod defaults;
#[cfg(feature = "tools")]
mod durability;
#[allow(dead_code, reason = "no module has every error")]
mod error;
#[cfg(feature = "tools")]
mod inspect;
#[cfg(feature = "mint")]
mod layout;
#[cfg(feature = "lease")]
mod lease;
#[cfg(feature = "tools")]
mod mask;
#[cfg(feature = "tools")]
mod minter;
#[cfg(feature = "numbers")]
mod numbers;
#[cfg(feature = "tools")]
mod prefix;
#[cfg(feature = "tools")]
mod scatter;
#[cfg(feature = "lease")]
mod service;
#[cfg(feature = "lease")]
mod shown;
#[cfg(feature = "mint")]
mod snowflake;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "mint")]
mod text;
#[cfg(feature = "lease")]
mod vouched;
#[cfg(feature = "tools")]
mod wide;

// A list of free memory would be searched from its begin: a collection of 50,000 layouts would take minutes.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Ends in a trap, which JavaScript sees as an exception.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
