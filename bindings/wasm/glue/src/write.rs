//! Texts for JavaScript, written into the shared buffer.

use core::fmt;

use crate::memory::buffer;

/// A text that is written into the buffer. What is beyond the buffer, which no text of core is, is cut.
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
