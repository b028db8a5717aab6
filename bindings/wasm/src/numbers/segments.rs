//! Segments: the numbers of a tag.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops;

use snowmint_core::segment::{Bounds, REREAD_MS, RUN_NUMBERS, Range, Segment, TagRecord, block};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{Error, Integer};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::keys::skipped;
use crate::convert::integer;
use crate::error::raise;

/// Returns the definition of a new tag; `floor` is the floor of its store, undefined if the store has no floor.
#[wasm_bindgen(js_name = tagRecord)]
pub fn tag_record(start: Option<String>, step: Option<String>, floor: Option<Vec<u8>>) -> Result<Vec<u8>, JsValue> {
    let tag = TagRecord::new(start.as_deref().map(integer), step.as_deref().map(integer)).map_err(raise)?;
    let tag = tag.skip(skipped(floor.as_deref()).map_err(raise)?);
    Ok(tag.to_string().into_bytes())
}

/// Returns the next number of a definition, and its step.
#[wasm_bindgen(js_name = tagParts)]
pub fn tag_parts(definition: &[u8]) -> Result<Vec<u64>, JsValue> {
    let tag = TagRecord::read(definition).map_err(raise)?;
    Ok([tag.next, tag.step].into())
}

/// Returns the number of numbers in a block.
#[wasm_bindgen(js_name = blockSize)]
pub fn block_size(count: &str) -> Result<u64, JsValue> {
    block(integer(count)).map_err(raise)
}

/// The double buffer of a tag, for one thread.
#[wasm_bindgen]
pub struct Segments {
    range: Range,
    segment: Segment,
    start: u64,
    /// The end of the last run.
    run_end: u64,
    reread_at_ms: u64,
    wait_ms: u64,
}

#[wasm_bindgen]
impl Segments {
    /// Opens the tag with this definition.
    #[wasm_bindgen(constructor)]
    pub fn new(definition: &[u8], now_ms: f64) -> Result<Segments, JsValue> {
        let tag = TagRecord::read(definition).map_err(raise)?;
        let segment = Segment::new(Integer::Fits(tag.step), Bounds::Below).map_err(raise)?;
        Ok(Self {
            range: Range::wiped(),
            segment,
            start: tag.next,
            run_end: 0,
            reread_at_ms: (now_ms as u64).saturating_add(REREAD_MS),
            wait_ms: 0,
        })
    }

    /// Sets how many numbers a fetch takes at most.
    pub fn limit(&mut self, most: u64) {
        self.segment.limit(most);
    }

    /// Returns the first number of the counter, if the counter is new.
    #[wasm_bindgen(getter)]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Takes a run for calls that each take one number, as `take`.
    pub fn run(&mut self, left: u64, now_ms: f64) -> Result<Vec<u64>, JsValue> {
        self.take(left, RUN_NUMBERS, 1, now_ms)
    }

    /// Takes `least` to `most` consecutive numbers; `left` numbers of the last run are unused. Returns the first number and the
    /// number after the last one, equal if memory is empty, then how many numbers to fetch now.
    ///
    /// The result is an array because an object with named fields costs as much time as fifty calls for a number.
    pub fn take(&mut self, left: u64, most: u64, least: u64, now_ms: f64) -> Result<Vec<u64>, JsValue> {
        self.range.put_back(self.unused(left));
        let now_ms = now_ms as u64;
        let (run, ask) = match self.segment.take(&self.range, most, least, now_ms) {
            Ok(Next::Done(run)) => {
                self.run_end = run.end;
                (run, if self.range.is_due() { self.segment.prefetch(&self.range, now_ms) } else { None })
            }
            Ok(Next::Ask(ask)) => (self.dry(Error::numbers_dry(1)), Some(ask)),
            Err(error) if error.wait_ms().is_some() => (self.dry(error), None),
            Err(error) => return Err(raise(error)),
        };
        let amount = if let Some(Ask::Add(amount)) = ask { Some(amount) } else { None };
        Ok([run.start, run.end].into_iter().chain(amount).collect())
    }

    /// Returns how long to wait after a `take` without numbers, ms.
    #[wasm_bindgen(getter, js_name = waitMs)]
    pub fn wait_ms(&self) -> f64 {
        self.wait_ms as f64
    }

    /// Passes on the counter after an addition; undefined without an answer, and if the counter `is_full`. Returns whether the
    /// definition should be read again.
    pub fn fetched(&mut self, sum: Option<u64>, is_full: bool, now_ms: f64) -> Result<bool, JsValue> {
        let now_ms = now_ms as u64;
        let reply = if is_full { Reply::Full } else { sum.map_or(Reply::Unknown, Reply::Sum) };
        self.segment.reply(&self.range, reply, now_ms).map_err(raise)?;
        let due = sum.is_some() && now_ms >= self.reread_at_ms;
        if due {
            self.reread_at_ms = now_ms.saturating_add(REREAD_MS);
        }
        Ok(due)
    }

    /// Takes the step of a definition that was read again. A wrong step changes nothing.
    pub fn configure(&mut self, definition: &[u8]) {
        if let Ok(tag) = TagRecord::read(definition) {
            let _ = self.segment.configure(Integer::Fits(tag.step));
        }
    }

    /// Closes the numbers for good; `left` numbers of the last run are unused. Returns the values of the counter from which and to
    /// which it can be lowered, if it can. Throws while a fetch is under way.
    pub fn close(&mut self, left: u64) -> Result<Option<Vec<u64>>, JsValue> {
        self.range.put_back(self.unused(left));
        let rest = self.segment.close(&self.range).map_err(raise)?;
        Ok(rest.map(|rest| [rest.end, rest.start].into()))
    }

    fn dry(&mut self, error: Error) -> ops::Range<u64> {
        self.wait_ms = error.wait_ms().unwrap_or_default();
        0..0
    }

    fn unused(&self, left: u64) -> ops::Range<u64> {
        self.run_end.saturating_sub(left)..self.run_end
    }
}
