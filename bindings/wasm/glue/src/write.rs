//! Texts for JavaScript, written into the shared buffer.

use core::fmt;

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
