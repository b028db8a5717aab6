//! The faults of processes, the network, the store and machines.

use snowmint_core::segment::LAST;

use super::World;
use super::event::What;
use super::process::{Process, Role};
use crate::allocator::Allocator;
use crate::faults::Fault;
use crate::keeper::Keeper;
use crate::machine::{Copying, Machine};
use crate::plan::{Plan, START_MS};
use crate::tenant::Tenant;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl World {
    pub(super) fn crash(&mut self, process: usize) {
        self.crash_for(process, self.plan.window_ms / 2);
    }

    /// Ends a process. Another one takes its place after up to this many ms.
    fn crash_for(&mut self, process: usize, most_ms: u64) {
        let Process { role, life, stalled_until_ms, waits_for, .. } = &mut self.processes[process];
        *life += 1;
        (*stalled_until_ms, *waits_for) = (0, None);
        match role {
            Role::Holder(holder) => holder.crash(),
            Role::Allocator(allocator) => *allocator = Allocator::new(),
            Role::Keeper(keeper) => *keeper = Keeper::new(),
            // The kernel unlocks the files of a process that is killed.
            Role::Tenant(tenant) => {
                self.machines[tenant.machine].unlock(process);
                *tenant = Tenant::new(tenant.machine);
            }
        }
        let life = *life;
        let delay_ms = 1 + self.random.below(most_ms);
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
        if fault.is_of_machine() {
            self.befall_machine(fault);
            return;
        }
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
                let claims = |process: &Process| match &process.role {
                    Role::Holder(holder) => holder.claims(),
                    Role::Tenant(tenant) => tenant.claims(),
                    Role::Allocator(_) | Role::Keeper(_) => false,
                };
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
            _ => return,
        }
        self.checker.fault(fault);
    }

    fn befall_machine(&mut self, fault: Fault) {
        let some = self.random.below(self.plan.machines as u64);
        #[allow(clippy::cast_possible_truncation, reason = "a handful")]
        let machine = some as usize;
        match fault {
            Fault::CutOff => {
                let until_ms = self.now_ms + self.random.below(2 * self.plan.reserve_ms);
                for process in self.tenants(machine) {
                    self.processes[process].cut_until_ms = until_ms;
                }
            }
            Fault::Reboot => self.stop(machine, self.plan.window_ms),
            Fault::LostDisk => {
                self.stop(machine, self.plan.window_ms);
                self.machines[machine].clear();
            }
            Fault::Copied => {
                let from = self.machines[machine].clone();
                let to = (machine + 1) % self.machines.len();
                let copying = *self.random.pick(&[Copying::Files, Copying::Beside, Copying::Disk]);
                for process in self.tenants(to) {
                    self.crash(process);
                }
                self.machines[to].copy(&from, copying, &mut self.random);
            }
            _ => {
                self.release(machine);
                self.stop(machine, self.plan.reserve_ms);
            }
        }
        self.checker.fault(fault);
    }

    /// Returns the processes of a machine.
    fn tenants(&self, machine: usize) -> Vec<usize> {
        (0..self.processes.len()).filter(|process| self.processes[*process].role.machine() == Some(machine)).collect()
    }

    /// Stops a machine, which starts anew after up to this many ms.
    fn stop(&mut self, machine: usize, most_ms: u64) {
        for process in self.tenants(machine) {
            self.crash_for(process, most_ms);
        }
        self.machines[machine].start_anew(&mut self.random);
    }

    /// Releases the nodes of a machine that is stopped, as an operator does who knows how far it has minted.
    fn release(&mut self, machine: usize) {
        let now_ms = START_MS.saturating_add_unsigned(self.now_ms);
        for node in self.machines[machine].nodes() {
            let Some(reservation) = self.machines[machine].reservation(node) else { continue };
            let nonce = reservation.record.nonce;
            #[allow(clippy::cast_possible_truncation, reason = "a nonce is the place of a claim")]
            let end_ms = self.checker.slot_end_ms(nonce as usize).map_or(now_ms, |end_ms| end_ms.max(now_ms));
            if let Some(record) = self.store.release(node, nonce, end_ms) {
                self.granted(node, &record);
            }
        }
    }

    /// Stops all processes, raises all ends and counters above all that was given out, and starts the processes again.
    pub(super) fn fence(&mut self) {
        self.fence_is_planned = false;
        self.epoch += 1;
        for process in 0..self.processes.len() {
            self.crash(process);
        }
        // Directories know of windows that the store has lost. The operator removes them, or else the fence lies behind them.
        let reserved_ms = self.machines.iter().filter_map(Machine::reserved_until_ms).max();
        let until_ms = match reserved_ms {
            Some(reserved_ms) if self.random.happens(300) => reserved_ms.max(self.checker.minted_until_ms),
            _ => {
                self.machines.iter_mut().for_each(Machine::clear);
                self.checker.minted_until_ms
            }
        };
        let skip = self.checker.highest_number + 1;
        self.skip += skip;
        self.store.fence(until_ms, skip);
        self.checker.fenced();
    }
}
