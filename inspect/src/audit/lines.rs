//! The lines of a text that has IDs.

use alloc::vec::Vec;

/// The line of each ID. Some lines have no ID.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The place of an ID that follows lines without an ID, and the number of all such lines so far.
    skipped: Vec<(u64, u64)>,
}

impl Lines {
    /// Passes over a line before the ID at a place.
    pub(super) fn skip(&mut self, place: usize) {
        let place = place as u64;
        let before = self.skipped.last().map_or(0, |(_, count)| *count);
        match self.skipped.last_mut() {
            Some((last, count)) if *last == place => *count += 1,
            _ => self.skipped.push((place, before + 1)),
        }
    }

    /// Returns the line of the ID at a place, from 1.
    pub(super) fn of(&self, place: u64) -> u64 {
        let after = self.skipped.partition_point(|(skipped, _)| *skipped <= place);
        place + 1 + after.checked_sub(1).map_or(0, |at| self.skipped[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_those_without_an_id() {
        let mut lines = Lines::default();
        lines.skip(0);
        lines.skip(0);
        lines.skip(5);
        assert_eq!([0, 4, 5, 9].map(|place| lines.of(place)), [3, 7, 9, 13]);
        assert_eq!(Lines::default().of(7), 8);
    }
}
