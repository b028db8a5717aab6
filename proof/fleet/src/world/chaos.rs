//! Faults: what befalls processes, the network and the store.

use snowmint_core::segment::LAST;

use super::World;
use super::event::What;
use super::process::{Process, Role};
use crate::allocator::Allocator;
use crate::faults::Fault;
use crate::keeper::Keeper;
use crate::plan::Plan;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl World {
    pub(super) fn crash(&mut self, process: usize) {
        let Process { role, life, stalled_until_ms, waits_for, .. } = &mut self.processes[process];
        *life += 1;
        (*stalled_until_ms, *waits_for) = (0, None);
        match role {
            Role::Holder(holder) => holder.crash(),
            Role::Allocator(allocator) => *allocator = Allocator::new(),
            Role::Keeper(keeper) => *keeper = Keeper::new(),
        }
        let life = *life;
        let delay_ms = 1 + self.random.below(self.plan.window_ms / 2);
        self.plan_event(delay_ms, What::Wake(process, life));
    }

    pub(super) fn chaos(&mut self) {
        let mean_ms = self.plan.window_ms * self.plan.calm / 100;
        let delay_ms = 1 + self.random.below(2 * mean_ms);
        self.plan_event(delay_ms, What::Chaos);
        let mut place = self.random.below(u64::from(self.plan.rates.chaos()));
        #[allow(clippy::cast_possible_truncation, reason = "a handful")]
        let process = self.random.below(self.processes.len() as u64) as usize;
        for fault in Fault::ALL.into_iter().filter(|fault| !fault.is_of_message()) {
            let weight = u64::from(self.plan.rates.of(fault));
            if place < weight {
                self.befall(fault, process);
                return;
            }
            place -= weight;
        }
    }

    fn befall(&mut self, fault: Fault, process: usize) {
        self.note(|| format!("fault: {}, process {process}", fault.name()));
        let some_ms = self.random.below(3 * self.plan.window_ms);
        match fault {
            Fault::Crash => self.crash(process),
            Fault::Stall => self.processes[process].stalled_until_ms = self.now_ms + some_ms,
            Fault::Partition => self.processes[process].cut_until_ms = self.now_ms + some_ms,
            Fault::Fork => self.act(process, |role, context| {
                if let Role::Holder(holder) = role {
                    holder.fork(context);
                }
                None
            }),
            Fault::Clock => {
                let most_ms = *self.random.pick(&[self.plan.window_ms / 50, 2 * self.plan.window_ms, DAY_MS]);
                let step_ms = self.random.below(most_ms).cast_signed();
                self.processes[process].ahead_ms = match self.random.below(5) {
                    0 | 1 => 0,
                    // A day behind is as bad as a day ahead, but a node is busy for a day only after the latter.
                    2 if most_ms < DAY_MS => step_ms,
                    _ => -step_ms,
                };
            }
            Fault::Restart => {
                self.store.restart(0);
                self.down_until_ms = self.now_ms + some_ms / 3;
            }
            // Each needs a fence, which may double the numbers: a fleet of very many fences would run out of them.
            Fault::LostTail | Fault::Vanished | Fault::Rollback if self.checker.highest_number > LAST / 64 => return,
            Fault::LostTail => {
                let lost = 1 + self.random.below(30);
                #[allow(clippy::cast_possible_truncation, reason = "at most 30")]
                self.store.restart(lost as usize);
                self.fence();
            }
            Fault::Vanished => {
                let claims = |process: &Process| matches!(&process.role, Role::Holder(holder) if holder.claims());
                // A claim that has listed the records before does not notice; nor does a write on its way.
                if self.fence_is_planned || self.processes.iter().any(claims) {
                    return;
                }
                #[allow(clippy::cast_possible_truncation, reason = "below 4")]
                let node = self.random.below(Plan::NODES as u64) as u32;
                if !self.store.vanish(node) {
                    return;
                }
                self.epoch += 1;
                self.fence_is_planned = true;
                self.plan_event(5 * self.plan.window_ms, What::Fence);
            }
            Fault::Rollback => {
                if self.fence_is_planned {
                    return;
                }
                self.store.roll_back();
                self.checker.is_rolled_back = true;
                self.fence_is_planned = true;
                self.plan_event(5 * self.plan.window_ms, What::Fence);
            }
            Fault::LostRequest | Fault::LostReply | Fault::Late | Fault::Repeated => return,
        }
        self.checker.fault(fault);
    }

    /// Stops all processes, raises all ends and counters above all that was given out, and starts the processes again.
    pub(super) fn fence(&mut self) {
        self.fence_is_planned = false;
        self.epoch += 1;
        for process in 0..self.processes.len() {
            self.crash(process);
        }
        let skip = self.checker.highest_number + 1;
        self.skip += skip;
        self.store.fence(self.checker.minted_until_ms, skip);
        self.checker.fenced();
    }
}
