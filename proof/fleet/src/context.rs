//! The world, as a process of the fleet sees it.

use crate::machine::Machine;
use crate::plan::Plan;
use crate::random::Random;
use crate::tally::Checker;

/// The world at the moment when a process acts.
#[derive(Debug)]
pub struct Context<'a> {
    /// The plan of the fleet.
    pub plan: &'a Plan,
    /// The random numbers of the seed.
    pub random: &'a mut Random,
    /// The judge of all that is minted.
    pub checker: &'a mut Checker,
    /// The number of the process.
    pub process: usize,
    /// The machine of the process, if it has a directory there.
    pub machine: Option<&'a mut Machine>,
    /// The wall clock of the process, Unix ms. It steps.
    pub clock_ms: i64,
    /// The clock of the process that never steps, in ms. Some run an eighth faster.
    pub steady_ms: u64,
    /// The clock of the store, Unix ms.
    pub store_ms: i64,
    /// How many numbers a section without a record leaves out.
    pub skip: u64,
}
