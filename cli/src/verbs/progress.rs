//! How far a long verb is: a line on the terminal.

use std::io::{IsTerminal as _, Read, Result, Write as _, stderr, stdout};
use std::time::{Duration, Instant};

use snowmint_core::shown::Grouped;

/// How often the line changes.
const REFRESH_INTERVAL: Duration = Duration::from_millis(200);

/// A line on standard error, which goes when this is dropped. It is hidden unless that is a terminal and standard output is
/// not.
pub(super) struct Progress {
    total: Option<u64>,
    unit: &'static str,
    done: u64,
    /// When the line changes next; `None` if it is hidden.
    next: Option<Instant>,
}

impl Progress {
    /// Begins at 0 of `total`, which may be unknown. A total below `many` has no line.
    pub(super) fn new(total: Option<u64>, many: u64, unit: &'static str) -> Self {
        let is_hidden = total.is_some_and(|total| total < many) || !stderr().is_terminal() || stdout().is_terminal();
        Self { total, unit, done: 0, next: (!is_hidden).then(|| Instant::now() + REFRESH_INTERVAL) }
    }

    /// Counts what was done.
    pub(super) fn add(&mut self, count: u64) {
        self.done += count;
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + REFRESH_INTERVAL);
            let total = self.total.map(|total| format!(" of {}", Grouped(total))).unwrap_or_default();
            // A terminal that is gone takes nothing.
            let _ = write!(stderr(), "\r\x1b[K{}{total} {}", Grouped(self.done), self.unit);
        }
    }

    /// Counts the bytes that are read from `input`.
    pub(super) const fn of<R>(self, input: R) -> Counted<R> {
        Counted { input, progress: self }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.next.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// Input whose bytes are counted.
pub(super) struct Counted<R> {
    input: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}
