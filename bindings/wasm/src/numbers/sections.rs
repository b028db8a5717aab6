//! Per-user sequences: the sections of an allocator.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;
use core::num::NonZeroU32;

use js_sys::{Map, Object};
use snowmint_core::bytes::{LABEL_BYTES, label, label_text};
use snowmint_core::section::{
    self, CLAIM_RETRY_MS, Claimed, Elsewhere, HeldBy, MAX_SECTIONS, MEMORY_BYTES, Memory, NoRoom, ROOM_AFTER_MS,
    ROOM_RETRY_MS, Record, SIZE, STEP, Terms, Users, WINDOW_MS, call_ms, idle_ms, keep_ms, look_ms, patience_ms,
};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{Error, Integer, pin};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::keys::skipped;
use super::pins::Pin;
use super::step::{asked, done};
use crate::convert::{self, integer};
use crate::error::raise;

/// The bytes of a user in a `Map` of V8, at most.
const USER_BYTES: u64 = 40;

/// The terms of an allocator, and its pauses in ms.
#[wasm_bindgen]
pub struct Allocator {
    size: NonZeroU32,
    step: Integer,
    window_ms: u64,
    max_wait_ms: u64,
    label: [u8; LABEL_BYTES],
    /// How many users there is memory for.
    room: Rc<Cell<u64>>,
}

#[wasm_bindgen]
#[allow(clippy::unused_self, reason = "core's limits and pauses are properties of the object in JavaScript")]
impl Allocator {
    /// Makes the terms. Missing options are undefined.
    #[wasm_bindgen(constructor)]
    pub fn new(
        size: Option<String>,
        step: Option<String>,
        window_ms: Option<f64>,
        max_wait_ms: f64,
        name: &str,
    ) -> Result<Allocator, JsValue> {
        let size = size.as_deref().map_or(SIZE, |digits| match integer(digits) {
            Integer::Fits(size) => u32::try_from(size).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX),
            _ => NonZeroU32::MAX,
        });
        let allocator = Self {
            size,
            step: step.as_deref().map_or(Integer::from(STEP), integer),
            window_ms: window_ms.map_or(WINDOW_MS, |ms| ms as u64),
            max_wait_ms: max_wait_ms as u64,
            label: label(name),
            room: Rc::new(Cell::new(MEMORY_BYTES / USER_BYTES)),
        };
        let users = Users::of(Integer::from(0u64), size).map_err(raise)?;
        allocator.terms(users, 0).map_err(raise)?;
        Ok(allocator)
    }

    fn terms(&self, users: Users, token: u128) -> Result<Terms, Error> {
        Terms::new(users, token, self.step, self.window_ms, self.label)
    }

    /// Returns the number of a user's section.
    pub fn section(&self, user: &str) -> Result<String, JsValue> {
        Users::of(integer(user), self.size).map(|users| users.number().to_string()).map_err(raise)
    }

    /// Begins the claim of a user's section. `token` has 16 random bytes.
    pub fn claim(&self, user: &str, token: &[u8]) -> Result<SectionClaim, JsValue> {
        let token = token.try_into().map(u128::from_le_bytes).unwrap_or_default();
        let users = Users::of(integer(user), self.size).map_err(raise)?;
        Ok(SectionClaim {
            claim: section::Claim::new(self.terms(users, token).map_err(raise)?),
            users,
            label: self.label,
            reply: None,
            seen: None,
            held_by: None,
            held: None,
            room: Rc::clone(&self.room),
        })
    }

    /// Returns the size of the sections, as a setting of a store that has no setting yet.
    pub fn pin(&self) -> Pin {
        Pin::of(pin::Pin::Sections(self.size))
    }

    /// Refuses the record of a section with another size.
    #[wasm_bindgen(js_name = refuseOther)]
    pub fn refuse_other(&self, record: &[u8]) -> Result<(), JsValue> {
        // A record of another form does not belong to a section, and has no size to compare.
        let Ok(record) = Record::from_bytes(record) else { return Ok(()) };
        pin::Pin::Sections(self.size).refuse_other(pin::Pin::Sections(record.users.size())).map_err(raise)
    }

    /// Returns how many users fit in memory.
    #[wasm_bindgen(getter)]
    pub fn room(&self) -> f64 {
        self.room.get() as f64
    }

    /// Returns how many users should fit in memory after some are forgotten.
    #[wasm_bindgen(getter, js_name = wantedRoom)]
    pub fn wanted_room(&self) -> f64 {
        (MEMORY_BYTES / USER_BYTES / 16) as f64
    }

    /// Returns the most sections.
    #[wasm_bindgen(getter, js_name = maxSections)]
    pub fn max_sections(&self) -> f64 {
        MAX_SECTIONS as f64
    }

    /// Returns the message for an allocator whose sections in use reach the maximum, or take all memory.
    #[wasm_bindgen(js_name = noRoom)]
    pub fn no_room(&self, for_users: bool) -> String {
        (if for_users { NoRoom::Memory(MEMORY_BYTES) } else { NoRoom::Sections(MAX_SECTIONS) }).to_string()
    }

    /// Returns how long a caller should wait for room.
    #[wasm_bindgen(getter, js_name = roomRetryMs)]
    pub fn room_retry_ms(&self) -> f64 {
        ROOM_RETRY_MS as f64
    }

    /// Returns the time without requests after which a section makes room.
    #[wasm_bindgen(getter, js_name = roomAfterMs)]
    pub fn room_after_ms(&self) -> f64 {
        ROOM_AFTER_MS as f64
    }

    /// Returns the time without requests after which a section is given back.
    #[wasm_bindgen(getter, js_name = idleMs)]
    pub fn idle_ms(&self) -> f64 {
        idle_ms(self.window_ms) as f64
    }

    /// Returns how long a claim goes on without callers.
    #[wasm_bindgen(getter, js_name = patienceMs)]
    pub fn patience_ms(&self) -> f64 {
        patience_ms(self.window_ms, self.max_wait_ms) as f64
    }

    /// Returns the pause after a claim's request without an answer.
    #[wasm_bindgen(getter, js_name = claimRetryMs)]
    pub fn claim_retry_ms(&self) -> f64 {
        CLAIM_RETRY_MS as f64
    }

    /// Returns the pause of a claim that has to wait.
    #[wasm_bindgen(js_name = lookMs)]
    pub fn look_ms(&self, wait_ms: f64) -> f64 {
        look_ms(wait_ms as u64, self.window_ms) as f64
    }

    /// Returns the pause between two looks at a section that is held.
    #[wasm_bindgen(getter, js_name = keepMs)]
    pub fn keep_ms(&self) -> f64 {
        keep_ms(self.window_ms) as f64
    }

    /// Returns the pause of a call whose section is not ready. `wait_ms` is the wait that its error names, undefined if
    /// the error names none.
    #[wasm_bindgen(js_name = callMs)]
    pub fn call_ms(&self, wait_ms: Option<f64>) -> f64 {
        call_ms(wait_ms.map(|ms| ms as u64)) as f64
    }
}

