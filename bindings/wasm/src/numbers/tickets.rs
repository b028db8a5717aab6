//! Tickets of several servers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use snowmint_core::ErrorKind;
use snowmint_core::store::Reply;
use snowmint_core::ticket::{self, Form, MAX_SERVERS, Turn};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::keys::skipped;
use crate::convert::integer;
use crate::error::raise;

/// The servers of one kind of tickets.
#[wasm_bindgen]
pub struct Tickets(ticket::Tickets);

#[wasm_bindgen]
impl Tickets {
    /// Makes a list of stores, in the order of their offsets from 1, each with a counter.
    #[wasm_bindgen(constructor)]
    pub fn new(stores: u32) -> Result<Tickets, JsValue> {
        let offsets: Vec<u64> = (1..=u64::from(stores)).take(MAX_SERVERS + 1).collect();
        ticket::Tickets::new(Form::Counter, offsets.len() as u64, &offsets).map(Self).map_err(raise)
    }

    /// Makes a list of servers that give the tickets themselves: each gives the numbers that are its offset modulo `increment`.
    #[wasm_bindgen(js_name = ofServers)]
    pub fn of_servers(increment: &str, offsets: Vec<String>) -> Result<Tickets, JsValue> {
        let offsets: Vec<u64> = offsets.iter().map(|digits| integer(digits).or_too_large()).collect();
        ticket::Tickets::new(Form::Ticket, integer(increment).or_too_large(), &offsets).map(Self).map_err(raise)
    }

    /// Advances a call with the answer of the store that was asked, undefined without an answer. Returns the place of the next store
    /// to ask; undefined when the call has its ticket.
    pub fn next(&mut self, take: &mut Take, answer: Option<u64>, now_ms: f64) -> Result<Option<u32>, JsValue> {
        let reply = take.is_begun.then_some(answer.map_or(Reply::Unknown, Reply::Sum));
        take.is_begun = true;
        match self.0.next(&mut take.call, reply, now_ms as u64).map_err(raise)? {
            Turn::Ask(place) => Ok(Some(place as u32)),
            Turn::Done(ticket) => {
                take.ticket = Some(ticket);
                Ok(None)
            }
        }
    }
}

/// A call for a ticket.
#[wasm_bindgen]
pub struct Take {
    call: ticket::Take,
    ticket: Option<u64>,
    is_begun: bool,
}

#[wasm_bindgen]
impl Take {
    /// Begins a call; `number` counts the calls.
    #[wasm_bindgen(constructor)]
    pub fn new(number: f64) -> Take {
        Self { call: ticket::Take::from(number as u64), ticket: None, is_begun: false }
    }

    /// Returns the ticket, at the end.
    #[wasm_bindgen(getter)]
    pub fn ticket(&self) -> Option<u64> {
        self.ticket
    }
}

/// Returns the ms that a store may take for its answer.
#[wasm_bindgen(js_name = partMs)]
pub fn part_ms(left_ms: f64, stores: u32, failed: u32) -> f64 {
    ticket::part_ms(left_ms as u64, stores.into(), failed.into()) as f64
}

/// Returns whether an error of a store ends a call for a ticket.
#[wasm_bindgen(js_name = endsCall)]
pub fn ends_call(code: &str) -> bool {
    kind(code).is_some_and(ticket::ends_call)
}

/// Returns the code of the error of a call that no store served. `failures` are the codes of the stores' errors.
#[wasm_bindgen]
pub fn unserved(code: &str, failures: Vec<String>) -> String {
    let failures = failures.iter().filter_map(|code| kind(code));
    kind(code).map_or(code, |error| ticket::unserved(error, failures).code()).to_string()
}

fn kind(code: &str) -> Option<ErrorKind> {
    ErrorKind::ALL.into_iter().find(|kind| kind.code() == code)
}

/// Returns how many numbers a new counter skips after fences.
#[wasm_bindgen(js_name = skippedBy)]
pub fn skipped_by(floor: Option<Vec<u8>>) -> Result<u64, JsValue> {
    skipped(floor.as_deref()).map_err(raise)
}
