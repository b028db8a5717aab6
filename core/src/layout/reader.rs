//! Reading a text from left to right.

use crate::error::What;
use crate::integer::Integer;

pub(super) struct Reader<'a> {
    pub(super) text: &'a [u8],
    /// How far it has been read.
    pub(super) at: usize,
}

/// What fails here says only what belongs at `at`: the whole error is made once, at the end.
pub(super) type Read<T> = Result<T, What>;

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) const fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn skip(&mut self, token: &[u8]) -> bool {
        let there = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(token));
        self.at += if there { token.len() } else { 0 };
        there
    }

    pub(super) fn expect(&mut self, token: &[u8]) -> Read<()> {
        if self.skip(token) { Ok(()) } else { Err(What::Grammar) }
    }

    pub(super) fn take_while(&mut self, kind: fn(u8) -> bool) -> &'a [u8] {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| kind(*byte)) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// A decimal number above 0, without sign or leading zero; one beyond 64 bits reads as 2^64-1.
    pub(super) fn number(&mut self) -> Read<u64> {
        let start = self.at;
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.first().is_none_or(|first| *first == b'0') {
            self.at = start;
            return Err(What::Grammar);
        }
        Ok(match Integer::parse(digits) {
            Some(Integer::Fits(value)) => value,
            _ => u64::MAX,
        })
    }
}
