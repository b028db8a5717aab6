//! Generators that never wait.
//!
//! The state of a node is two words in an array of JavaScript: all copies of the package in a thread share it. The module of a
//! lease shares it too, although its memory is separate. The time is an argument.

use js_sys::BigUint64Array;
use snowmint_core::{Minter, Options, Run, SequenceStart, Words};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{integer, length};
use crate::error::raise;
use crate::layout::Layout;

/// How many IDs one call copies to JavaScript: of a run, and of a larger batch.
const RUN_CHUNK_IDS: usize = 256;
const BATCH_CHUNK_IDS: usize = 4096;

/// Mints the IDs of a node from its state, with a generator's options.
#[wasm_bindgen]
pub struct Generator(Minter<Words>);

#[wasm_bindgen]
impl Generator {
    /// Makes a generator of `node`, which `Layout.node` has checked; `start` is a result of `sequenceStart`. Throws
    /// `TIME_OVERFLOW` if the layout is over at `now_ms`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        layout: &Layout,
        node: u32,
        max_ahead_ms: f64,
        start: u32,
        seed: f64,
        now_ms: f64,
    ) -> Result<Generator, JsValue> {
        layout.0.refuse_if_over(now_ms as i64).map_err(raise)?;
        let options = Options {
            max_ahead_ms: max_ahead_ms as u64,
            sequence_start: SequenceStart::ALL.get(start as usize).copied().unwrap_or_default(),
            seed: seed.to_bits(),
            ..Options::DEFAULT
        };
        Ok(Self(Minter::new(&layout.0, node, &options, Words::wiped())))
    }

    /// Takes a run of up to `size` IDs, all free now, to the start of `ids`. Returns their number.
    pub fn run(&self, state: &BigUint64Array, ids: &BigUint64Array, size: u32, now_ms: f64) -> Result<u32, JsValue> {
        // Near the end of a tick there may be one ID, but no run.
        let run = (size > 1).then(|| self.take(state, size, now_ms, 0.0).ok()).flatten();
        if let Some(run) = run {
            return Ok(write::<RUN_CHUNK_IDS>(run, ids));
        }
        let id = self.take(state, 1, now_ms, 0.0).map_err(raise)?.next();
        ids.set_index(0, id.unwrap_or_default());
        Ok(1)
    }

    /// Fills the start of an array, if the rest of it will be free within `patience_ms`. Returns the number of IDs.
    pub fn fill(
        &self,
        state: &BigUint64Array,
        ids: &BigUint64Array,
        now_ms: f64,
        patience_ms: f64,
    ) -> Result<u32, JsValue> {
        Ok(write::<BATCH_CHUNK_IDS>(self.take(state, ids.length(), now_ms, patience_ms).map_err(raise)?, ids))
    }

    fn take(
        &self,
        state: &BigUint64Array,
        want: u32,
        now_ms: f64,
        patience_ms: f64,
    ) -> Result<Run<'_>, snowmint_core::Error> {
        let words = self.0.words();
        words.set([state.get_index(0), state.get_index(1)]);
        let run = self.0.try_run(now_ms as i64, want.into(), patience_ms as u64)?;
        state.set_index(0, words.to_words()[0]);
        Ok(run)
    }
}

fn write<const CHUNK_IDS: usize>(mut run: Run<'_>, ids: &BigUint64Array) -> u32 {
    let mut chunk = [0; CHUNK_IDS];
    let len = ids.length();
    let mut done = 0;
    loop {
        let count = run.write(&mut chunk) as u32;
        if count == 0 {
            return done;
        }
        let place = if count == len { ids } else { &ids.subarray(done, done + count) };
        place.copy_from(&chunk[..count as usize]);
        done += count;
    }
}

/// Returns the state of a vouched node that has minted nothing.
#[wasm_bindgen]
pub fn vouched() -> BigUint64Array {
    Words::vouched().to_words()[..].into()
}

/// Returns the place of a start of the sequence in `SequenceStart::ALL`.
#[wasm_bindgen(js_name = sequenceStart)]
pub fn sequence_start(name: &str) -> Result<u32, JsValue> {
    SequenceStart::find(name).map(|start| start as u32).map_err(raise)
}

/// Checks the value of an option that is a length of time.
#[wasm_bindgen(js_name = checkMs)]
pub fn check_ms(option: &str, ms: f64) -> Result<(), JsValue> {
    length(ms).ms(option).map(drop).map_err(raise)
}

/// Checks the size of a batch.
#[wasm_bindgen]
pub fn batch(count: &str) -> Result<u32, JsValue> {
    integer(count).batch().map(|count| count as u32).map_err(raise)
}

/// Returns the error of a closed generator.
#[wasm_bindgen]
pub fn closed() -> JsValue {
    raise(snowmint_core::Error::closed())
}

/// Returns the error of a generator whose window is over.
#[wasm_bindgen(js_name = windowOver)]
pub fn window_over() -> JsValue {
    raise(snowmint_core::Error::window_over())
}

/// Returns how long, in ms, a call sleeps before it tries again, if it has to wait `wanted_ms` and has waited `waited_ms`; 0: it
/// gives up.
#[wasm_bindgen(js_name = pauseMs)]
pub fn pause_ms(max_wait_ms: f64, wanted_ms: f64, waited_ms: f64) -> f64 {
    Options { max_wait_ms: max_wait_ms as u64, ..Options::DEFAULT }.pause_ms(wanted_ms as u64, waited_ms as u64) as f64
}
