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
    reason = "JavaScript has its times and counts as doubles, and such a cast saturates"
)]

extern crate alloc;

use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};

mod convert;
mod error;
#[cfg(feature = "mint")]
mod layout;
#[cfg(feature = "mint")]
mod snowflake;
#[cfg(feature = "mint")]
mod text;

#[global_allocator]
#[allow(unsafe_code, reason = "an allocator for one thread, which no module shares")]
// SAFETY: the memory of a module belongs to one thread.
static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> =
    unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };

/// Ends in a trap, which JavaScript sees as an exception.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
