//! UUIDs, ULIDs, `ObjectId`s, KSUIDs and xids.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

extern crate alloc;

mod minter;
mod names;
mod wide;
