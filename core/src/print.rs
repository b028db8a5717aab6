//! Texts without the formatting machinery, which would double the size of the wasm module: a text goes out character
//! by character, into a function that cannot fail.

use core::fmt;

/// Where the characters of a text go.
pub(crate) trait Put: FnMut(char) {}

impl<F: FnMut(char)> Put for F {}

pub(crate) fn text(put: &mut impl Put, text: &str) {
    text.bytes().for_each(|byte| put(char::from(byte)));
}

/// `value` in decimal.
pub(crate) fn unsigned(put: &mut impl Put, value: u64) {
    padded(put, value, 1);
}

/// `value` in decimal, with a sign if it is negative.
pub(crate) fn signed(put: &mut impl Put, value: i64) {
    if value < 0 {
        put('-');
    }
    unsigned(put, value.unsigned_abs());
}

/// `value` in decimal, with zeros in front up to `width` digits (at most 20).
pub(crate) fn padded(put: &mut impl Put, value: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut rest = value;
    while rest > 0 {
        first -= 1;
        digits[first] += (rest % 10) as u8;
        rest /= 10;
    }
    digits.iter().skip(first.min(digits.len() - width)).for_each(|digit| put(char::from(*digit)));
}

/// For `Display`: writes what `print` puts.
pub(crate) fn display(f: &mut fmt::Formatter<'_>, print: impl FnOnce(&mut dyn FnMut(char))) -> fmt::Result {
    use fmt::Write;
    let mut result = Ok(());
    print(&mut |character| result = result.and_then(|()| f.write_char(character)));
    result
}
