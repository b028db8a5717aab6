//! Layouts.

use alloc::string::{String, ToString};

use js_sys::{BigUint64Array, Object};
use snowmint_core::{ErrorKind, Integer, Layout as Core, MAX_FIELDS};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{self, integer, integer_or, set};
use crate::error::raise;

/// The bit fields of an ID.
#[wasm_bindgen]
pub struct Layout(pub(crate) Core);

#[wasm_bindgen]
impl Layout {
    /// Returns the preset of a name.
    pub fn preset(name: &str) -> Result<Layout, JsValue> {
        Core::preset(name).map(Self).map_err(raise)
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Layout, JsValue> {
        Core::parse(text).map(Self).map_err(raise)
    }

    /// Returns the preset's name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> Option<String> {
        self.0.name().map(Into::into)
    }

    /// Returns the bits of all fields together.
    #[wasm_bindgen(getter)]
    pub fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// Returns the instant of tick 0, Unix ms.
    #[wasm_bindgen(getter, js_name = epochMs)]
    pub fn epoch_ms(&self) -> f64 {
        self.0.epoch_ms() as f64
    }

    /// Returns the length of a tick, microseconds.
    #[wasm_bindgen(getter, js_name = tickUs)]
    pub fn tick_us(&self) -> f64 {
        self.0.tick_us() as f64
    }

    /// Returns the start of the last tick, Unix ms.
    #[wasm_bindgen(getter, js_name = endsAtMs)]
    pub fn ends_at_ms(&self) -> f64 {
        self.0.ends_at_ms() as f64
    }

    /// Returns when bit 63 first becomes 1, Unix ms.
    #[wasm_bindgen(getter, js_name = signedUntilMs)]
    pub fn signed_until_ms(&self) -> Option<f64> {
        self.0.signed_until_ms().map(|ms| ms as f64)
    }

    /// Returns whether every ID is a safe integer.
    #[wasm_bindgen(getter, js_name = jsSafe)]
    pub fn js_safe(&self) -> bool {
        self.0.js_safe()
    }

    /// Returns the number of nodes.
    #[wasm_bindgen(getter)]
    pub fn nodes(&self) -> f64 {
        self.0.nodes() as f64
    }

    /// Returns the most IDs that a node can mint in a tick.
    #[wasm_bindgen(getter, js_name = idsPerTick)]
    pub fn ids_per_tick(&self) -> f64 {
        self.0.ids_per_tick() as f64
    }

    /// Returns the most IDs that a node can mint in a second on average.
    #[wasm_bindgen(getter, js_name = idsPerSecond)]
    pub fn ids_per_second(&self) -> f64 {
        self.0.ids_per_second() as f64
    }

    /// Returns the bits of each field but `unused`, high to low.
    #[wasm_bindgen(getter, unchecked_return_type = "Record<string, number>")]
    pub fn fields(&self) -> Object {
        let fields = Object::new();
        for (name, field) in self.0.fields() {
            if name.as_str() != "unused" {
                set(&fields, name.as_str(), field.width());
            }
        }
        fields
    }

    /// Returns the numbers of the layout: equal for layouts that differ only in the names of fields.
    pub fn numbers(&self) -> BigUint64Array {
        self.0.numbers().to_words()[..].into()
    }

    /// Returns the canonical text form.
    #[wasm_bindgen(js_name = toString)]
    #[allow(clippy::inherent_to_string, reason = "the name in JavaScript")]
    pub fn to_string(&self) -> String {
        self.0.to_string()
    }

    /// Takes an ID apart: the time in Unix ms, the microseconds after it, the node, then each field but `unused`.
    pub fn decode(&self, id: &JsValue) -> Result<BigUint64Array, JsValue> {
        let id = convert::id(id)?;
        let parts = self.0.decode(id).map_err(raise)?;
        let mut words = [0; 3 + MAX_FIELDS];
        words[..3].copy_from_slice(&[parts.timestamp_ms.cast_unsigned(), parts.extra_us.into(), parts.node.into()]);
        let mut len = 3;
        for (_, value) in self.0.field_values(id) {
            words[len] = value;
            len += 1;
        }
        Ok(words[..len].into())
    }

    /// Puts an ID together. The tick counts if the time is NaN.
    pub fn encode(
        &self,
        time_ms: f64,
        extra_us: u32,
        tick: &JsValue,
        node: &JsValue,
        sequence: &JsValue,
        random: &JsValue,
    ) -> Result<u64, JsValue> {
        let node = integer_or(node, ErrorKind::InvalidNode)?;
        let (sequence, random, tick) = (integer(sequence)?, integer(random)?, integer(tick)?);
        let id = if time_ms.is_nan() {
            // No layout has the tick `u64::MAX`, so it stands for every integer that does not fit.
            let tick = if let Integer::Fits(tick) = tick { tick } else { u64::MAX };
            self.0.encode_tick(tick, node, sequence, random)
        } else {
            self.0.encode_at_us(time_ms as i64, extra_us, node, sequence, random)
        };
        id.map_err(raise)
    }

    /// Returns the lowest and the highest ID between two instants (Unix ms), both included.
    #[wasm_bindgen(js_name = idRange)]
    pub fn id_range(&self, from_ms: f64, to_ms: f64) -> Result<BigUint64Array, JsValue> {
        let range = self.0.id_range(from_ms as i64, to_ms as i64).map_err(raise)?;
        Ok([*range.start(), *range.end()][..].into())
    }

    /// Reads a node such as `5` or `datacenter=0,worker=5`.
    pub fn node(&self, text: &str) -> Result<u32, JsValue> {
        self.0.parse_node(text).map_err(raise)
    }
}
