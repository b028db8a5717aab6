//! Sequences that a database has.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use snowmint_core::ErrorKind;
use snowmint_core::durability::{Accepting, Denial, Engine};
use snowmint_core::native::{self, MAX_NUMBERS, State, Unfit};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::raise_as;

/// A sequence of a database.
#[wasm_bindgen]
pub struct NativeSequence {
    engine: Engine,
    source: String,
    name: String,
    allow_unsafe: bool,
}

#[wasm_bindgen]
impl NativeSequence {
    /// Names a sequence of a store, whose engine may be one without sequences.
    #[wasm_bindgen(constructor)]
    pub fn new(engine: &str, store: &str, name: &str, allow_unsafe: bool) -> Result<NativeSequence, JsValue> {
        let engine = Unfit::named(Engine::find(engine), name).map_err(|unfit| {
            let message = unfit.message(Engine::Postgres, name, &Accepting::JAVASCRIPT);
            raise_as(unfit.kind(), &format!("{store}: {message}"))
        })?;
        Ok(Self { engine, source: format!("{store}, sequence {name}"), name: name.to_string(), allow_unsafe })
    }

    /// Returns the store and the sequence, for messages.
    #[wasm_bindgen(getter)]
    pub fn source(&self) -> String {
        self.source.clone()
    }

    /// Returns the largest number of numbers that one request takes.
    pub fn most() -> u64 {
        MAX_NUMBERS
    }

    /// Refuses an object that is not a sequence, by the server's version and the object's type.
    #[wasm_bindgen(js_name = refuseObject)]
    pub fn refuse_object(&self, version: &str, kind: Option<String>) -> Result<(), JsValue> {
        Unfit::object(self.engine, version, kind.as_deref()).map_or(Ok(()), |unfit| Err(self.refused(unfit)))
    }

    /// Returns how many numbers to ask for, at most `count`. Without columns the name belongs to another kind of
    /// object.
    pub fn room(&self, columns: Vec<String>, count: u64) -> Result<u64, JsValue> {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let state = <[&str; 7]>::try_from(columns).ok().and_then(State::read);
        let state = state.ok_or_else(|| self.refused(Unfit::NotSequence))?;
        match state.refuse(self.engine) {
            Some(unfit) if !self.allow_unsafe => Err(self.refused(unfit)),
            _ => Ok(state.room(count)),
        }
    }

    /// Returns how many numbers to ask for after a request for `count` found less; throws if the sequence has no more
    /// numbers.
    pub fn fewer(&self, count: u64) -> Result<u64, JsValue> {
        let exhausted = || raise_as(ErrorKind::Exhausted, &format!("{} has no more numbers", self.source));
        native::fewer(count).ok_or_else(exhausted)
    }

    /// Returns whether an error with this code says that the sequence has no more numbers.
    #[wasm_bindgen(js_name = isRunOut)]
    pub fn is_run_out(&self, code: &str) -> bool {
        self.engine.denial(code) == Denial::RunOut
    }
}

impl NativeSequence {
    fn refused(&self, unfit: Unfit<'_>) -> JsValue {
        let message = unfit.message(self.engine, &self.name, &Accepting::JAVASCRIPT);
        raise_as(unfit.kind(), &format!("{}: {message}", self.source))
    }
}
