//! An allocator: the calls of its machines so far, and its clock.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use snowmint_core::section::Record;
use snowmint_core::store::Ask;

use super::WINDOW_MS;
use super::machine::{Answer, Call, Machine};
use crate::digest::digest;

#[derive(Clone, Debug)]
pub struct Allocator {
    pub(super) token: u128,
    pub(super) calls: Arc<Vec<Call>>,
    /// Stands for the machine in comparisons.
    pub(super) digest: u64,
    /// The request under way.
    pub(super) asked: Option<Ask<Record>>,
    pub(super) holds: bool,
    pub(super) released: bool,
}

impl Allocator {
    fn machine(&self) -> Machine {
        let mut machine = Machine::new(self.token);
        for call in self.calls.iter() {
            machine.run(*call);
        }
        machine
    }

    pub(super) fn call(&mut self, call: Call) -> Answer {
        let mut machine = self.machine();
        let answer = machine.run(call);
        Arc::make_mut(&mut self.calls).push(call);
        self.holds = matches!(machine, Machine::Section(_));
        self.digest = digest(&machine);
        if let Answer::Ask(ask) = answer {
            self.asked = Some(ask);
        }
        answer
    }

    /// Returns the time of its clock, in ms. Every second clock is a quarter faster; the clocks do not agree.
    pub(super) fn now_ms(&self, halves: u8) -> u64 {
        let odd = (self.token % 2) as u64;
        5000 * odd + u64::from(halves) * WINDOW_MS / 2 * (4 + odd) / 4
    }

    fn key(&self) -> impl PartialEq + Hash {
        (self.token, self.digest, digest(&self.asked), self.released)
    }
}

impl PartialEq for Allocator {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for Allocator {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
