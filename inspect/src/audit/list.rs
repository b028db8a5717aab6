//! The IDs of an audit, in the order in which they were written down.

use alloc::vec::Vec;

use super::analysis::Analysis;
use super::lines::Lines;
use super::report::Report;
use super::terms::{DEFAULT_JITTER_MS, Terms};
use snowmint_core::{Id, Layout};

/// Options of an audit.
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Audit, AuditOptions, Kind};
/// use snowmint_core::layouts::TWITTER;
/// let options = AuditOptions::default().since_ms(1_700_000_000_000);
/// let mut audit = Audit::at(&TWITTER, &options, 1_790_000_000_000);
/// audit.add(1_541_815_603_606_036_480);
/// assert_eq!(audit.finish().findings[0].kind, Kind::BeforeBegin);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AuditOptions {
    /// When the system began, Unix ms: earlier IDs are findings. `None`: at the layout's epoch.
    pub since_ms: Option<i64>,
    /// The time after which an ID is in the future, Unix ms. `None`: a minute from now.
    pub until_ms: Option<i64>,
    /// How late a line of the log can be, ms: smaller steps back are not findings.
    pub jitter_ms: u64,
    /// Whether the IDs have no order. Findings that need an order are left out then.
    pub unordered: bool,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { since_ms: None, until_ms: None, jitter_ms: DEFAULT_JITTER_MS, unordered: false }
    }
}

impl AuditOptions {
    /// Sets when the system began, Unix ms.
    #[must_use]
    pub const fn since_ms(mut self, since_ms: i64) -> Self {
        self.since_ms = Some(since_ms);
        self
    }

    /// Sets the time after which an ID is in the future, Unix ms.
    #[must_use]
    pub const fn until_ms(mut self, until_ms: i64) -> Self {
        self.until_ms = Some(until_ms);
        self
    }

    /// Sets how late a line of the log is at most, ms.
    #[must_use]
    pub const fn jitter_ms(mut self, jitter_ms: u64) -> Self {
        self.jitter_ms = jitter_ms;
        self
    }

    /// Sets whether the IDs are in no order.
    #[must_use]
    pub const fn unordered(mut self, unordered: bool) -> Self {
        self.unordered = unordered;
        self
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
    /// Makes an audit without IDs, by the clock of the operating system.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions, Kind};
    /// use snowmint_core::layouts::TWITTER;
    /// let mut audit = Audit::new(&TWITTER, &AuditOptions::default());
    /// audit.extend([1_541_815_603_606_036_480, 1_541_815_603_606_036_480]);
    /// let report = audit.finish();
    /// assert_eq!(report.findings[0].kind, Kind::Duplicates);
    /// ```
    #[cfg(feature = "std")]
    pub fn new(layout: &Layout, options: &AuditOptions) -> Self {
        Self::at(layout, options, snowmint_core::SystemHost::unix_ms())
    }

    /// Makes an audit without IDs. `now_ms` is the present, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions, Kind};
    /// use snowmint_core::layouts::TWITTER;
    /// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_500_000_000_000);
    /// audit.add(1_541_815_603_606_036_480);
    /// assert_eq!(audit.finish().findings[0].kind, Kind::Future);
    /// ```
    pub fn at(layout: &Layout, options: &AuditOptions, now_ms: i64) -> Self {
        let AuditOptions { since_ms, until_ms, jitter_ms, unordered } = *options;
        Self {
            terms: Terms::new(layout, since_ms, until_ms, jitter_ms, now_ms),
            unordered,
            ids: Vec::new(),
            lines: Lines::default(),
            unreadable: 0,
        }
    }

    /// Adds the ID of the next line.
    ///
    /// # Examples
    /// As for [`at`](Self::at).
    #[inline]
    pub fn add(&mut self, id: impl Into<Id>) {
        self.ids.push(id.into().get());
    }

    /// Passes over a line that has no ID: findings name lines of the input.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions};
    /// use snowmint_core::layouts::TWITTER;
    /// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
    /// audit.skip();
    /// audit.extend([1_541_815_603_606_036_480; 2]);
    /// assert_eq!(audit.finish().findings[0].line, 2);
    /// ```
    pub fn skip(&mut self) {
        self.lines.skip(self.ids.len());
    }

    /// Passes over a line that should have an ID and does not. The report counts these lines.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions};
    /// use snowmint_core::layouts::TWITTER;
    /// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
    /// audit.skip_unreadable();
    /// assert_eq!(audit.finish().unreadable, 1);
    /// ```
    pub fn skip_unreadable(&mut self) {
        self.unreadable += 1;
        self.skip();
    }

    /// Returns the number of IDs so far.
    ///
    /// # Examples
    /// As for [`line`](Self::line).
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there is no ID so far.
    ///
    /// # Examples
    /// As for [`line`](Self::line).
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the number of the next line, from 1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Audit, AuditOptions};
    /// use snowmint_core::layouts::TWITTER;
    /// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
    /// audit.skip();
    /// assert_eq!((audit.line(), audit.len(), audit.is_empty()), (2, 0, true));
    /// ```
    pub fn line(&self) -> u64 {
        self.lines.of(self.ids.len() as u64)
    }

    /// Ends the audit, and returns its report.
    ///
    /// # Examples
    /// As for [`at`](Self::at).
    pub fn finish(self) -> Report {
        Analysis::new(&self.terms, self.lines, self.ids, self.unordered).report(self.unreadable)
    }
}

impl<T: Into<Id>> Extend<T> for Audit {
    fn extend<I: IntoIterator<Item = T>>(&mut self, ids: I) {
        self.ids.extend(ids.into_iter().map(|id| id.into().get()));
    }
}
