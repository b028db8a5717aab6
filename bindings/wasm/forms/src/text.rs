//! Reads text forms of IDs.

use glue::{TEXT, answer, buffer};
use snowmint_core::TextForm;

/// Checks integer 0 as an ID. Word 0: the ID.
#[unsafe(no_mangle)]
pub extern "C" fn text_id() -> i32 {
    answer(buffer().integer(0).id(), |id| {
        buffer().words[0] = id;
        0
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
