//! Layouts.

use alloc::string::ToString;

use js_sys::{BigUint64Array, Object};
use snowmint_core::{Integer, Layout as Core, MAX_FIELDS, Part};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{self, set};
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

    /// Returns the properties of a user's `Layout` without its dates, and also its text and numbers. The numbers are equal for
    /// layouts that differ only in the names of fields.
    #[wasm_bindgen(unchecked_return_type = "Facts")]
    pub fn facts(&self) -> Object {
        let layout = &self.0;
        let (facts, fields) = (Object::new(), Object::new());
        set(&facts, "text", layout.to_string());
        set(&facts, "numbers", BigUint64Array::from(&layout.layout_id().to_words()[..]));
        set(&facts, "name", layout.name().map_or(JsValue::NULL, Into::into));
        for (name, value) in [
            ("bits", layout.bits().into()),
            ("epochMs", layout.epoch_ms() as f64),
            ("tickMs", layout.tick_us() as f64 / 1000.0),
            ("endsAtMs", layout.ends_at_ms() as f64),
            ("nodes", layout.nodes() as f64),
            ("idsPerTick", layout.ids_per_tick() as f64),
            ("idsPerSecond", layout.ids_per_second() as f64),
        ] {
            set(&facts, name, value);
        }
        set(&facts, "jsSafe", layout.js_safe());
        set(&facts, "signedUntilMs", layout.signed_until_ms().map_or(JsValue::NULL, |ms| (ms as f64).into()));
        for (name, field) in layout.fields() {
            if name.as_str() != "unused" {
                set(&fields, name.as_str(), field.width());
            }
        }
        set(&facts, "fields", fields);
        facts
    }

    /// Takes an ID apart: the time in Unix ms, the microseconds after it, the node, then each field but `unused`.
    pub fn decode(&self, id: &str) -> Result<BigUint64Array, JsValue> {
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

    /// Puts an ID together. The text has a line for each given part, such as `node=5`, with the names of the JavaScript options.
    pub fn encode(&self, parts: &str) -> Result<u64, JsValue> {
        let parts = parts.as_bytes().split(|byte| *byte == b'\n').map(|line| {
            let mut halves = line.splitn(2, |byte| *byte == b'=');
            let (name, value) = (halves.next(), halves.next().unwrap_or_default());
            let number = Integer::parse(value).unwrap_or(Integer::Above);
            match name.unwrap_or_default() {
                b"timestampMs" => Part::Ms(number.instant()),
                b"timestampUs" => Part::unix_us(number.instant()),
                b"tick" => Part::Tick(number),
                b"node" => Part::Node(self.0.parse_node(value)),
                b"sequence" => Part::Sequence(number),
                // `random` or `opaque`.
                _ => Part::Random(number),
            }
        });
        self.0.encode_parts(parts).map_err(raise)
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

#[wasm_bindgen(typescript_custom_section)]
const FACTS: &str = "
/** What a layout has; `fields` are the bits of each field but `unused`, high to low. */
export interface Facts {
  text: string;
  numbers: BigUint64Array;
  name: string | null;
  bits: number;
  epochMs: number;
  tickMs: number;
  endsAtMs: number;
  signedUntilMs: number | null;
  jsSafe: boolean;
  nodes: number;
  idsPerTick: number;
  idsPerSecond: number;
  fields: Record<string, number>;
}";
