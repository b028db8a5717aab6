//! A holder: its way from a claim to the close of its cell.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use snowmint_core::lease::{Claim, ClaimStep, Record, Renewal};
use snowmint_core::store::Ask;
use snowmint_core::{Window, Words};

use crate::digest::digest;

/// The way of a holder.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "each holder has it behind a pointer")]
pub(super) enum Phase {
    Claims(Claim<'static>, ClaimStep),
    Holds(Renewal, Option<Ask<Record>>),
    /// Its cell is closed. A call may still be stalled.
    Closed,
}

#[derive(Clone, Debug)]
pub struct Holder {
    pub(super) nonce: u128,
    pub(super) phase: Arc<Phase>,
    /// Stands for the phase in comparisons.
    digest: u64,
    pub(super) node: u32,
    pub(super) cell: [u64; 2],
    /// The word that a stalled call has read.
    pub(super) call: Option<u64>,
    /// The last ID.
    pub(super) last: Option<u64>,
    /// The window that the store has granted this holder on each node.
    pub(super) granted: [Option<Window>; 2],
}

impl Holder {
    pub(super) fn new(nonce: u128) -> Self {
        let phase = Arc::new(Phase::Closed);
        Self { nonce, phase, digest: 0, node: 0, cell: [0; 2], call: None, last: None, granted: [None; 2] }
    }

    #[allow(clippy::large_types_passed_by_value, reason = "it moves behind a pointer")]
    pub(super) fn turn(&mut self, phase: Phase) {
        self.digest = digest(&phase);
        self.phase = Arc::new(phase);
    }

    pub(super) fn words(&self) -> Words {
        Words::of(self.cell)
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(*self.phase, Phase::Holds(_, None))
    }

    fn key(&self) -> impl PartialEq + Hash {
        let granted = self.granted.map(|window| window.map(|window| (window.start_ms, window.end_ms)));
        (self.nonce, self.digest, self.node, self.cell, self.call, self.last, granted)
    }
}

impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for Holder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
