//! The code that all wasm modules share.
//!
//! Only numbers cross the border: 64-bit values as `BigInt`, handles and lengths as `Number`. Texts and rows of
//! numbers go through one [`Buffer`] that both sides read and write. Formatting, strings and exceptions
//! on this side would double the size of a module; the classes that users see are in `npm/src`.
//!
//! A function that can fail returns -1 (or a negative `BigInt`) and leaves the error to `take_error`.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in `memory`")]
#![allow(missing_debug_implementations, reason = "a wasm module prints nothing")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

extern crate alloc;

mod convert;
mod failure;
mod memory;
mod write;

pub use convert::Told;
pub use failure::{answer, failed};
pub use memory::{Buffer, Single, TEXT, buffer, keep, kept, kept_mut};
pub use write::{Text, escape};
