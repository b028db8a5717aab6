//! Masks of numbers: FF1 over the bits or the digits of an ID. [`mask`](crate::mask) says what a mask hides.

use core::fmt;

use aes::Aes128;
use fpe::ff1::{FF1, NumeralString, Operations};

use crate::error::{Error, What};
use crate::forms::text::{TextForm, wide};
use crate::id::Id;
use crate::int::Integer;

/// The largest ID of a mask without digits.
const MAX_ID: u64 = u64::MAX >> 1;
const ID_BITS: u32 = 63;
/// NIST SP 800-38G Revision 1 asks for a million values or more, and 10^18 is the last power of ten below 2^63.
const DIGIT_COUNTS: core::ops::RangeInclusive<u64> = 6..=18;
/// The most bytes of a tweak.
pub const MAX_TWEAK_BYTES: usize = 64;

/// The secret of a mask: 128 bits. Its debug output does not show them.
///
/// # Examples
/// ```
/// use snowmint_core::mask::MaskKey;
/// let key: MaskKey = "2b7e151628aed2a6abf7158809cf4f3c".parse()?;
/// assert!(MaskKey::new(b"too short").is_err());
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MaskKey([u8; 16]);

impl MaskKey {
    /// Takes the 16 bytes of a key.
    ///
    /// # Errors
    /// `InvalidText` for another number of bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        let bytes = bytes.as_ref();
        bytes.try_into().map(Self).map_err(|_| Error::new(What::MaskKey, 0, bytes.len() as u64, 0))
    }

    /// Returns the 16 bytes, for hosts that keep keys.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::mask::MaskKey;
    /// assert_eq!(MaskKey::new([7; 16])?.to_bytes(), [7; 16]);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn to_bytes(&self) -> [u8; 16] {
        self.0
    }

    /// Reads 32 hexadecimal digits.
    ///
    /// # Errors
    /// `InvalidText` for another text.
    pub fn parse(digits: impl AsRef<[u8]>) -> Result<Self, Error> {
        let digits = digits.as_ref();
        let bits = if digits.len() == 32 { wide(digits, TextForm::Hex, 4) } else { None };
        bits.map(|bits| Self(bits.to_be_bytes())).ok_or(Error::new(What::MaskKeyText, 0, digits.len() as u64, 0))
    }
}

impl core::str::FromStr for MaskKey {
    type Err = Error;

    fn from_str(digits: &str) -> Result<Self, Error> {
        Self::parse(digits)
    }
}

impl fmt::Debug for MaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MaskKey(..)")
    }
}

/// Turns an ID into another one and back: a permutation of all IDs of 63 bits, or of 6 to 18 decimal digits.
///
/// It is FF1 with AES-128, in radix 2 over 63 numerals, the highest bit first, or in radix 10 over the digits. So a masked
/// ID is positive in a signed column, and 19 digits long at most.
///
/// # Examples
/// ```
/// use snowmint_core::mask::{Mask, MaskKey};
/// let key: MaskKey = "2b7e151628aed2a6abf7158809cf4f3c".parse()?;
/// let mask = Mask::new(key);
/// let masked = mask.encode(1_541_815_603_606_036_480)?;
/// assert_ne!(masked, 1_541_815_603_606_036_480);
/// assert_eq!(mask.decode(masked)?, 1_541_815_603_606_036_480);
/// // The first sample that NIST publishes: ten decimal digits.
/// assert_eq!(Mask::new(key).with_digits(10)?.encode(123_456_789)?, 2_433_477_484);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
// FF1 of the crate takes 460 ns for an ID. Written out for 63 bits it takes 170 ns, which is too little to write a
// cipher ourselves.
pub struct Mask {
    ff1: FF1<Aes128>,
    shape: Shape,
    key: MaskKey,
    tweak: [u8; MAX_TWEAK_BYTES],
    tweak_len: usize,
}

impl Mask {
    /// Makes the mask of a key, over IDs of 63 bits.
    pub fn new(key: MaskKey) -> Self {
        let shape = Shape { radix: 2, numerals: ID_BITS };
        Self { ff1: shape.ff1(key), shape, key, tweak: [0; MAX_TWEAK_BYTES], tweak_len: 0 }
    }

