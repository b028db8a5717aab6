//! Text forms of an ID.

use glue::{TEXT, answer, buffer};
use snowmint_core::TextForm;

/// Writes the text of integer 0, an ID, and returns its length. `form` is a place in [`TextForm::ALL`].
#[unsafe(no_mangle)]
pub extern "C" fn text_encode(form: u32) -> i32 {
    let buffer = buffer();
    answer(buffer.integer(0).id(), |id| {
        let text = TextForm::ALL[form as usize].encode(id);
        buffer.text[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
        text.as_bytes().len() as u32
    })
}

/// Reads a text of `len` bytes and `characters` characters. Word 0: the ID.
#[unsafe(no_mangle)]
pub extern "C" fn text_decode(form: u32, len: u32, characters: u32) -> i32 {
    let (form, buffer) = (TextForm::ALL[form as usize], buffer());
    let id = if len as usize > TEXT {
        // The buffer does not hold all of the text, so JavaScript has counted the characters.
        Err(form.wrong_length(characters as usize))
    } else {
        form.decode(buffer.text(len))
    };
    answer(id, |id| {
        buffer.words[0] = id;
        0
    })
}
