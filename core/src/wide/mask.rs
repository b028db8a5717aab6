//! Masks: reversible public forms of IDs that show neither their time nor their order.
//!
//! | mask | from | to | by |
//! | --- | --- | --- | --- |
//! | [`Mask`] | an ID of 63 bits, or of 6 to 18 decimal digits | another of the same bits or digits | FF1 of NIST SP 800-38G, with AES-128 |
//! | [`UuidMask`] | a UUID of version 7 | a UUID that looks like a version 4 | `UUIDv47` (`stateless-me/uuidv47` on GitHub), with `SipHash-2-4` |
//!
//! A mask **hides, and does not authenticate**. Whoever has the key can unmask every ID. Without the key an attacker
//! cannot read an ID, but can still guess: every number of 63 bits unmasks to some number, so an application must check
//! who may see an object, as without masks. The same ID always has the same masked form, so two places that show it
//! show that it is the same. [`UuidMask`] does not change the 74 random bits: if a counter made two UUIDs in one ms,
//! their masked forms show that they are neighbours. A key cannot be changed while masked IDs are in use, except by
//! keeping both keys.

use siphasher::sip::SipHasher24;

use crate::error::{Error, What};
pub use crate::forms::mask::{MAX_TWEAK_BYTES, Mask, MaskKey};
use crate::wide::uuid::Uuid;

/// Turns a UUID of version 7 into one that looks like a version 4, and back, as `UUIDv47` does.
///
/// The 48 bits of the time are combined by exclusive or with 48 bits of `SipHash-2-4` of the random bits, which stay as they
/// are. So databases keep the order of version 7, and clients see no time.
///
/// # Examples
/// ```
/// use snowmint_core::Uuid;
/// use snowmint_core::mask::{MaskKey, UuidMask};
/// let mask = UuidMask::new(MaskKey::parse("efcdab89674523011032547698badcfe")?);
/// let uuid: Uuid = "018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f".parse()?;
/// let masked = mask.encode(uuid)?;
/// assert_eq!(masked.to_string(), "2463c780-7fca-4def-8c3f-7b1a2c4d5e6f");
/// assert_eq!(mask.decode(masked)?, uuid);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UuidMask(MaskKey);

impl UuidMask {
    /// Makes the mask of a key. The first 8 bytes are the `k0` of other implementations, the lowest byte first, and the
    /// others `k1`.
    pub const fn new(key: MaskKey) -> Self {
        Self(key)
    }

    /// Returns the masked form of a version 7.
    ///
    /// # Errors
    /// `InvalidId` for another version.
    pub fn encode(&self, uuid: Uuid) -> Result<Uuid, Error> {
        self.turned(uuid, 7, 4)
    }

    /// Returns the version 7 of a masked form.
    ///
    /// # Errors
    /// `InvalidId` for another version than 4.
    pub fn decode(&self, masked: Uuid) -> Result<Uuid, Error> {
        self.turned(masked, 4, 7)
    }

    fn turned(&self, uuid: Uuid, from: u8, to: u8) -> Result<Uuid, Error> {
        if uuid.version() != Some(from) {
            return Err(Error::new(What::MaskUuid, 0, from.into(), 0));
        }
        let bits = uuid.to_bits();
        // The bytes from the seventh on, without version and variant.
        let random = bits & !(0xf << 76 | 3 << 62) & ((1 << 80) - 1);
        let [_, _, _, _, _, _, message @ ..] = random.to_be_bytes();
        let hash = SipHasher24::new_with_key(&self.0.to_bytes()).hash(&message);
        Ok(Uuid::versioned(bits ^ u128::from(hash) << 80, to))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::ToString;

    fn key() -> MaskKey {
        MaskKey::new(core::array::from_fn::<u8, 16, _>(|place| place as u8)).expect("16 bytes")
    }

    #[test]
    fn a_mask_of_uuids_does_not_show_its_key() {
        let debug = format!("{:?}", UuidMask::new(key()));
        assert!(!debug.contains("15") && debug.contains("MaskKey(..)"), "{debug}");
    }

    #[test]
    fn only_versions_7_and_4_are_turned() {
        let mask = UuidMask::new(key());
        let error = mask.encode(Uuid::v4(5)).expect_err("a version 4").to_string();
        assert_eq!(error, "a UUID of version 7 is needed: encode takes a version 7, and decode a version 4");
        assert!(mask.decode(Uuid::NIL).is_err());
    }
}
