//! Finds the systems that could have minted an ID.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use core::fmt::Write;

use glue::{Single, Text, buffer};
use snowmint_core::inspect::{self as core_inspect, Candidates, Kind};

/// The candidates for the last value.
static FOUND: Single<Option<Candidates>> = Single::new(None);

/// Finds the candidates for a text, and returns their count.
#[unsafe(no_mangle)]
pub extern "C" fn inspect(len: u32, now_ms: f64) -> u32 {
    FOUND.get().insert(core_inspect::inspect(buffer().text(len), now_ms as i64)).len() as u32
}

/// Finds the candidates for integer 0, and returns their count.
#[unsafe(no_mangle)]
pub extern "C" fn inspect_integer(now_ms: f64) -> u32 {
    FOUND.get().insert(core_inspect::inspect_integer(buffer().integer(0), now_ms as i64)).len() as u32
}

/// Writes the candidate at a place: its kind, system (or an empty line), form, confidence, reason and layout, one per line.
/// Returns the length of the text. Words: whether it has a time, the time in Unix ms, the microseconds after it, whether it
/// is plausible, the ID of a snowflake.
#[unsafe(no_mangle)]
pub extern "C" fn candidate(at: u32) -> u32 {
    let mut text = Text { len: 0 };
    if let Some(candidate) = FOUND.get().as_ref().and_then(|candidates| candidates.get(at as usize)) {
        let id = if let Kind::Snowflake { id, .. } = candidate.kind() { id } else { 0 };
        buffer().words[..5].copy_from_slice(&[
            u64::from(candidate.timestamp_ms().is_some()),
            candidate.timestamp_ms().unwrap_or_default() as u64,
            candidate.timestamp_us().unwrap_or_default().rem_euclid(1000) as u64,
            u64::from(candidate.is_plausible()),
            id,
        ]);
        let (kind, system, form) = (candidate.kind(), candidate.system().unwrap_or_default(), candidate.form());
        // Writing into the buffer cannot fail.
        let confidence = candidate.confidence().name();
        let _ = write!(text, "{}\n{system}\n{}\n{confidence}\n{}\n", kind.name(), form.name(), candidate.reason());
        if let Some(layout) = candidate.layout() {
            let _ = write!(text, "{layout}");
        }
    }
    text.len as u32
}
