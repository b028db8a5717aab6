//! Masks of IDs.

use alloc::string::String;

use js_sys::Uint8Array;
use snowmint_core::Uuid;
use snowmint_core::mask::{Mask as CoreMask, MaskKey, UuidMask as CoreUuidMask};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::convert::{id, integer};
use crate::error::raise;

/// A mask of 64-bit IDs.
#[wasm_bindgen]
pub struct Mask(CoreMask);

#[wasm_bindgen]
impl Mask {
    /// Makes a mask of a key (16 bytes or 32 hexadecimal digits), a tweak, and the number of decimal digits, if any.
    #[wasm_bindgen(constructor)]
    pub fn new(key: &JsValue, tweak: &[u8], digits: Option<String>) -> Result<Mask, JsValue> {
        let mask = CoreMask::new(key_of(key)?).with_tweak(tweak).map_err(raise)?;
        let Some(digits) = digits else { return Ok(Self(mask)) };
        mask.with_digits(integer(&digits)).map(Self).map_err(raise)
    }

    /// Masks an ID.
    pub fn encode(&self, value: &str) -> Result<u64, JsValue> {
        self.0.encode(id(value)?).map_err(raise)
    }

    /// Unmasks an ID.
    pub fn decode(&self, masked: &str) -> Result<u64, JsValue> {
        self.0.decode(id(masked)?).map_err(raise)
    }
}

/// A mask of UUIDs.
#[wasm_bindgen]
pub struct UuidMask(CoreUuidMask);

#[wasm_bindgen]
impl UuidMask {
    /// Makes a mask of a key: 16 bytes or 32 hexadecimal digits.
    #[wasm_bindgen(constructor)]
    pub fn new(key: &JsValue) -> Result<UuidMask, JsValue> {
        Ok(Self(CoreUuidMask::new(key_of(key)?)))
    }

    /// Masks a UUID of version 7.
    pub fn encode(&self, uuid: &str) -> Result<String, JsValue> {
        let uuid: Uuid = uuid.parse().map_err(raise)?;
        self.0.encode(uuid).map(text_of).map_err(raise)
    }

    /// Unmasks a UUID of version 4.
    pub fn decode(&self, masked: &str) -> Result<String, JsValue> {
        let masked: Uuid = masked.parse().map_err(raise)?;
        self.0.decode(masked).map(text_of).map_err(raise)
    }
}

fn text_of(uuid: Uuid) -> String {
    uuid.text().as_str().into()
}

fn key_of(key: &JsValue) -> Result<MaskKey, JsValue> {
    match key.as_string() {
        Some(digits) => MaskKey::parse(digits),
        None => MaskKey::new(key.unchecked_ref::<Uint8Array>().to_vec()),
    }
    .map_err(raise)
}
