//! `snowmint audit`: reads a pile of IDs and says why there are duplicates, for command lines in every language.
//!
//! ```
//! use snowmint::audit::{Audit, AuditOptions};
//! use snowmint::core::audit::Kind;
//! use snowmint::{Snowflake, layouts::SNOWMINT};
//!
//! let generator = Snowflake::new(&SNOWMINT, 5)?;
//! let mut audit = Audit::new(&SNOWMINT, &AuditOptions::default());
//! for _ in 0..100 {
//!     audit.add(generator.next_id()?);
//! }
//! let report = audit.finish();
//! assert_eq!((report.findings().len(), report.nodes().len()), (0, 1));
//! # Ok::<(), snowmint::Error>(())
//! ```

mod analysis;
mod repeats;
mod report;
mod rows;
#[cfg(test)]
mod tests;

use snowmint_core::audit::{DEFAULT_JITTER_MS, Terms};
use snowmint_core::{Layout, SystemHost};

use self::analysis::Analysis;
pub use self::report::Report;

/// What an audit goes by, besides the layout.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions {
    /// When the system began, Unix ms: earlier IDs are findings. `None`: at the layout's epoch.
    pub since_ms: Option<i64>,
    /// The time after which an ID is in the future, Unix ms. `None`: a minute from now.
    pub until_ms: Option<i64>,
    /// How late a line of the log is at most, ms: steps back by less are no finding.
    pub jitter_ms: u64,
    /// Whether the IDs stand in no order, so that findings which need one are left out.
    pub unordered: bool,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { since_ms: None, until_ms: None, jitter_ms: DEFAULT_JITTER_MS, unordered: false }
    }
}

/// IDs to audit, in the order in which they were written down.
///
/// Each ID takes 8 bytes, and 8 more while the report is made.
#[derive(Debug)]
pub struct Audit {
    terms: Terms,
    unordered: bool,
    ids: Vec<u64>,
    lines: Lines,
    unreadable: u64,
}

impl Audit {
    /// Makes an audit without IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint::audit::{Audit, AuditOptions};
    /// use snowmint::core::audit::Kind;
    /// use snowmint::layouts::TWITTER;
    /// let mut audit = Audit::new(&TWITTER, &AuditOptions::default());
    /// audit.extend([1_541_815_603_606_036_480, 1_541_815_603_606_036_480]);
    /// let report = audit.finish();
    /// assert_eq!(report.findings()[0].kind, Kind::Duplicates);
    /// ```
    pub fn new(layout: &Layout, options: &AuditOptions) -> Self {
        let AuditOptions { since_ms, until_ms, jitter_ms, unordered } = *options;
        Self {
            terms: Terms::new(layout, since_ms, until_ms, jitter_ms, SystemHost::unix_ms()),
            unordered,
            ids: Vec::new(),
            lines: Lines::default(),
            unreadable: 0,
        }
    }

    /// Adds the ID of the next line.
    pub fn add(&mut self, id: u64) {
        self.ids.push(id);
    }

    /// Passes over a line that has no ID: findings name lines of the input.
    pub fn skip(&mut self) {
        self.lines.skip(self.ids.len());
    }

    /// Passes over a line that should have an ID and does not. The report counts these lines.
    pub fn skip_unreadable(&mut self) {
        self.unreadable += 1;
        self.skip();
    }

    /// Returns the number of IDs so far.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there is no ID so far.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the number of the next line, from 1.
    pub fn line(&self) -> u64 {
        self.lines.of(self.ids.len() as u64)
    }

    /// Ends the audit, and returns what it found.
    pub fn finish(self) -> Report {
        Analysis::new(&self.terms, self.lines, self.ids, self.unordered).report(self.unreadable)
    }
}

impl Extend<u64> for Audit {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, ids: I) {
        self.ids.extend(ids);
    }
}

/// The lines of the IDs, of which some lines have none.
#[derive(Debug, Default)]
struct Lines {
    /// The place of an ID with lines without an ID before it, and how many these are in all.
    skipped: Vec<(u64, u64)>,
}

impl Lines {
    fn skip(&mut self, place: usize) {
        let place = place as u64;
        let before = self.skipped.last().map_or(0, |(_, count)| *count);
        match self.skipped.last_mut() {
            Some((last, count)) if *last == place => *count += 1,
            _ => self.skipped.push((place, before + 1)),
        }
    }

    /// Returns the line of the ID at a place, from 1.
    fn of(&self, place: u64) -> u64 {
        let after = self.skipped.partition_point(|(skipped, _)| *skipped <= place);
        place + 1 + after.checked_sub(1).map_or(0, |at| self.skipped[at].1)
    }
}

#[cfg(test)]
mod lines {
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