/// The claim of a section.
#[wasm_bindgen]
pub struct SectionClaim {
    claim: section::Claim,
    users: Users,
    label: [u8; LABEL_BYTES],
    reply: Option<Reply<Record>>,
    seen: Option<Elsewhere>,
    /// The message about the other holder.
    held_by: Option<String>,
    held: Option<Section>,
    room: Rc<Cell<u64>>,
}

#[wasm_bindgen]
impl SectionClaim {
    /// Passes on the record that a read found, undefined if the record is missing.
    pub fn found(&mut self, record: Option<Vec<u8>>, version: f64) -> Result<(), JsValue> {
        let record = record.map(|record| Record::from_bytes(&record)).transpose().map_err(raise)?;
        if let Some(Record { released, label, .. }) = &record {
            let holder = label_text(label).to_string();
            let held = HeldBy { users: self.users, holder: &holder, is_namesake: *label == self.label };
            self.held_by = (!released).then(|| held.to_string());
        }
        self.reply = Some(Reply::Record(record, version as u64));
        Ok(())
    }

    /// Passes on the outcome of a write: its version, null if the store holds another version, undefined without an answer.
    pub fn answered(&mut self, #[wasm_bindgen(unchecked_param_type = "number | null | undefined")] outcome: &JsValue) {
        self.reply = Some(convert::written(outcome));
    }

    /// Returns whether the read found no record. The section may have had one before a restored backup.
    #[wasm_bindgen(getter, js_name = isNew)]
    pub fn is_new(&self) -> bool {
        matches!(self.reply, Some(Reply::Record(None, _)))
    }

    /// Begins above the numbers that fences skip.
    #[wasm_bindgen(js_name = beginAbove)]
    pub fn begin_above(&mut self, floor: Option<Vec<u8>>) -> Result<(), JsValue> {
        self.claim.begin_above(skipped(floor.as_deref()).map_err(raise)?);
        Ok(())
    }

    /// Advances the claim. It is done with undefined if the section is held, and with the ms of a wait otherwise.
    #[wasm_bindgen(unchecked_return_type = "Next<number | undefined>")]
    pub fn next(&mut self, now_ms: f64) -> Result<Object, JsValue> {
        let now_ms = now_ms as u64;
        match self.claim.next(self.reply.take(), now_ms).map_err(raise)? {
            Next::Ask(ask) => Ok(asked(&ask, Record::to_bytes)),
            Next::Done(Claimed::Held(held)) => {
                let users = Known::new(self.users.size().get(), &self.room);
                self.held = Some(Section { section: section::Section::new(held, users), reply: None });
                Ok(done(JsValue::UNDEFINED))
            }
            Next::Done(Claimed::Wait(wait_ms)) => {
                self.seen = Some(Elsewhere::after(self.seen, now_ms, wait_ms));
                Ok(done(wait_ms as f64))
            }
        }
    }

