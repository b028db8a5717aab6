//! Text forms of an ID.

use snowmint_core::{Error, TextForm};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::answer;
use crate::memory::buffer;

/// The text form of that number: its place in [`TextForm::ALL`].
fn form(number: u32) -> Result<TextForm, Error> {
    TextForm::ALL.get(number as usize).copied().map_or_else(|| TextForm::find(""), Ok)
}

/// The length of the text of integer 0.
#[wasm_bindgen]
pub fn text_encode(number: u32) -> i32 {
    let buffer = buffer();
    answer(form(number).and_then(|form| Ok((form, buffer.integer(0).id()?))).map(|(form, id)| {
        let text = form.encode(id);
        buffer.text[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
        text.as_bytes().len() as u32
    }))
}

/// Word 0: the ID of a text.
#[wasm_bindgen]
pub fn text_decode(number: u32, len: u32) -> i32 {
    let buffer = buffer();
    answer(form(number).and_then(|form| form.decode(buffer.text(len))).map(|id| {
        buffer.words[0] = id;
        0
    }))
}
