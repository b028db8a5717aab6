//! The faults of a fleet, and how often each happens.

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Fault {
    /// A process ends, and another one takes its place.
    Crash,
    /// A process stands still, for up to three windows.
    Stall,
    /// A process forks while a thread holds a run of IDs.
    Fork,
    /// A process is cut off from the store, for up to three windows.
    Partition,
    /// A request is lost.
    LostRequest,
    /// A reply is lost.
    LostReply,
    /// A request or reply takes up to three windows.
    Late,
    /// A request reaches the store twice.
    Repeated,
    /// The clock of a process steps, by up to a day, or is set right.
    Clock,
    /// The store stops, and starts again from its log.
    Restart,
    /// The store loses the end of its log. All processes stop, an operator runs a fence, and they start again.
    LostTail,
    /// The record of a node vanishes. No node can be claimed until an operator runs a fence.
    Vanished,
    /// The counter of the segment goes back. Allocators that have seen it higher must stop, until an operator runs a fence.
    Rollback,
    /// The processes of a machine are cut off from the store, for up to two reservations.
    CutOff,
    /// A machine starts anew.
    Reboot,
    /// A machine loses its disk.
    LostDisk,
    /// The directory of a machine is copied to another one, or on the same one.
    Copied,
    /// A machine stops, and an operator releases its nodes.
    Released,
}

impl Fault {
    /// All faults. The faults of machines are the last ones.
    pub const ALL: [Self; 18] = [
        Self::Crash,
        Self::Stall,
        Self::Fork,
        Self::Partition,
        Self::LostRequest,
        Self::LostReply,
        Self::Late,
        Self::Repeated,
        Self::Clock,
        Self::Restart,
        Self::LostTail,
        Self::Vanished,
        Self::Rollback,
        Self::CutOff,
        Self::Reboot,
        Self::LostDisk,
        Self::Copied,
        Self::Released,
    ];

    /// Returns the words for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crashes",
            Self::Stall => "stalls",
            Self::Fork => "forks",
            Self::Partition => "partitions",
            Self::LostRequest => "lost requests",
            Self::LostReply => "lost replies",
            Self::Late => "late messages",
            Self::Repeated => "repeated requests",
            Self::Clock => "clock steps",
            Self::Restart => "restarts of the store",
            Self::LostTail => "lost tails and fences",
            Self::Vanished => "vanished records",
            Self::Rollback => "counters set back",
            Self::CutOff => "machines cut off for hours",
            Self::Reboot => "machines started anew",
            Self::LostDisk => "lost disks",
            Self::Copied => "copied directories",
            Self::Released => "released nodes of stopped machines",
        }
    }

    /// Returns whether the fault happens to a message. Other faults happen at random times.
    pub const fn is_of_message(self) -> bool {
        matches!(self, Self::LostRequest | Self::LostReply | Self::Late | Self::Repeated)
    }

    /// Returns whether the fault happens to a machine that has reservations.
    pub const fn is_of_machine(self) -> bool {
        matches!(self, Self::CutOff | Self::Reboot | Self::LostDisk | Self::Copied | Self::Released)
    }
}

/// How often each fault happens: of a message in a thousand messages, of others as a weight among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates(pub [u32; Fault::ALL.len()]);

impl Rates {
    /// The rates of a search for faults.
    pub const DEFAULT: Self = Self([20, 20, 6, 10, 15, 15, 15, 15, 30, 6, 2, 1, 1, 8, 2, 1, 4, 2]);

    /// Returns these rates for a fleet without reservations.
    #[must_use]
    pub fn without_machines(mut self) -> Self {
        for fault in Fault::ALL.into_iter().filter(|fault| fault.is_of_machine()) {
            self.0[fault as usize] = 0;
        }
        self
    }

    /// Returns the rate of a fault.
    pub const fn of(&self, fault: Fault) -> u32 {
        self.0[fault as usize]
    }

    /// Returns the rates of faults that do not happen to messages, added up.
    pub fn chaos(&self) -> u32 {
        Fault::ALL.into_iter().filter(|fault| !fault.is_of_message()).map(|fault| self.of(fault)).sum()
    }
}
