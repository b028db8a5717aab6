//! xids (`rs/xid` on GitHub): layout, time, text, and the step that mints them.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, What};
use crate::forms::text::IdText;
use crate::wide::object_id::{ObjectId, ObjectIdState};

/// An xid: the 96 bits of an [`ObjectId`] in another text.
///
/// ```text
/// bit  95 ... 64     63 ... 40  39 ... 24  23 ... 0
///      Unix seconds  machine    process    counter from a random start
/// ```
///
/// Its text has 20 characters of base 32 (`0-9 a-v`). xids sort like their texts: by the second.
///
/// # Examples
/// ```
/// use snowmint_core::Xid;
/// let xid: Xid = "9m4e2mr0ui3e8a215n4g".parse()?;
/// assert_eq!(xid.timestamp_ms(), 1_300_816_219_000); // 2011-03-22T17:50:19Z
/// assert_eq!((xid.machine(), xid.process(), xid.counter()), (0x60_f486, 0xe428, 4_271_561));
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(ObjectId);

const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
const WIDTH: usize = 20;

impl Xid {
    /// Makes the xid with these bytes.
    pub fn from_bytes(bytes: [u8; 12]) -> Self {
        Self(ObjectId::from_bytes(bytes))
    }

    /// Returns the 12 bytes.
    pub const fn to_bytes(self) -> [u8; 12] {
        self.0.to_bytes()
    }

    /// Makes the xid of an instant (Unix ms, rounded down to the second), 40 bits for machine and process, and 24 bits of
    /// the counter.
    ///
    /// # Errors
    /// `BeforeEpoch` or `TimeOverflow`, if the seconds do not fit 32 bits, which end in the year 2106; `InvalidId`, if
    /// another number does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Xid;
    /// let xid = Xid::from_parts(1_300_816_219_000, 0x60_f486_e428, 4_271_561)?;
    /// assert_eq!(xid.to_string(), "9m4e2mr0ui3e8a215n4g");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn from_parts(unix_ms: i64, random: u64, counter: u32) -> Result<Self, Error> {
        ObjectId::from_parts(unix_ms, random, counter).map(Self)
    }

    /// Reads 20 characters; `None` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Xid;
    /// assert!(Xid::parse("9m4e2mr0ui3e8a215n4g").is_some());
    /// assert_eq!(Xid::parse("9m4e2mr0ui3e8a215n4h"), None, "the last character has one bit");
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        let digit = |byte: &u8| ALPHABET.iter().position(|each| each == byte);
        let bits = text.iter().try_fold(0u128, |bits, byte| Some(bits << 5 | digit(byte)? as u128))?;
        if text.len() != WIDTH || bits & 0xf != 0 {
            return None;
        }
        let [_, _, _, _, bytes @ ..] = (bits >> 4).to_be_bytes();
        Some(Self::from_bytes(bytes))
    }

    /// Returns the 20 characters.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Xid;
    /// assert_eq!(Xid::from_bytes([0xff; 12]).text().as_str(), "vvvvvvvvvvvvvvvvvvvg");
    /// ```
    pub fn text(self) -> IdText {
        let bits = self.0.to_bits() << 4;
        let text: [u8; WIDTH] =
            core::array::from_fn(|place| ALPHABET[(bits >> (5 * (WIDTH - 1 - place))) as usize & 31]);
        IdText::of(&text)
    }

    /// Returns the time in Unix ms: whole seconds, unsigned, up to the year 2106.
    pub const fn timestamp_ms(self) -> i64 {
        self.0.timestamp_ms()
    }

    /// Returns the machine, 24 bits; random in xids of this package.
    pub const fn machine(self) -> u32 {
        self.0.machine()
    }

    /// Returns the process, 16 bits; random in xids of this package.
    pub const fn process(self) -> u16 {
        self.0.process()
    }

    /// Returns the counter, 24 bits.
    pub const fn counter(self) -> u32 {
        self.0.counter()
    }
}

impl FromStr for Xid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or(Error::plain(What::XidText))
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

/// The state of a process that mints xids. It works as [`ObjectIdState`]: machine and process are random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XidState(ObjectIdState);

impl XidState {
    /// Makes the state of a process that has minted nothing.
    pub const fn new() -> Self {
        Self(ObjectIdState::new())
    }

    /// Returns the next xid at the time `now_ms` (Unix ms).
    ///
    /// # Errors
    /// As [`ObjectIdState::next`].
    pub fn next(&mut self, now_ms: i64, random: impl FnMut() -> u32) -> Result<Xid, Error> {
        self.0.next(now_ms, random).map(Xid)
    }
}
