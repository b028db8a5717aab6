//! Reading a text from left to right.

use core::num::NonZeroU64;

use crate::error::What;
use crate::int::Integer;

pub(super) struct Reader<'a> {
    /// The text that is not read yet.
    pub(super) rest: &'a [u8],
}

/// A failure is only a reason: the caller makes the error, with the place where the rest begins.
pub(super) type Read<T> = Result<T, What>;

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    pub(super) fn skip(&mut self, token: &[u8]) -> bool {
        let Some((start, after)) = self.rest.split_at_checked(token.len()) else {
            return false;
        };
        // `==` would copy its code to here, which enlarges wasm.
        let skips = start.iter().zip(token).all(|(byte, wanted)| byte == wanted);
        if skips {
            self.rest = after;
        }
        skips
    }

    pub(super) fn expect(&mut self, token: &[u8]) -> Read<()> {
        if self.skip(token) { Ok(()) } else { Err(What::Grammar) }
    }

    pub(super) fn take_while(&mut self, kind: fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !kind(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Reads a decimal number above 0, without sign or leading zero. A number beyond 64 bits becomes 2^64-1.
    pub(super) fn number(&mut self) -> Option<NonZeroU64> {
        if let [b'0', ..] = self.rest {
            return None;
        }
        match Integer::parse(self.take_while(|byte| byte.is_ascii_digit()))? {
            Integer::Fits(value) => NonZeroU64::new(value),
            _ => Some(NonZeroU64::MAX),
        }
    }
    /// Works as [`Reader::number`], and reads `0` too. Returns 1 more than the number: `Option` stores a
    /// number above 0 without extra space.
    pub(super) fn number_and_1(&mut self) -> Option<NonZeroU64> {
        if self.skip(b"0") { Some(NonZeroU64::MIN) } else { self.number()?.checked_add(1) }
    }
}
