//! A machine with a directory: a slot for each node that a store has granted to it for hours.

use std::collections::BTreeMap;

use snowmint_core::Window;
use snowmint_core::lease::{FileIdentity, RESERVATION_BYTES, Reservation};

use crate::plan::Plan;
use crate::random::Random;

/// The file of a slot.
#[derive(Clone, Debug)]
struct Slot {
    inode: u64,
    /// The last window.
    window: Option<Window>,
    /// The reservation as bytes, as a file has it.
    reservation: Option<[u8; RESERVATION_BYTES]>,
    /// The process that has the lock.
    locked_by: Option<usize>,
}

/// A machine with its directory.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The number that the kernel has drawn when the machine started.
    boot: u128,
    slots: BTreeMap<u32, Slot>,
}

/// When a slot can be used.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// Now, with this window.
    At(Window),
    /// In this many ms.
    In(u64),
    /// Never: the reservation ends before.
    Never,
}

/// How a directory is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
    /// File by file, to another machine.
    Files,
    /// File by file, to another place on the same machine.
    Beside,
    /// As a part of the disk, from which the other machine is started.
    Disk,
}

impl Machine {
    /// Makes a machine with an empty directory.
    pub fn new(random: &mut Random) -> Self {
        Self { boot: random.next().into(), slots: BTreeMap::new() }
    }

    /// Starts the machine anew.
    pub fn start_anew(&mut self, random: &mut Random) {
        self.boot = random.next().into();
    }

    /// Loses all files of the directory. No process runs.
    pub fn clear(&mut self) {
        self.slots.clear();
    }

    /// Replaces the directory by a copy of another one. No process of this machine runs.
    pub fn copy(&mut self, from: &Self, copying: Copying, random: &mut Random) {
        self.slots.clone_from(&from.slots);
        for slot in self.slots.values_mut() {
            slot.locked_by = None;
            if copying != Copying::Disk {
                slot.inode = random.next();
            }
        }
        match copying {
            Copying::Files => {}
            Copying::Beside => self.boot = from.boot,
            Copying::Disk => self.start_anew(random),
        }
    }

    /// Returns the nodes that have a slot.
    pub fn nodes(&self) -> Vec<u32> {
        self.slots.keys().copied().collect()
    }

    /// Locks the slot of a node, which is made if it is not there. Returns whether no other process has it.
    pub fn lock(&mut self, node: u32, process: usize, random: &mut Random) -> bool {
        let slot = self.slots.entry(node).or_insert_with(|| Slot {
            inode: random.next(),
            window: None,
            reservation: None,
            locked_by: None,
        });
        *slot.locked_by.get_or_insert(process) == process
    }

    /// Unlocks all slots of a process.
    pub fn unlock(&mut self, process: usize) {
        for slot in self.slots.values_mut() {
            slot.locked_by.take_if(|holder| *holder == process);
        }
    }

    /// Returns the identity of a slot's file.
    pub fn identity(&self, node: u32) -> FileIdentity {
        FileIdentity {
            boot: self.boot,
            device: 0,
            inode: self.slots.get(&node).map_or(0, |slot| slot.inode),
            born_ns: 0,
            name: node.into(),
        }
    }

    /// Returns the reservation of a slot, if it belongs to its file.
    pub fn reservation(&self, node: u32) -> Option<Reservation> {
        let bytes = self.slots.get(&node)?.reservation?;
        let reservation = Reservation::from_bytes(&bytes).ok()?;
        reservation.is_in(&self.identity(node)).then_some(reservation)
    }

    /// Returns the end of the last reservation, Unix ms.
    pub fn reserved_until_ms(&self) -> Option<i64> {
        self.nodes().into_iter().filter_map(|node| Some(self.reservation(node)?.record.window.end_ms)).max()
    }

    /// Returns when a slot can be used within a reservation, by the clock of a process (Unix ms).
    pub fn start(&self, node: u32, reservation: &Reservation, plan: &Plan, now_ms: i64) -> Start {
        let previous_end_ms = self.slots.get(&node).and_then(|slot| slot.window).map(|window| window.end_ms);
        let window = reservation.first(plan.layout, previous_end_ms, now_ms, plan.max_ahead_ms + plan.window_ms);
        let starts = window.and_then(|window| Some((window, plan.layout.mints_from_ms(window.start_ms)?)));
        let Some((window, mints_from_ms)) = starts else { return Start::Never };
        let reached_ms = now_ms.saturating_add_unsigned(plan.max_ahead_ms);
        if mints_from_ms > reached_ms { Start::In(mints_from_ms.abs_diff(reached_ms)) } else { Start::At(window) }
    }

    /// Writes the window of a slot.
    pub fn write_window(&mut self, node: u32, window: Window) {
        self.slot(node).window = Some(window);
    }

    /// Writes the reservation of a slot.
    pub fn write_reservation(&mut self, node: u32, reservation: &Reservation) {
        self.slot(node).reservation = Some(reservation.to_bytes());
    }

    fn slot(&mut self, node: u32) -> &mut Slot {
        self.slots.get_mut(&node).expect("a locked slot is there")
    }
}
