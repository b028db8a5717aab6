//! Consecutive IDs.

use super::step::{Plan, Taken};
use crate::layout::{Field, Layout};

/// Turns positions into IDs: the plan of the step, and the places of the parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mint {
    pub(crate) plan: Plan,
    /// The bits that all IDs share: the node and fixed values.
    node: u64,
    /// The fields time, sequence and random.
    fields: [Field; 3],
}

impl Mint {
    pub(crate) fn new(layout: &Layout, node: u32, plan: Plan) -> Self {
        Self { plan, node: layout.put_node(node) | layout.fixed(), fields: *layout.minted() }
    }

    pub(crate) fn id(&self, position: u64) -> u64 {
        let [time, sequence, random] = self.fields;
        let (tick, count) = (position >> sequence.width(), position & sequence.max());
        let id = self.node | time.put(tick) | sequence.put(count);
        if random.width() == 0 { id } else { id | random.put(self.plan.random_bits(position) & random.max()) }
    }
}

/// The IDs that one step has taken, in the order of minting: an iterator of `u64`.
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

    /// Moves as many IDs as fit to the start of `ids`, and returns their number.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let mut run = generator.try_run(1_772_323_200_123, 3, 0)?;
    /// let mut ids = [0; 2];
    /// assert_eq!(run.write(&mut ids), 2);
    /// assert_eq!((run.next(), run.next()), (Some(ids[1] + 1), None));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn write(&mut self, ids: &mut [u64]) -> usize {
        let [_, sequence, random] = self.mint.fields;
        // Within a tick IDs differ by a constant, unless the layout has random bits.
        let stride = 1 << sequence.shift();
        let steady = if random.width() == 0 { sequence.max() } else { 0 };
        let count = ids.len().min(self.count as usize);
        let mut left = &mut ids[..count];
        while !left.is_empty() {
            let in_tick = steady - (self.position & steady) + 1;
            let (now, later) = left.split_at_mut(in_tick.min(left.len() as u64) as usize);
            let mut id = self.mint.id(self.position);
            self.position += now.len() as u64;
            for place in now {
                *place = id;
                id = id.wrapping_add(stride);
            }
            left = later;
        }
        self.count -= count as u64;
        count
    }
}

impl Iterator for Run<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.count = self.count.checked_sub(1)?;
        let id = self.mint.id(self.position);
        self.position += 1;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for Run<'_> {}
