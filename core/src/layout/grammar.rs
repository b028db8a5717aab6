//! The text form of a layout: parsing and printing, each the other's inverse.

use core::str::FromStr;

use super::Layout;
use super::name::is_name_byte;
use crate::error::{Error, ErrorKind, What};
use crate::integer::Integer;
use crate::{print, time};

impl Layout {
    /// Reads the text form, such as `time:41,node:10,sequence:12;epoch=2025-01-01T00:00:00Z;tick=1ms`.
    ///
    /// `epoch` is Unix ms or an RFC 3339 time; `tick` is `Nms` or `Ns` and may be left out for 1 ms. There are no
    /// blanks. Printing the result gives the canonical text.
    ///
    /// # Errors
    /// `InvalidLayout`, with the place in the text or the rule that is broken.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// let layout = Layout::parse("time:42,worker:10,sequence:12;epoch=2015-01-01T00:00:00Z")?;
    /// assert_eq!(layout.to_string(), "time:42,worker:10,sequence:12;epoch=1420070400000;tick=1ms");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        let mut reader = Reader { text: text.as_ref(), at: 0 };
        let mut layout = Self::EMPTY;
        match reader.read(&mut layout) {
            Ok(()) => Ok(layout),
            Err(what) => Err(Error::new(what, [reader.at as u64 + 1, 0])),
        }
    }

    /// The preset of that name, or else the layout with that text form.
    ///
    /// # Errors
    /// `InvalidLayout`.
    pub fn find(name_or_text: impl AsRef<[u8]>) -> Result<Self, Error> {
        let text = name_or_text.as_ref();
        if text.iter().copied().all(is_name_byte) { Self::preset(text) } else { Self::parse(text) }
    }

    /// Writes the canonical text form: the epoch in Unix ms, the tick in whole seconds where it can be.
    pub fn write(&self, mut put: impl FnMut(char)) {
        let put = &mut put;
        let mut before = "";
        for (name, field) in self.fields() {
            print::text(put, before);
            before = ",";
            name.write(put);
            put(':');
            print::unsigned(put, u64::from(field.width()));
        }
        print::text(put, ";epoch=");
        print::signed(put, self.epoch_ms());
        print::text(put, ";tick=");
        let seconds = self.tick_ms() / 1000;
        let whole = seconds * 1000 == self.tick_ms();
        print::unsigned(put, if whole { seconds } else { self.tick_ms() });
        print::text(put, if whole { "s" } else { "ms" });
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

const fn expected(sentence: &'static str) -> What {
    What(ErrorKind::InvalidLayout, sentence)
}

const NAME: What = expected("layout text, character {a}: expected a field name of a-z, 0-9 or _");
const COLON: What = expected("layout text, character {a}: expected a colon and the number of bits");
const BITS: What = expected("layout text, character {a}: expected a number of bits from 1 to 64");
const EPOCH: What = expected("layout text, character {a}: expected ,name:bits or ;epoch=");
const INSTANT: What =
    expected("layout text, character {a}: expected an epoch in Unix ms or such as 2025-01-01T00:00:00Z");
const TICK: What = expected("layout text, character {a}: expected a tick such as 10ms or 1s");
const END: What = expected("layout text, character {a}: expected ;tick= or the end");

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// What fails here says only what belongs at `at`: the whole error is made once, at the end.
type Read<T> = Result<T, &'static What>;

impl<'a> Reader<'a> {
    fn read(&mut self, layout: &mut Layout) -> Read<()> {
        loop {
            let name = self.take_while(is_name_byte);
            if name.is_empty() {
                return Err(&NAME);
            }
            self.expect(b":", &COLON)?;
            let bits = self.number(&BITS)?;
            layout.add(name, bits.min(65) as u32)?;
            if !self.skip(b",") {
                break;
            }
        }
        self.expect(b";epoch=", &EPOCH)?;
        let epoch_ms = self.epoch()?;
        let mut tick_ms = 1;
        if self.skip(b";tick=") {
            tick_ms = self.number(&TICK)?;
            if self.skip(b"s") {
                tick_ms = tick_ms.saturating_mul(1000);
            } else {
                self.expect(b"ms", &TICK)?;
            }
        }
        if self.at < self.text.len() {
            return Err(&END);
        }
        layout.finish(epoch_ms, tick_ms)
    }

    fn skip(&mut self, token: &[u8]) -> bool {
        let there = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(token));
        self.at += if there { token.len() } else { 0 };
        there
    }

    fn expect(&mut self, token: &[u8], expected: &'static What) -> Read<()> {
        if self.skip(token) { Ok(()) } else { Err(expected) }
    }

    fn take_while(&mut self, kind: fn(u8) -> bool) -> &'a [u8] {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| kind(*byte)) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// A decimal number above 0, without sign or leading zero; one beyond 64 bits reads as 2^64-1.
    fn number(&mut self, expected: &'static What) -> Read<u64> {
        let start = self.at;
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.first().is_none_or(|first| *first == b'0') {
            self.at = start;
            return Err(expected);
        }
        Ok(match Integer::parse(digits) {
            Some(Integer::Fits(value)) => value,
            _ => u64::MAX,
        })
    }

    fn epoch(&mut self) -> Read<i64> {
        let start = self.at;
        let text = self.take_while(|byte| byte != b';');
        if let Some(unix_ms) = time::parse_rfc3339(text) {
            return Ok(unix_ms);
        }
        // No leading zero, and no minus zero: the text of an epoch is one. What does not fit 64 bits is cut to them,
        // and then refused by the rule on epochs.
        match (Integer::parse(text), text) {
            (None, _) | (Some(_), [b'0', _, ..] | [b'-', b'0', ..]) => {
                self.at = start;
                Err(&INSTANT)
            }
            (Some(Integer::Negative(magnitude)), _) => Ok(0i64.saturating_sub_unsigned(magnitude)),
            (Some(Integer::Fits(value)), _) => Ok(0i64.saturating_add_unsigned(value)),
            (Some(Integer::Beyond), _) => Ok(i64::MAX),
        }
    }
}
