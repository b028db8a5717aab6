//! Texts for JavaScript, written into the shared buffer.

use core::fmt::{self, Write as _};

use snowmint_core::shown::{Showing, is_hidden};

use crate::memory::buffer;

/// Writes a text into the buffer, and drops all beyond its end; no text of core is so long.
pub struct Text {
    /// Bytes written.
    pub len: usize,
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

/// Writes the escape of a character that is never shown as it is, and returns its length; 0 for any other character.
pub fn escape(code: u32) -> u32 {
    let mut text = Text { len: 0 };
    if let Some(letter) = char::from_u32(code).filter(|letter| is_hidden(*letter)) {
        // Writing into the buffer cannot fail.
        let _ = Showing(&mut text).write_char(letter);
    }
    text.len as u32
}
