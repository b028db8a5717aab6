//! The text form of a layout: parsing, and printing, which is its inverse.

use core::fmt;
use core::num::NonZeroU64;
use core::str::FromStr;

use super::Layout;
use super::reader::{Read, Reader};
use super::rules::MAX_SAFE_MS;
use crate::error::{Error, What};
use crate::forms::name::is_name_byte;
use crate::int::write_decimal;
use crate::time;

impl Layout {
    /// Reads the text form, such as `time:41,node:10,sequence:12;epoch=2025-01-01T00:00:00Z;tick=1ms`.
    ///
    /// A field is `name:bits`, or `name:bits=value` if it has the same value in every ID. `epoch` is Unix ms or an RFC 3339
    /// time. `tick` is `Nus`, `Nms` or `Ns`; without it a tick is 1 ms. Blanks are not allowed. Printing the layout gives
    /// the canonical text.
    ///
    /// # Errors
    /// `InvalidLayout`: the message names the place in the text, or the rule that the text breaks.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// let layout = Layout::parse("time:42,worker:10,sequence:12;epoch=2015-01-01T00:00:00Z")?;
    /// assert_eq!(layout.to_string(), "time:42,worker:10,sequence:12;epoch=1420070400000;tick=1ms");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        let text = text.as_ref();
        let mut reader = Reader::new(text);
        let mut layout = Self::EMPTY;
        match read(&mut reader, &mut layout) {
            Ok(()) => Ok(layout),
            Err(what) => Err(Error::new(what, 0, (text.len() - reader.rest.len() + 1) as u64, 0)),
        }
    }

    /// Writes the canonical text form: the epoch in Unix ms, and the tick in the largest unit in which it is whole.
    ///
    /// It does without `write!`, whose formatter is larger than the rest of a small wasm module.
    ///
    /// # Errors
    /// Only errors of `out`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SONYFLAKE;
    /// let mut text = String::new();
    /// SONYFLAKE.write(&mut text)?;
    /// assert_eq!(text, "unused:1,time:39,sequence:8,machine:16;epoch=1409529600000;tick=10ms");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    pub fn write(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let mut before = "";
        for (name, field) in self.fields() {
            out.write_str(before)?;
            before = ",";
            name.as_bytes().iter().try_for_each(|byte| out.write_char(char::from(*byte)))?;
            out.write_str(":")?;
            write_decimal(out, u64::from(field.width()), 1)?;
            if let Some(value) = self.fixed_value(field) {
                out.write_str("=")?;
                write_decimal(out, value, 1)?;
            }
        }
        out.write_str(if self.epoch_ms() < 0 { ";epoch=-" } else { ";epoch=" })?;
        write_decimal(out, self.epoch_ms().unsigned_abs(), 1)?;
        out.write_str(";tick=")?;
        let seconds = self.tick / 1000;
        // A tick in microseconds is not a whole number of ms, nor of seconds.
        let whole = seconds * 1000 == self.tick;
        write_decimal(out, if whole { seconds } else { self.tick }, 1)?;
        out.write_str(if self.per_ms > 1 {
            "us"
        } else if whole {
            "s"
        } else {
            "ms"
        })
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

fn read(reader: &mut Reader<'_>, layout: &mut Layout) -> Read<()> {
    loop {
        let name = reader.take_while(is_name_byte);
        if name.is_empty() {
            return Err(What::Grammar);
        }
        reader.expect(b":")?;
        let bits = reader.number().ok_or(What::Grammar)?;
        let fixed = if reader.skip(b"=") { reader.number_and_1().ok_or(What::Grammar)?.get() } else { 0 };
        layout.add(name, bits.get().min(65) as u32, fixed)?;
        if !reader.skip(b",") {
            break;
        }
    }
    reader.expect(b";epoch=")?;
    let epoch_ms = read_epoch(reader)?;
    let (mut tick, mut per_ms) = (1, 1);
    if reader.skip(b";tick=") {
        // `finish` refuses the smallest number that is too large, in each unit.
        tick = reader.number().ok_or(What::Grammar)?.get().min(MAX_SAFE_MS + 1);
        if reader.skip(b"s") {
            tick *= 1000;
        } else if !reader.skip(b"us") {
            reader.expect(b"ms")?;
        } else if tick.is_multiple_of(1000) {
            tick /= 1000;
        } else {
            per_ms = 1000;
        }
    }
    if !reader.rest.is_empty() {
        return Err(What::Grammar);
    }
    layout.finish(epoch_ms, tick, per_ms)
}

fn read_epoch(reader: &mut Reader<'_>) -> Read<i64> {
    let start = reader.rest;
    let text = reader.take_while(|byte| byte != b';');
    if let Some(unix_ms) = time::parse_rfc3339(text) {
        return Ok(unix_ms);
    }
    // Leading zeros and -0 are not allowed, so an epoch has one text.
    let mut digits = Reader::new(text);
    let negative = digits.skip(b"-");
    let is_zero = !negative && digits.skip(b"0");
    let magnitude = if is_zero { Some(0) } else { digits.number().map(NonZeroU64::get) };
    let (Some(magnitude), []) = (magnitude, digits.rest) else {
        reader.rest = start;
        return Err(What::Grammar);
    };
    // `finish` refuses the smallest number that is too large, and so every larger number.
    let magnitude = magnitude.min(MAX_SAFE_MS + 1).cast_signed();
    Ok(if negative { -magnitude } else { magnitude })
}
