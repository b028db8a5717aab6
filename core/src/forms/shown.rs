//! Text that another party wrote, and large numbers, as terminals, logs and errors show them.
//!
//! A label of a holder, the name of a key or the message of a server can contain the commands of a terminal, the end of a
//! line, or marks that turn the order of letters around. Whoever shows such a text passes it through [`Shown`].
//!
//! ```
//! use snowmint_core::shown::Shown;
//! assert_eq!(Shown("web\u{1b}[2J\nok    store").to_string(), r"web\u{1b}[2J\nok    store");
//! assert_eq!(Shown("Käse 東京 C:\\ids").to_string(), "Käse 東京 C:\\ids");
//! ```

use core::fmt::{self, Display, Formatter, Write};

/// Returns whether a character is always escaped: a control or format character, or a separator of lines. These are
/// Unicode's categories Cc, Cf, Zl and Zp, and the unassigned places among them.
///
/// # Examples
/// ```
/// use snowmint_core::shown::is_hidden;
/// assert!(is_hidden('\u{1b}') && is_hidden('\n') && is_hidden('\u{202e}') && !is_hidden('é') && !is_hidden('\\'));
/// ```
// Once in a wasm module.
#[inline(never)]
pub const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns the place of the first [hidden](is_hidden) character, counted from 1. `None` if the text has no such
/// character.
pub(crate) fn place_of_hidden(text: &str) -> Option<u64> {
    text.chars().position(is_hidden).map(|place| place as u64 + 1)
}

/// A value whose hidden characters are shown as `\n`, `\r`, `\t` or `\u{1b}`.
///
/// A backslash is not escaped. So a text that is escaped twice, in a service and in its client, looks as after the
/// first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown<T>(pub T);

impl Shown<&str> {
    /// Returns whether the text is empty.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the text with its hidden characters escaped. Compiles to less code than formatting does.
    ///
    /// # Errors
    /// The errors of `out`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::shown::Shown;
    /// let mut line = String::new();
    /// Shown("a\n").write(&mut line)?;
    /// assert_eq!(line, r"a\n");
    /// # Ok::<(), core::fmt::Error>(())
    /// ```
    pub fn write(&self, out: &mut impl Write) -> fmt::Result {
        Showing(out).write_str(self.0)
    }
}

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(Showing(f), "{}", self.0)
    }
}

/// Passes text on with its hidden characters escaped, as [`Shown`] does.
///
/// # Examples
/// ```
/// use core::fmt::Write;
/// use snowmint_core::shown::Showing;
/// let mut line = String::new();
/// write!(Showing(&mut line), "user {}", "a\rb")?;
/// assert_eq!(line, r"user a\rb");
/// # Ok::<(), core::fmt::Error>(())
/// ```
#[derive(Debug)]
pub struct Showing<'a, W>(pub &'a mut W);

impl<W: Write> Write for Showing<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| self.write_char(letter))
    }

    fn write_char(&mut self, letter: char) -> fmt::Result {
        let Self(out) = self;
        match letter {
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            _ if is_hidden(letter) => write_code(*out, letter.into()),
            // Not as a character: a writer of bytes would cut it.
            _ => out.write_str(letter.encode_utf8(&mut [0; 4])),
        }
    }
}

/// A number with a comma before each group of three digits.
///
/// # Examples
/// ```
/// use snowmint_core::shown::Grouped;
/// assert_eq!([0, 999, 1000, 12_034_567].map(|number| Grouped(number).to_string()), ["0", "999", "1,000", "12,034,567"]);
/// assert_eq!(Grouped(u64::MAX).to_string(), "18,446,744,073,709,551,615");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grouped(pub u64);

impl Display for Grouped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            number @ ..1000 => write!(f, "{number}"),
            number => write!(f, "{},{:03}", Self(number / 1000), number % 1000),
        }
    }
}

/// Writes `\u{1b}`. By hand, because the formatting of hexadecimal numbers would make a wasm module larger.
fn write_code(out: &mut impl Write, code: u32) -> fmt::Result {
    out.write_str("\\u{")?;
    for place in (0..=code.checked_ilog2().unwrap_or_default() / 4).rev() {
        let digit = (code >> (4 * place) & 15) as usize;
        out.write_str("0123456789abcdef".get(digit..=digit).unwrap_or_default())?;
    }
    out.write_str("}")
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_shown_text_stays_as_it_is() {
        let once = Shown("a\u{1b}]0;title\u{7}\r\n\u{9b}31m\u{2066}\u{85}\u{7f}\\n").to_string();
        assert_eq!(once, r"a\u{1b}]0;title\u{7}\r\n\u{9b}31m\u{2066}\u{85}\u{7f}\n");
        assert_eq!(Shown(&once).to_string(), once);
        assert!(!once.chars().any(is_hidden));
    }

    #[test]
    fn the_place_counts_characters() {
        assert_eq!([place_of_hidden("é\nb"), place_of_hidden("éb")], [Some(2), None]);
    }
}
