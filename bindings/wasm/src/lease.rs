//! Leases: core's machines that claim a node and renew its window, for a driver in JavaScript that calls the store.
//!
//! Most functions return the next step, an object whose `kind` says what the driver does. Times are Unix ms.

mod record;
mod step;
mod terms;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use js_sys::{BigUint64Array, Object, Uint8Array};
use snowmint_core::bytes::label;
use snowmint_core::lease::{Claim, ClaimStep, Floor, NamespaceRecord, Record, Renewal, RenewalStep, Terms};
use snowmint_core::store::{Ask, Reply};
use snowmint_core::{Layout, Nodes, Window, Words};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use self::step::{asked, failed, granted, renewed, step};
use self::terms::{length_ms, nonce_of};
use crate::convert::{self, set};
use crate::error::raise;

self_cell::self_cell!(
    /// A claim, with the layout that it borrows.
    struct Claiming {
        owner: Layout,
        #[covariant]
        dependent: Claim,
    }
);

#[allow(clippy::large_enum_variant, reason = "there are few")]
enum Machine {
    Claim(Claiming),
    Renewal(Renewal),
}

/// A lease, granted or not.
#[wasm_bindgen]
pub struct Lease {
    layout: Layout,
    /// The layout as the namespace's record has it, or will have it.
    pinned: Layout,
    machine: Machine,
    window_ms: u64,
}

