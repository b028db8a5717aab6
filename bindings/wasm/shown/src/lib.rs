//! Shows a text that another party wrote, character by character, so that a text of any length passes.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]

use glue::escape;

/// Writes the escape of a character that is never shown as it is, and returns its length; 0 for any other character.
#[unsafe(no_mangle)]
pub extern "C" fn shown(code: u32) -> u32 {
    escape(code)
}
