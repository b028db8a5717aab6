//! snowmint-core for JavaScript.
//!
//! Only numbers cross the border: 64-bit values as `BigInt`, handles and lengths as `Number`. Texts and rows of
//! numbers go through one [buffer](memory::Buffer) that both sides read and write. Formatting, strings and exceptions
//! on this side would double the module; the classes that users see are in `npm/src`.
//!
//! A function that can fail answers -1 (or a negative `BigInt`) and leaves the error to `take_error`.
//!
//! Features make this several modules: most pages only mint.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(missing_docs, reason = "wasm-bindgen adds items; what is exported here is documented")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss
)]

extern crate alloc;

#[cfg(any(feature = "mint", feature = "forms", feature = "inspect", feature = "lease", feature = "wide"))]
mod convert;
#[cfg(any(feature = "mint", feature = "forms", feature = "lease", feature = "wide"))]
mod failure;
mod memory;
#[cfg(any(feature = "inspect", feature = "durability", feature = "lease"))]
mod write;

#[cfg(feature = "mint")]
mod generator;
#[cfg(feature = "mint")]
mod layout;

#[cfg(feature = "forms")]
mod scatter;
#[cfg(feature = "forms")]
mod text;

#[cfg(feature = "inspect")]
mod inspect;

#[cfg(feature = "lease")]
mod lease;

#[cfg(feature = "durability")]
mod durability;

#[cfg(feature = "wide")]
mod minter;
#[cfg(feature = "wide")]
mod names;
#[cfg(feature = "wide")]
mod wide;

#[cfg(feature = "sql")]
mod sql;
