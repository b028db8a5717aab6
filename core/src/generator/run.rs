//! Consecutive IDs.

use super::step::{Plan, Taken};
use crate::id::Id;

/// The IDs that one step has taken, in the order of minting: an iterator of `u64`.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    plan: &'a Plan,
    position: u64,
    count: u64,
}

impl<'a> Run<'a> {
    pub(crate) const fn new(plan: &'a Plan, taken: Taken) -> Self {
        Self { plan, position: taken.first, count: taken.count }
    }

    /// Moves as many IDs as fit to the start of `ids`, each as an [`Id`] or a `u64`, and returns their number.
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
    pub fn write<T: From<Id>>(&mut self, ids: &mut [T]) -> usize {
        let Plan { sequence, random, .. } = *self.plan;
        // Within a tick IDs differ by a constant, unless the layout has random bits.
        let stride = 1 << sequence.shift();
        let steady = if random.width() == 0 { sequence.max() } else { 0 };
        let count = ids.len().min(self.count as usize);
        let mut left = &mut ids[..count];
        while !left.is_empty() {
            let in_tick = steady - (self.position & steady) + 1;
            let (now, later) = left.split_at_mut(in_tick.min(left.len() as u64) as usize);
            let mut id = self.plan.id(self.position);
            self.position += now.len() as u64;
            for place in now {
                *place = Id::new(id).into();
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
        let id = self.plan.id(self.position);
        self.position += 1;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for Run<'_> {}
