//! Sequences, and ranges by name.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use js_sys::Object;
use snowmint_core::sequence::{self, Dialect, Kind, Options, Queue, RETRY_MS, Rules, Set, State, lastval};
use snowmint_core::store::{Next, Reply};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::keys::skipped;
use super::step::{asked, done};
use crate::convert;
use crate::error::raise;

/// Returns the definition of a new sequence. Missing options are undefined.
#[wasm_bindgen(js_name = sequenceRecord)]
#[allow(
    clippy::too_many_arguments,
    reason = "the options of a sequence; objects of JavaScript would need as many names"
)]
pub fn sequence_record(
    dialect: Option<String>,
    kind: Option<String>,
    increment: Option<String>,
    min: Option<String>,
    max: Option<String>,
    start: Option<String>,
    cache: Option<String>,
    cycle: bool,
) -> Result<Vec<u8>, JsValue> {
    let value = |digits: Option<String>| digits.as_deref().map(value);
    let mut options = Options {
        min: value(min),
        max: value(max),
        start: value(start),
        cache: value(cache),
        cycle,
        ..Options::DEFAULT
    };
    if let Some(name) = dialect {
        options.dialect = Dialect::find(name).map_err(raise)?;
    }
    if let Some(name) = kind {
        options.kind = Kind::find(name).map_err(raise)?;
    }
    if let Some(increment) = value(increment) {
        options.increment = increment;
    }
    Rules::new(&options).map_err(raise)?;
    Ok(options.to_string().into_bytes())
}

/// Reads an integer from its digits. Beyond 128 bits it is one that no sequence has.
pub(super) fn value(digits: &str) -> i128 {
    digits.parse().unwrap_or(if digits.starts_with('-') { i128::MIN } else { i128::MAX })
}

/// Returns the record of a new sequence of this definition after a fence; undefined if it skips no values.
#[wasm_bindgen(js_name = sequenceState)]
pub fn sequence_state(definition: &[u8], floor: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, JsValue> {
    let rules = Options::read(definition).and_then(|options| Rules::new(&options)).map_err(raise)?;
    let skip = skipped(floor.as_deref()).map_err(raise)?;
    Ok((skip > 0).then(|| rules.skip(rules.initial(), skip).to_bytes().into()))
}

/// Returns the pause after a request without an answer, ms.
#[wasm_bindgen(js_name = sequenceRetryMs)]
pub fn sequence_retry_ms() -> f64 {
    RETRY_MS as f64
}

/// Makes the error of a session that has taken no value.
#[wasm_bindgen(js_name = sequenceUnused, unchecked_return_type = "Error")]
pub fn sequence_unused() -> JsValue {
    lastval(None).map_or_else(raise, JsValue::from)
}

/// A sequence in a session.
#[wasm_bindgen]
pub struct Sequence {
    queue: Queue,
    reply: Option<Reply<State>>,
}

#[wasm_bindgen]
impl Sequence {
    /// Opens the sequence with this definition.
    #[wasm_bindgen(constructor)]
    pub fn new(definition: &[u8]) -> Result<Sequence, JsValue> {
        let rules = Options::read(definition).and_then(|options| Rules::new(&options)).map_err(raise)?;
        Ok(Self { queue: Queue::new(sequence::Sequence::new(rules)), reply: None })
    }

    /// Forgets the reply of a call that was given up.
    pub fn begin(&mut self) {
        self.reply = None;
    }

    /// Passes on the record that a read found, undefined if the record is missing.
    pub fn found(&mut self, record: Option<Vec<u8>>, version: f64) -> Result<(), JsValue> {
        let state = record.map(|record| State::from_bytes(&record)).transpose().map_err(raise)?;
        self.reply = Some(Reply::Record(state, version as u64));
        Ok(())
    }

    /// Passes on the outcome of a write: its version, null if the store holds another version, undefined without an answer.
    pub fn answered(&mut self, #[wasm_bindgen(unchecked_param_type = "number | null | undefined")] outcome: &JsValue) {
        self.reply = Some(convert::written(outcome));
    }

    /// Advances the call with this number, of `begun` calls of the session; `waiting` of them wait for this sequence.
    #[wasm_bindgen(unchecked_return_type = "Next<bigint>")]
    pub fn next(&mut self, call: f64, begun: f64, waiting: f64) -> Result<Object, JsValue> {
        let reply = self.reply.take();
        self.queue.next(call as u64, begun as u64, waiting as u64, reply).map(step).map_err(raise)
    }

    /// Advances a set.
    #[wasm_bindgen(unchecked_return_type = "Next<bigint | null>")]
    pub fn set(&mut self, to: &str, is_called: Option<bool>, round: Option<u64>) -> Result<Object, JsValue> {
        let reply = self.reply.take();
        let set = Set { value: Some(value(to)), is_called, round };
        self.queue.sequence_mut().set(&set, reply).map(step_or_null).map_err(raise)
    }

    /// Returns the last value of the session; null before the first value.
    #[wasm_bindgen(unchecked_return_type = "bigint | null")]
    pub fn current(&self) -> Result<JsValue, JsValue> {
        self.queue.sequence().current().map(or_null).map_err(raise)
    }

    /// Returns the last value of the session, which took it from this sequence.
    #[wasm_bindgen(unchecked_return_type = "bigint")]
    pub fn last(&self) -> Result<JsValue, JsValue> {
        lastval(Some(self.queue.sequence())).map(JsValue::from).map_err(raise)
    }
}

fn or_null(value: Option<i128>) -> JsValue {
    value.map_or(JsValue::NULL, JsValue::from)
}

fn step(next: Next<i128, State>) -> Object {
    match next {
        Next::Done(value) => done(value),
        Next::Ask(ask) => asked(&ask, State::to_bytes),
    }
}

fn step_or_null(next: Next<Option<i128>, State>) -> Object {
    match next {
        Next::Done(value) => done(or_null(value)),
        Next::Ask(ask) => asked(&ask, State::to_bytes),
    }
}

/// The numbers of a range by name.
#[wasm_bindgen]
pub struct NamedRange(sequence::Range);

#[wasm_bindgen]
impl NamedRange {
    /// Reads the name of a range.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str) -> Result<NamedRange, JsValue> {
        sequence::by_name(name).map(Self).map_err(raise)
    }

    /// Returns how many numbers are left.
    #[wasm_bindgen(getter)]
    pub fn left(&self) -> u128 {
        self.0.len()
    }

    /// Returns the next number; undefined at the end.
    pub fn next(&mut self) -> Option<u64> {
        self.0.next()
    }
}
