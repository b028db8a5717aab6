//! KSUIDs (`segmentio/ksuid` on GitHub): layout, time and text.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, What};
use crate::forms::text::{IdText, base62_digit, base62_value};

/// A KSUID: 160 bits.
///
/// ```text
/// bit  159 ... 128                       127 ... 0
///      seconds since 2014-05-13T16:53:20 random bits
/// ```
///
/// Its text has 27 characters of base 62. KSUIDs sort like their texts: by the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ksuid {
    second: u32,
    payload: u128,
}

/// The epoch in Unix seconds.
const EPOCH: i64 = 1_400_000_000;
const WIDTH: usize = 27;
/// A number of 160 bits, the highest part first.
type Limbs = [u32; 5];

impl Ksuid {
    /// Makes the KSUID of an instant (Unix ms, rounded down to the second) and 128 bits.
    ///
    /// # Errors
    /// `BeforeEpoch` or `TimeOverflow`, if the seconds since 2014-05-13 do not fit 32 bits, which end in the year 2150.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// let ksuid = Ksuid::from_parts(1_507_608_047_000, 0xb5a1_cd34_b5f9_9d11_54fb_6853_345c_9735)?;
    /// assert_eq!(ksuid.to_string(), "0ujtsYcgvSTl8PAuAdqWYSMnLOv");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn from_parts(unix_ms: i64, payload: u128) -> Result<Self, Error> {
        const LAST_MS: i64 = (EPOCH + u32::MAX as i64) * 1000;
        let second = u32::try_from(unix_ms.div_euclid(1000).saturating_sub(EPOCH));
        second.map(|second| Self { second, payload }).map_err(|_| {
            let is_early = unix_ms < EPOCH * 1000;
            if is_early { Error::before_epoch(unix_ms, EPOCH * 1000) } else { Error::time_overflow(unix_ms, LAST_MS) }
        })
    }

    /// Makes the KSUID with these bytes.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// assert_eq!(Ksuid::from_bytes([0xff; 20]).to_string(), "aWgEPTl1tmebfsQzFP4bxwgy80V");
    /// ```
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        let [a, b, c, d, payload @ ..] = bytes;
        Self { second: u32::from_be_bytes([a, b, c, d]), payload: u128::from_be_bytes(payload) }
    }

    /// Returns the 20 bytes.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// assert_eq!(Ksuid::from_bytes(*b"twenty bytes of text").to_bytes(), *b"twenty bytes of text");
    /// ```
    pub fn to_bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&self.second.to_be_bytes());
        bytes[4..].copy_from_slice(&self.payload.to_be_bytes());
        bytes
    }

    /// Reads 27 characters of base 62; `None` above `aWgEPTl1tmebfsQzFP4bxwgy80V`, and for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// let ksuid = Ksuid::parse("0ujtsYcgvSTl8PAuAdqWYSMnLOv");
    /// assert_eq!(ksuid.map(Ksuid::timestamp_ms), Some(1_507_608_047_000));
    /// assert_eq!(Ksuid::parse("aWgEPTl1tmebfsQzFP4bxwgy80W"), None, "more than 160 bits");
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        let mut limbs: Limbs = [0; 5];
        for byte in text {
            let mut carry = u64::from(base62_value(*byte)?);
            for limb in limbs.iter_mut().rev() {
                let wide = u64::from(*limb) * 62 + carry;
                (*limb, carry) = (wide as u32, wide >> 32);
            }
            if carry > 0 {
                return None;
            }
        }
        let [second, rest @ ..] = limbs;
        let payload = rest.into_iter().fold(0, |bits, limb| bits << 32 | u128::from(limb));
        (text.len() == WIDTH).then_some(Self { second, payload })
    }

    /// Returns the 27 characters.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// assert_eq!(Ksuid::from_bytes([0; 20]).text().as_str(), "000000000000000000000000000");
    /// ```
    pub fn text(self) -> IdText {
        let mut limbs: Limbs =
            core::array::from_fn(|at| if at == 0 { self.second } else { (self.payload >> (32 * (4 - at))) as u32 });
        let mut text = [0; WIDTH];
        for place in text.iter_mut().rev() {
            let mut rest = 0;
            for limb in &mut limbs {
                let wide = rest << 32 | u64::from(*limb);
                (*limb, rest) = ((wide / 62) as u32, wide % 62);
            }
            *place = base62_digit(rest as usize);
        }
        IdText::of(&text)
    }

    /// Returns the time in Unix ms: whole seconds, from 2014 to 2150.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// let ksuid: Ksuid = "0ujtsYcgvSTl8PAuAdqWYSMnLOv".parse()?;
    /// assert_eq!(ksuid.timestamp_ms(), 1_507_608_047_000); // 2017-10-10T04:00:47Z
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp_ms(self) -> i64 {
        (self.second as i64 + EPOCH) * 1000
    }

    /// Returns the 128 random bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ksuid;
    /// assert_eq!(Ksuid::from_parts(1_400_000_000_000, 5)?.payload(), 5);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn payload(self) -> u128 {
        self.payload
    }
}

impl FromStr for Ksuid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or(Error::plain(What::KsuidText))
    }
}

impl fmt::Display for Ksuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}