    /// Returns the section, once.
    pub fn section(&mut self) -> Option<Section> {
        self.held.take()
    }

    /// Returns the message about another allocator that holds the section; undefined without one.
    #[wasm_bindgen(getter, js_name = heldBy)]
    pub fn held_by(&self) -> Option<String> {
        self.held_by.clone()
    }

    /// Returns whether another allocator keeps the section until the deadline; undefined if its record was not read a moment ago.
    pub fn stays(&self, now_ms: f64, deadline_ms: f64) -> Option<bool> {
        self.seen.filter(|seen| seen.is_current(now_ms as u64)).map(|seen| seen.stays(deadline_ms as u64))
    }
}

/// A section that this allocator holds.
#[wasm_bindgen]
pub struct Section {
    section: section::Section<Known>,
    reply: Option<Reply<Record>>,
}

#[wasm_bindgen]
impl Section {
    /// Takes the next number of a user. Undefined without memory for the user.
    #[wasm_bindgen(unchecked_return_type = "Next<bigint> | undefined")]
    pub fn next(&mut self, user: &str, now_ms: f64) -> Result<JsValue, JsValue> {
        match self.section.next(integer(user), now_ms as u64) {
            Ok(Next::Done(number)) => Ok(done(number).into()),
            Ok(Next::Ask(ask)) => Ok(request(&ask)),
            Err(error) if error.is_users_full() => Ok(JsValue::UNDEFINED),
            Err(error) => Err(raise(error)),
        }
    }

    /// Returns the request that renews the section, if it is due.
    #[wasm_bindgen(unchecked_return_type = "Request | undefined")]
    pub fn renew(&mut self, now_ms: f64) -> Result<JsValue, JsValue> {
        let due = self.section.renew(now_ms as u64).map_err(raise)?;
        Ok(due.as_ref().map_or(JsValue::UNDEFINED, request))
    }

    /// Closes the section. Returns the write that frees it, if there is one.
    #[wasm_bindgen(unchecked_return_type = "Request | undefined")]
    pub fn release(&mut self) -> JsValue {
        self.section.release().as_ref().map_or(JsValue::UNDEFINED, request)
    }

    /// Passes on the record that a read found, undefined if the record is missing.
    pub fn found(&mut self, record: Option<Vec<u8>>, version: f64) -> Result<(), JsValue> {
        let record = record.map(|record| Record::from_bytes(&record)).transpose().map_err(raise)?;
        self.reply = Some(Reply::Record(record, version as u64));
        Ok(())
    }

    /// Passes on the outcome of a write: its version, null if the store holds another version, undefined without an answer.
    pub fn answered(&mut self, #[wasm_bindgen(unchecked_param_type = "number | null | undefined")] outcome: &JsValue) {
        self.reply = Some(convert::written(outcome));
    }

    /// Takes the answer that was passed on. Throws if the section is lost.
    pub fn settle(&mut self, now_ms: f64) -> Result<(), JsValue> {
        let reply = self.reply.take().unwrap_or(Reply::Unknown);
        self.section.reply(reply, now_ms as u64).map_err(raise)
    }

    /// Returns how many users the memory has.
    #[wasm_bindgen(getter)]
    pub fn users(&self) -> u32 {
        self.section.memory().above.size()
    }

    /// Forgets the users: each next number is above all that the section has reserved.
    pub fn forget(&mut self) {
        self.section.forget();
    }
}

#[wasm_bindgen(typescript_custom_section)]
const REQUEST: &str = "
/** A request of a machine for its record. */
export type Request = Exclude<Next<unknown>, { kind: 'done' }>;";

fn request(ask: &Ask<Record>) -> JsValue {
    asked(ask, Record::to_bytes).into()
}

/// The users of a section that have asked, each with the distance of its last number from the base, in a `Map` of the host.
struct Known {
    size: u32,
    base: u64,
    above: Map,
    room: Rc<Cell<u64>>,
}

impl Known {
    fn new(size: u32, room: &Rc<Cell<u64>>) -> Self {
        Self { size, base: 0, above: Map::new(), room: Rc::clone(room) }
    }
}

impl Memory for Known {
    const REACH: u64 = u32::MAX as u64;

    fn last(&mut self, place: usize) -> Option<u64> {
        let place = u32::try_from(place).ok().filter(|place| *place < self.size)?;
        Some(self.base + self.above.get(&place.into()).as_f64().unwrap_or_default() as u64)
    }

    fn keep(&mut self, place: usize, number: u64) -> bool {
        let place = JsValue::from(place as u32);
        if !self.above.has(&place) {
            let Some(left) = self.room.get().checked_sub(1) else { return false };
            self.room.set(left);
        }
        self.above.set(&place, &((number - self.base) as f64).into());
        true
    }

    fn forget(&mut self, base: u64) {
        self.room.set(self.room.get() + u64::from(self.above.size()));
        self.above.clear();
        self.base = base;
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.forget(0);
    }
}