#[wasm_bindgen]
#[allow(clippy::too_many_arguments, reason = "the terms of a lease; objects of JavaScript would need as many names")]
impl Lease {
    /// Begins a claim. `nonce` has 16 random bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(
        layout: &str,
        max_ahead_ms: f64,
        window_ms: Option<f64>,
        default_ms: f64,
        last_node: Option<u32>,
        nodes: Option<String>,
        system_clock: bool,
        now_ms: f64,
        nonce: &[u8],
        holder: &str,
    ) -> Result<Lease, JsValue> {
        let layout = Layout::parse(layout).map_err(raise)?;
        let window_ms = length_ms(&layout, max_ahead_ms, window_ms, default_ms).map_err(raise)?;
        layout.refuse_outside(now_ms as i64).map_err(raise)?;
        let nodes = nodes.map_or(Ok(Nodes::ALL), |nodes| layout.parse_nodes(nodes)).map_err(raise)?;
        let nonce = nonce_of(nonce);
        let claim = Claiming::new(layout, |layout| {
            Claim::new(Terms {
                layout,
                nodes,
                max_ahead_ms: max_ahead_ms as u64,
                window_ms,
                last_node,
                system_clock,
                nonce,
                label: label(holder),
            })
        });
        Ok(Self { layout, pinned: layout, machine: Machine::Claim(claim), window_ms })
    }

    /// Returns the length of a window, ms.
    #[wasm_bindgen(getter, js_name = windowMs)]
    pub fn window_ms(&self) -> f64 {
        self.window_ms as f64
    }

    /// Passes on the record of the namespace `name`, undefined if the record is missing.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn pinned(&mut self, name: &str, record: Option<Vec<u8>>, version: f64) -> Object {
        self.pinned = self.layout;
        let Some(record) = record else { return self.claim(|claim| claim.namespace(None)) };
        match NamespaceRecord::read_for(&record, &self.layout) {
            Ok((first, namespace)) => {
                self.pinned = first;
                self.claim(|claim| claim.namespace(Some((namespace, version as u64))))
            }
            Err(refusal) => {
                let mut message = String::new();
                // Writing to a string cannot fail.
                let _ = refusal.write(&mut message, name);
                let step = step("refused");
                set(&step, "code", refusal.kind().code());
                set(&step, "message", message);
                step
            }
        }
    }

    /// Passes on the store's floor, undefined if the store has no floor.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn floor(&mut self, record: Option<Vec<u8>>) -> Object {
        match record.map(|record| Floor::read(&record)).transpose() {
            Ok(floor) => self.claim(|claim| claim.floor(floor)),
            Err(error) => failed("failed", error),
        }
    }

    /// Passes on the outcome of writing the namespace's record: its version, null if the store holds another version, undefined if
    /// the store did not answer.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn pinning(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number | null | undefined")] written: &JsValue,
    ) -> Object {
        self.claim(|claim| claim.namespace_reply(convert::written(written)))
    }

    /// Excludes a node that cannot be claimed.
    pub fn skip(&mut self, node: u32) {
        if let Machine::Claim(claim) = &mut self.machine {
            claim.with_dependent_mut(|_, claim| claim.skip(node));
        }
    }

    /// Passes on a node and its record. Returns whether the bytes are a record. Throws if a later version of this package wrote
    /// the record.
    pub fn see(&mut self, node: u32, record: &[u8], version: f64, now_ms: f64) -> Result<bool, JsValue> {
        let Machine::Claim(claim) = &mut self.machine else { return Ok(false) };
        claim.with_dependent_mut(|_, claim| match Record::from_bytes(record) {
            Ok(record) => {
                claim.see(node, &record, version as u64, now_ms as i64);
                Ok(true)
            }
            Err(error) if error.is_later_version() => Err(raise(error)),
            Err(_) => {
                claim.skip(node);
                Ok(false)
            }
        })
    }

    /// Ends the list of nodes; `records` is the count of nodes that have a record, valid or not.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn seen(&mut self, now_ms: f64, records: f64) -> Object {
        self.claim(|claim| claim.listed(now_ms as i64, records as u64))
    }

    /// Says that the chosen node cannot be claimed after all.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn again(&mut self) -> Object {
        #[allow(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
        self.claim(|claim| claim.again())
    }

    /// Returns the label of the busy node's holder, after `wait` for a node that the caller names.
    pub fn holder(&self) -> Option<String> {
        let Machine::Claim(claim) = &self.machine else { return None };
        claim.borrow_dependent().holder().map(|record| record.label_text().to_string())
    }

    /// Passes on the clocks of the store, if it has one, and of this host.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn clock(&mut self, store_ms: Option<f64>, own_ms: f64) -> Object {
        let store_ms = store_ms.map(|ms| ms as i64);
        match &mut self.machine {
            Machine::Claim(_) => self.claim(|claim| claim.clock(store_ms, own_ms as i64)),
            Machine::Renewal(renewal) => renewed(renewal.clock(store_ms, own_ms as i64), renewal.node()),
        }
    }

    /// Passes on the outcome of a write, as `pinning`, or undefined for a read without an answer.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn written(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number | null | undefined")] written: &JsValue,
    ) -> Object {
        self.reply(convert::written(written))
    }

    /// Passes on the record that a read found, undefined if the record is missing.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn read(&mut self, record: Option<Vec<u8>>, version: f64) -> Object {
        match record.map(|record| Record::from_bytes(&record)).transpose() {
            Ok(record) => self.reply(Reply::Record(record, version as u64)),
            Err(error) => failed("failed", error),
        }
    }

    /// Starts a renewal, for a generator whose first unused tick begins at `last_ms`. The new window ends `reach_ms` past the clock.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn renew(&mut self, now_ms: f64, last_ms: f64, reach_ms: f64) -> Object {
        self.renewal(|renewal| renewal.renew(now_ms as i64, last_ms as i64, reach_ms as u64))
    }

    /// Starts a release of the rest of the window; no time from `end_ms` on was used.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn release(&mut self, end_ms: f64) -> Object {
        self.renewal(|renewal| renewal.release(end_ms as i64))
    }

    /// Returns the state with which `resume` keeps the lease elsewhere: a step `write`, or `released` without a node.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn save(&self) -> Object {
        let Machine::Renewal(renewal) = &self.machine else { return step("released") };
        let (record, version) = renewal.saved();
        asked(&Ask::Write(record, version), renewal.node())
    }

    /// Resumes a saved lease: `window`, or `failed` if the bytes are not a record.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub fn resume(&mut self, node: u32, record: &[u8], version: f64) -> Object {
        let system_clock = match &self.machine {
            Machine::Claim(claim) => claim.borrow_dependent().terms().system_clock,
            Machine::Renewal(renewal) => renewal.system_clock(),
        };
        match Record::from_bytes(record) {
            Ok(record) => {
                let renewal = Renewal::resume(node, record, version as u64, system_clock);
                self.machine = Machine::Renewal(renewal);
                granted(node, renewal.window(), None)
            }
            Err(error) => failed("failed", error),
        }
    }

    /// Opens a cell for a window; if not `first`, extends the open cell to the window's end.
    #[wasm_bindgen(js_name = openCell)]
    pub fn open_cell(&self, cell: &BigUint64Array, first: bool, start_ms: f64, end_ms: f64) {
        let window = Window { start_ms: start_ms as i64, end_ms: end_ms as i64 };
        let words = words_of(cell);
        if first {
            words.open(&self.layout, window);
        } else {
            words.extend(&self.layout, window.end_ms);
        }
        cell.copy_from(&words.to_words());
    }

    /// Returns the instant at which the first unused tick of a cell begins; undefined if the cell is closed.
    #[wasm_bindgen(js_name = unusedFrom)]
    pub fn unused_from(&self, cell: &BigUint64Array) -> Option<f64> {
        words_of(cell).unused_from_ms(&self.layout).map(|ms| ms as f64)
    }

    fn claim(&mut self, next: impl FnOnce(&mut Claim<'_>) -> ClaimStep) -> Object {
        let Machine::Claim(claim) = &mut self.machine else { return step("released") };
        match claim.with_dependent_mut(|_, claim| next(claim)) {
            ClaimStep::ReadNamespace => step("readLayout"),
            ClaimStep::ReadFloor => step("readFloor"),
            ClaimStep::WriteNamespace(namespace, version) => {
                let mut record = String::new();
                // Writing to a string cannot fail.
                let _ = write!(record, "{}{namespace}", self.pinned);
                let step = step("writeLayout");
                set(&step, "record", Uint8Array::from(record.as_bytes()));
                set(&step, "version", version as f64);
                step
            }
            ClaimStep::ListNodes => step("list"),
            ClaimStep::ReadClock => step("clock"),
            ClaimStep::Ask(node, ask) => asked(&ask, node),
            ClaimStep::Granted(renewal, skew_ms) => {
                self.machine = Machine::Renewal(renewal);
                granted(renewal.node(), renewal.window(), skew_ms)
            }
            ClaimStep::Wait(wait_ms, error) => {
                let step = failed("wait", error);
                set(&step, "waitMs", wait_ms as f64);
                step
            }
            ClaimStep::Taken(error) => failed("taken", error),
            ClaimStep::Unanswered => step("unanswered"),
            ClaimStep::Refused(error) => failed("failed", error),
        }
    }

    fn renewal(&mut self, next: impl FnOnce(&mut Renewal) -> RenewalStep) -> Object {
        let Machine::Renewal(renewal) = &mut self.machine else { return step("released") };
        renewed(next(renewal), renewal.node())
    }

    fn reply(&mut self, reply: Reply<Record>) -> Object {
        match self.machine {
            Machine::Claim(_) => self.claim(|claim| claim.reply(reply)),
            Machine::Renewal(_) => self.renewal(|renewal| renewal.reply(reply)),
        }
    }
}

fn words_of(cell: &BigUint64Array) -> Words {
    Words::of([cell.get_index(0), cell.get_index(1)])
}
