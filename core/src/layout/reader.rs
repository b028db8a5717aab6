//! Reading a text from left to right.

use core::num::NonZeroU64;

use crate::error::What;
use crate::int::Integer;

pub(super) struct Reader<'a> {
    /// What has not been read yet.
    pub(super) rest: &'a [u8],
}

/// What fails here says only what belongs where the rest begins: the whole error is made once, at the end.
pub(super) type Read<T> = Result<T, What>;

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    pub(super) fn skip(&mut self, token: &[u8]) -> bool {
        let Some((start, after)) = self.rest.split_at_checked(token.len()) else {
            return false;
        };
        // Where `==` is used it is compiled in, which counts in wasm.
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

    /// A decimal number above 0, without sign or leading zero; one beyond 64 bits reads as 2^64-1.
    pub(super) fn number(&mut self) -> Option<NonZeroU64> {
        if let [b'0', ..] = self.rest {
            return None;
        }
        match Integer::parse(self.take_while(|byte| byte.is_ascii_digit()))? {
            Integer::Fits(value) => NonZeroU64::new(value),
            _ => Some(NonZeroU64::MAX),
        }
    }
}
