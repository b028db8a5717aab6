//! Texts, integers and errors through the shared buffer.

use core::fmt;

use snowmint_core::{Error, Integer};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::memory::{Buffer, buffer, state};

/// What a function answers that failed.
pub(crate) const FAILED: i32 = -1;

impl Buffer {
    /// The text that JavaScript wrote; one that did not fit is one that nothing accepts.
    pub(crate) fn text(&self, len: u32) -> &[u8] {
        self.text.get(..len as usize).unwrap_or(b" ")
    }

    /// The integer that JavaScript wrote: its magnitude, and whether it is 0: in range, 1: negative, 2: beyond 64 bits.
    #[inline(never)]
    pub(crate) fn integer(&self, at: usize) -> Integer {
        match self.words[at + 1] {
            0 => Integer::Fits(self.words[at]),
            1 => Integer::Negative(self.words[at]),
            _ => Integer::Beyond,
        }
    }
}

/// A text that is written into the buffer. What is beyond the buffer, which no text of core is, is cut.
pub(crate) struct Text {
    pub(crate) len: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().try_for_each(|byte| self.write_char(char::from(byte)))
    }

    fn write_char(&mut self, character: char) -> fmt::Result {
        if let Some(place) = buffer().text.get_mut(self.len) {
            *place = character as u8;
            self.len += 1;
        }
        Ok(())
    }
}

/// Keeps an error for `take_error`.
#[cold]
#[inline(never)]
pub(crate) fn failed(error: Error) -> i32 {
    state().error = Some(error);
    FAILED
}

/// What `value` makes of a result: a handle, a length or 0.
#[inline(always)]
#[allow(clippy::inline_always, reason = "out of line, results would be copied, which takes more than the call saves")]
pub(crate) fn answer<T>(result: Result<T, Error>, value: impl FnOnce(T) -> u32) -> i32 {
    match result {
        Ok(result) => value(result) as i32,
        Err(error) => failed(error),
    }
}

/// Words: what fills the sentence of the last error, of which the first tells which sentence. Whether there is one.
#[wasm_bindgen]
pub fn take_error() -> bool {
    let Some(error) = state().error.take() else { return false };
    buffer().words[..4].copy_from_slice(&error.to_words());
    true
}
