//! Consecutive IDs.

use crate::layout::{Field, Layout};
use crate::step::{Plan, Taken};

/// What turns a position into an ID: the step's plan, and where the parts stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mint {
    pub(crate) plan: Plan,
    node: u64,
    /// Time, sequence and random.
    fields: [Field; 3],
}

impl Mint {
    pub(crate) fn new(layout: &Layout, node: u32, plan: Plan) -> Self {
        Self { plan, node: layout.put_node(node), fields: *layout.minted() }
    }

    #[inline]
    pub(crate) fn id(&self, position: u64) -> u64 {
        self.id_in_loop(position)
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "in a loop a call takes as long again, and compilers for size prefer calls"
    )]
    fn id_in_loop(&self, position: u64) -> u64 {
        let [time, sequence, random] = self.fields;
        let (tick, count) = (position >> sequence.width(), position & sequence.max());
        let id = self.node | time.put(tick) | sequence.put(count);
        if random.width() == 0 { id } else { id | random.put(self.plan.random_bits(position) & random.max()) }
    }
}

/// IDs that one step has taken, in the order of minting: an iterator of `u64`.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    mint: &'a Mint,
    position: u64,
    count: u64,
}

impl<'a> Run<'a> {
    pub(crate) const fn new(mint: &'a Mint, taken: Taken) -> Self {
        Self { mint, position: taken.first, count: taken.count }
    }

    /// Splits off the first `count` IDs, or as many as there are.
    #[must_use]
    pub fn split_first(&mut self, count: usize) -> Self {
        let first = Self { count: self.count.min(count as u64), ..self.clone() };
        self.position += first.count;
        self.count -= first.count;
        first
    }

    /// Writes the IDs to the start of `ids`, which must have room for [`Run::len`](ExactSizeIterator::len) of them.
    pub fn write(mut self, ids: &mut [u64]) {
        let mut ids = &mut ids[..self.count as usize];
        let [_, sequence, random] = self.mint.fields;
        if random.width() > 0 {
            ids.iter_mut().zip(self).for_each(|(place, id)| *place = id);
            return;
        }
        // Within a tick IDs differ by a constant, which compiles to a loop of vector additions.
        let stride = sequence.put(1.min(sequence.max()));
        while self.count > 0 {
            let in_tick = sequence.max() - (self.position & sequence.max()) + 1;
            let (now, later) = ids.split_at_mut(in_tick.min(self.count) as usize);
            let first = self.mint.id(self.position);
            for (place, i) in now.iter_mut().zip(0u64..) {
                *place = first.wrapping_add(i.wrapping_mul(stride));
            }
            self.position += now.len() as u64;
            self.count -= now.len() as u64;
            ids = later;
        }
    }
}

impl Iterator for Run<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.count = self.count.checked_sub(1)?;
        let id = self.mint.id_in_loop(self.position);
        self.position += 1;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for Run<'_> {}
