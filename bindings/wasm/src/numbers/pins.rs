//! Settings of a store that must never change.

use alloc::vec::Vec;

use js_sys::Object;
use snowmint_core::pin;
use snowmint_core::store::{Next, Reply};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::step::{asked, done};
use crate::convert;
use crate::error::raise;

/// A setting to pin.
#[wasm_bindgen]
pub struct Pin {
    wanted: pin::Pin,
    reply: Option<Reply<pin::Pin>>,
}

#[wasm_bindgen]
impl Pin {
    /// Makes the setting of a store that is at a place among stores of tickets, from 1, and that has no setting yet.
    pub fn tickets(increment: u32, offset: u32) -> Pin {
        Self::of(pin::Pin::Tickets { increment, offset })
    }

    pub(super) const fn of(wanted: pin::Pin) -> Self {
        Self { wanted, reply: Some(Reply::Record(None, 0)) }
    }

    /// Passes on the record that a read found, undefined if the record is missing.
    pub fn found(&mut self, record: Option<Vec<u8>>, version: f64) -> Result<(), JsValue> {
        let pinned = record.map(|record| pin::Pin::from_bytes(&record)).transpose().map_err(raise)?;
        self.reply = Some(Reply::Record(pinned, version as u64));
        Ok(())
    }

    /// Passes on the outcome of a write: its version, null if the store holds another version, undefined without an answer.
    pub fn answered(&mut self, #[wasm_bindgen(unchecked_param_type = "number | null | undefined")] outcome: &JsValue) {
        self.reply = Some(convert::written(outcome));
    }

    /// Advances the check. Throws if another setting is pinned.
    #[wasm_bindgen(unchecked_return_type = "Next<undefined>")]
    pub fn next(&mut self) -> Result<Object, JsValue> {
        match self.wanted.next(self.reply.take()).map_err(raise)? {
            Next::Done(()) => Ok(done(JsValue::UNDEFINED)),
            Next::Ask(ask) => Ok(asked(&ask, pin::Pin::to_bytes)),
        }
    }

    /// Refuses a record that pins another setting.
    #[wasm_bindgen(js_name = refuseOther)]
    pub fn refuse_other(&self, record: &[u8]) -> Result<(), JsValue> {
        pin::Pin::from_bytes(record).and_then(|pinned| self.wanted.refuse_other(pinned)).map_err(raise)
    }
}