    /// Masks numbers of up to `digits` decimal digits instead: 0 to 10^`digits` - 1. For short numbers, such as a
    /// counter's.
    ///
    /// # Errors
    /// `InvalidId` outside 6 to 18 digits.
    pub fn with_digits(mut self, digits: impl Into<Integer>) -> Result<Self, Error> {
        let digits = match digits.into() {
            Integer::Fits(digits) if DIGIT_COUNTS.contains(&digits) => digits as u32,
            given => return Err(given.refused(What::MaskDigits, 64)),
        };
        self.shape = Shape { radix: 10, numerals: digits };
        self.ff1 = self.shape.ff1(self.key);
        Ok(self)
    }

    /// Sets the tweak: public bytes, such as the name of a table. Masks with one key and different tweaks are different
    /// permutations.
    ///
    /// # Errors
    /// `InvalidText` above 64 bytes.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::mask::{Mask, MaskKey};
    /// let key: MaskKey = "2b7e151628aed2a6abf7158809cf4f3c".parse()?;
    /// let (users, orders) = (Mask::new(key).with_tweak("users")?, Mask::new(key).with_tweak("orders")?);
    /// assert_ne!(users.encode(5)?, orders.encode(5)?);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn with_tweak(mut self, tweak: impl AsRef<[u8]>) -> Result<Self, Error> {
        let tweak = tweak.as_ref();
        let Some(place) = self.tweak.get_mut(..tweak.len()) else {
            return Err(Error::new(What::MaskTweak, 0, MAX_TWEAK_BYTES as u64, tweak.len() as u64));
        };
        place.copy_from_slice(tweak);
        self.tweak_len = tweak.len();
        Ok(self)
    }

    /// Returns the masked form of an ID.
    ///
    /// # Errors
    /// `InvalidId`: the ID is above 2^63-1, or has more digits than the mask.
    #[inline]
    pub fn encode(&self, id: impl Into<Id>) -> Result<u64, Error> {
        self.encode_bits(id.into().get())
    }

    fn encode_bits(&self, id: u64) -> Result<u64, Error> {
        let numerals = self.shape.numerals(id)?;
        let masked = self.ff1.encrypt(self.tweak(), &numerals);
        // Never: the numerals are valid and enough. An error is better than an ID that is not masked.
        masked.map(|masked| masked.value).map_err(|_| Error::new(What::MaskId, 0, id, MAX_ID))
    }

    /// Returns the ID of a masked form.
    ///
    /// # Errors
    /// As [`Mask::encode`].
    pub fn decode(&self, masked: u64) -> Result<u64, Error> {
        let numerals = self.shape.numerals(masked)?;
        let id = self.ff1.decrypt(self.tweak(), &numerals);
        id.map(|id| id.value).map_err(|_| Error::new(What::MaskId, 0, masked, MAX_ID))
    }

    fn tweak(&self) -> &[u8] {
        &self.tweak[..self.tweak_len]
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The numbers that a mask permutes: their radix, and how many numerals they have.
#[derive(Clone, Copy, Debug)]
struct Shape {
    radix: u32,
    numerals: u32,
}

impl Shape {
    fn ff1(self, key: MaskKey) -> FF1<Aes128> {
        // Fails for a radix outside 2 to 2^16 alone.
        FF1::new(&key.0, self.radix).unwrap_or_else(|_| unreachable!("the radix is 2 or 10"))
    }

    fn numerals(self, value: u64) -> Result<Numerals, Error> {
        let numerals = Numerals { value, radix: self.radix, count: self.numerals };
        if value < numerals.modulus() {
            Ok(numerals)
        } else if self.radix == 10 {
            Err(Error::new(What::MaskIdDigits, 0, value, self.numerals.into()))
        } else {
            Err(Error::new(What::MaskId, 0, value, MAX_ID))
        }
    }
}

/// A number below 2^63 as a string of numerals, for FF1.
#[derive(Clone, Copy)]
struct Numerals {
    value: u64,
    radix: u32,
    count: u32,
}

impl Numerals {
    const fn modulus(self) -> u64 {
        (self.radix as u64).pow(self.count)
    }

    /// Returns the number of the bytes of FF1, modulo the numbers that `count` numerals have.
    fn reduced(bytes: impl Iterator<Item = u8>, modulus: u64) -> u64 {
        // Eight bytes at most: halves have 32 bits or fewer.
        bytes.fold(0u64, |number, byte| number << 8 | u64::from(byte)) % modulus
    }
}

impl NumeralString for Numerals {
    type Ops = Self;

    fn is_valid(&self, _: u32) -> bool {
        self.value < self.modulus()
    }

    fn numeral_count(&self) -> usize {
        self.count as usize
    }

    fn split(&self) -> (Self, Self) {
        let left = self.count / 2;
        let right = Self { count: self.count - left, ..*self };
        let modulus = right.modulus();
        (Self { value: self.value / modulus, count: left, ..*self }, Self { value: self.value % modulus, ..right })
    }

    fn concat(a: Self, b: Self) -> Self {
        Self { value: a.value * b.modulus() + b.value, count: a.count + b.count, ..a }
    }
}

impl Operations for Numerals {
    type Bytes = Last;

    fn numeral_count(&self) -> usize {
        self.count as usize
    }

    fn to_be_bytes(&self, _: u32, width: usize) -> Last {
        Last { bytes: self.value.to_be_bytes(), width }
    }

    fn add_mod_exp(self, other: impl Iterator<Item = u8>, _: u32, count: usize) -> Self {
        let sum = Self { count: count as u32, ..self };
        let modulus = sum.modulus();
        Self { value: (self.value + Self::reduced(other, modulus)) % modulus, ..sum }
    }

    fn sub_mod_exp(self, other: impl Iterator<Item = u8>, _: u32, count: usize) -> Self {
        let difference = Self { count: count as u32, ..self };
        let modulus = difference.modulus();
        Self { value: (self.value + modulus - Self::reduced(other, modulus)) % modulus, ..difference }
    }
}

/// The last `width` bytes of a number.
struct Last {
    bytes: [u8; 8],
    width: usize,
}

impl AsRef<[u8]> for Last {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[8 - self.width..]
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::ToString;

    fn key() -> MaskKey {
        MaskKey(core::array::from_fn(|place| place as u8))
    }

    #[test]
    fn no_two_numbers_of_six_digits_have_the_same_mask() {
        let mask = Mask::new(key()).with_digits(6).expect("six digits");
        let mut seen = std::vec![false; 1_000_000];
        // All numbers take a minute without optimisation.
        for id in (0..1_000_000).step_by(if cfg!(miri) { 99_991 } else { 101 }) {
            let masked = mask.encode(id).expect("six digits");
            assert_eq!(mask.decode(masked), Ok(id));
            let place = &mut seen[masked as usize];
            assert!(!*place, "{masked} twice");
            *place = true;
        }
    }

    #[test]
    fn a_mask_of_bits_has_a_bound() {
        let mask = Mask::new(key());
        for id in [0, 1, MAX_ID - 1, MAX_ID] {
            let masked = mask.encode(id).expect("63 bits");
            assert!(masked <= MAX_ID);
            assert_eq!(mask.decode(masked), Ok(id));
        }
        let error = mask.encode(1 << 63).expect_err("64 bits").to_string();
        assert_eq!(error, "9223372036854775808 cannot be masked: it is above 9223372036854775807");
        let short = Mask::new(key()).with_digits(6).expect("six digits");
        assert_eq!(
            short.decode(1_000_000).expect_err("seven").to_string(),
            "1000000 has more than the 6 digits of this mask"
        );
    }

    #[test]
    fn bad_options_are_refused_and_keys_are_not_shown() {
        for digits in [-1, 0, 5, 19] {
            assert!(Mask::new(key()).with_digits(digits).is_err(), "{digits}");
        }
        assert!(Mask::new(key()).with_tweak([7; 64]).is_ok() && Mask::new(key()).with_tweak([7; 65]).is_err());
        let error = MaskKey::new([7; 15]).expect_err("15 bytes").to_string();
        assert_eq!(
            error,
            "a mask key has 16 bytes, not 15: make one with a random generator such as openssl rand -hex 16"
        );
        for text in ["", "00", &"0".repeat(33), &"g".repeat(32), &"é".repeat(16)] {
            assert!(MaskKey::parse(text).is_err(), "{text}");
        }
        let debug = format!("{:?} {:?}", key(), Mask::new(key()));
        assert!(!debug.contains("15") && debug.contains("MaskKey(..)"), "{debug}");
    }
}
