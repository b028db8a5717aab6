//! Texts, integers and errors through the shared buffer.

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

    /// Writes a text from its start; answers its length. What is beyond the buffer, which no text of core is, is cut.
    pub(crate) fn write(&mut self, print: impl FnOnce(&mut dyn FnMut(char))) -> u32 {
        let mut len = 0;
        print(&mut |character| {
            if let Some(place) = self.text.get_mut(len) {
                *place = character as u8;
                len += 1;
            }
        });
        len as u32
    }
}

/// Keeps an error for `take_error`.
#[cold]
#[inline(never)]
pub(crate) fn failed(error: Error) -> i32 {
    state().error = Some(error);
    FAILED
}

/// A result as a handle, a length or 0.
#[inline(never)]
pub(crate) fn answer(result: Result<u32, Error>) -> i32 {
    match result {
        Ok(value) => value as i32,
        Err(error) => failed(error),
    }
}

/// The last error as "CODE sentence"; word 0 is its `retry_after_ms` or `by_ms`. 0 if there is none.
#[wasm_bindgen]
pub fn take_error() -> u32 {
    let Some(error) = state().error.take() else { return 0 };
    let buffer = buffer();
    buffer.words[0] = error.wait_ms().unwrap_or_default();
    buffer.write(|put| {
        error.code().bytes().for_each(|byte| put(char::from(byte)));
        put(' ');
        error.write_message(put);
    })
}

/// Fails: no node was given.
#[wasm_bindgen]
pub fn node_needed() {
    failed(Error::node_needed());
}

/// Fails: the generator was closed.
#[wasm_bindgen]
pub fn closed() {
    failed(Error::closed());
}
