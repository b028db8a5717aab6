//! Text forms of IDs.

use glue::buffer;
use snowmint_core::TextForm;

/// Writes the text of an ID, and returns its length. `form` is a place in [`TextForm::ALL`].
#[unsafe(no_mangle)]
pub extern "C" fn text_encode(id: u64, form: u32) -> u32 {
    let text = TextForm::ALL[form as usize].encode(id);
    let bytes = text.as_bytes();
    buffer().text[..bytes.len()].copy_from_slice(bytes);
    bytes.len() as u32
}
