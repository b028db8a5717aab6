//! UUIDs, ULIDs and `ObjectId`s.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(missing_docs, reason = "wasm-bindgen adds items; what is exported here is documented")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

extern crate alloc;

mod minter;
mod names;
mod wide;
