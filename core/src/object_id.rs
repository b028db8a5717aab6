//! `ObjectId`s of `MongoDB`: just enough to read one, and its time.

use crate::text::{TextForm, wide};

/// An `ObjectId` of `MongoDB`: 96 bits.
///
/// ```text
/// bit  95 ... 64     63 ... 24                     23 ... 0
///      Unix seconds  random, one number a process  counter from a random start
///                    or, up to 2018:
///                    63 ... 40    39 ... 24
///                    machine      process
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectId(u128);

impl ObjectId {
    /// Reads 24 hexadecimal digits, in either case.
    pub fn parse(digits: impl AsRef<[u8]>) -> Option<Self> {
        let digits = digits.as_ref();
        if digits.len() == 24 { wide(digits, TextForm::Hex, 4).map(Self) } else { None }
    }

    /// The 96 bits.
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// The time in Unix ms: whole seconds, unsigned, to 2106.
    pub const fn timestamp_ms(self) -> i64 {
        (self.0 >> 64) as i64 * 1000
    }

    /// The middle as drivers make it now: 40 random bits, the same for all of a process.
    pub const fn random(self) -> u64 {
        (self.0 >> 24) as u64 & 0xff_ffff_ffff
    }

    /// The machine, if the middle is of the old kind: 24 bits.
    pub const fn machine(self) -> u32 {
        (self.random() >> 16) as u32
    }

    /// The process, if the middle is of the old kind: 16 bits.
    pub const fn process(self) -> u16 {
        (self.random() & 0xffff) as u16
    }

    /// The counter, 24 bits.
    pub const fn counter(self) -> u32 {
        (self.0 & 0xff_ffff) as u32
    }
}
