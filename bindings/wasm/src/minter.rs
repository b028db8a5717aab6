//! Mints UUIDs, ULIDs, `ObjectId`s, KSUIDs and xids.

use alloc::vec::Vec;

use js_sys::{Uint8Array, Uint32Array};
use snowmint_core::ids::{Pool, States};
use snowmint_core::ulid::UlidState;
use snowmint_core::uuid::V7State;
use snowmint_core::{Error, Ulid, Uuid};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::raise;
use crate::wide::Wide;

/// The length of the longest text: a UUID.
const UUID_TEXT_CHARS: usize = 36;

/// A kind of ID to mint.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum Minted {
    /// A UUID of version 1.
    V1 = 1,
    /// A UUID of version 4.
    V4 = 4,
    /// A UUID of version 6.
    V6 = 6,
    /// A UUID of version 7, above all before it.
    V7 = 7,
    /// A ULID.
    Ulid = 9,
    /// An `ObjectId`.
    ObjectId = 10,
    /// A KSUID.
    Ksuid = 11,
    /// An xid.
    Xid = 12,
    /// A UUID of version 7 of an instant.
    V7Of = 77,
}

/// The states of a realm, and random numbers that no ID has yet.
#[wasm_bindgen]
pub struct Minter(States);

#[wasm_bindgen]
impl Minter {
    /// Makes the states of a realm that has minted nothing.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default, reason = "JavaScript calls it")]
    pub fn new() -> Minter {
        Self(States::new())
    }

    /// Takes random numbers, as many as `poolSize` at most.
    pub fn fill(&mut self, numbers: &Uint32Array) {
        let count = (numbers.length() as usize).min(Pool::SIZE);
        numbers.subarray(0, count as u32).copy_to(&mut self.0.pool.numbers()[..count]);
        self.0.pool.filled(count);
    }

    /// Mints an ID, and writes the ASCII of its text to the start of an array. Returns the length of the text, or 0 without random
    /// numbers. `more` is the part of the time below a ms, in steps of 100 ns; only versions 1 and 6 use it.
    ///
    /// A string that Rust makes takes several times as long.
    pub fn text(&mut self, kind: Minted, now_ms: f64, more: u32, into: &Uint8Array) -> Result<u32, JsValue> {
        if self.0.pool.is_dry() {
            return Ok(0);
        }
        let text = self.next(kind, now_ms as i64, more).map_err(raise)?.text();
        // As long as the array, so that the copy needs no view of it.
        let mut ascii = [0; UUID_TEXT_CHARS];
        ascii[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
        into.copy_from(&ascii);
        Ok(text.as_bytes().len() as u32)
    }

    /// Mints an ID, and writes its bytes into an array of their length. Returns whether there were random numbers.
    pub fn bytes(&mut self, kind: Minted, now_ms: f64, into: &Uint8Array) -> Result<bool, JsValue> {
        if self.0.pool.is_dry() {
            return Ok(false);
        }
        let bytes = self.next(kind, now_ms as i64, 0).map_err(raise)?.bytes();
        into.copy_from(&bytes);
        Ok(true)
    }

    /// Makes the next ID follow a version 7 or a ULID, for tests.
    pub fn after(&mut self, kind: Minted, text: &str) -> Result<(), JsValue> {
        if matches!(kind, Minted::Ulid) {
            self.0.ulid = UlidState::after(text.parse::<Ulid>().map_err(raise)?);
        } else if let Some(after) = V7State::after(text.parse::<Uuid>().map_err(raise)?) {
            self.0.v7 = after;
        }
        Ok(())
    }

    /// Returns the first `count` places of the room for random numbers, 0 where a number is used, for tests.
    pub fn room(&mut self, count: u32) -> Vec<u32> {
        self.0.pool.numbers()[..count as usize].into()
    }

    fn next(&mut self, kind: Minted, now_ms: i64, more: u32) -> Result<Wide, Error> {
        let states = &mut self.0;
        let now_100ns = now_ms.saturating_mul(10_000).saturating_add(more.into());
        Ok(match kind {
            Minted::V1 => Wide::Uuid(states.gregorian(now_100ns)?.v1()?),
            Minted::V4 => Wide::Uuid(states.v4()),
            Minted::V6 => Wide::Uuid(states.gregorian(now_100ns)?.v6()?),
            Minted::V7 => Wide::Uuid(states.v7(now_ms)?),
            Minted::V7Of => Wide::Uuid(states.v7_of(now_ms)?),
            Minted::Ulid => Wide::Ulid(states.ulid(now_ms)?),
            Minted::ObjectId => Wide::ObjectId(states.object_id(now_ms)?),
            Minted::Ksuid => Wide::Ksuid(states.ksuid(now_ms)?),
            Minted::Xid => Wide::Xid(states.xid(now_ms)?),
        })
    }
}

/// Returns the length of the longest text.
#[wasm_bindgen(js_name = longestText)]
pub fn longest_text() -> u32 {
    UUID_TEXT_CHARS as u32
}

/// Returns how many random numbers a minter takes at once.
#[wasm_bindgen(js_name = poolSize)]
pub fn pool_size() -> u32 {
    Pool::SIZE as u32
}
