//! Another holder of a section, as a claim sees it.

use core::fmt;

use super::Users;

/// The age up to which the record of another holder counts as current, in ms.
const MAX_RECORD_AGE_MS: u64 = 100;

/// Another holder of a section, as the reads of a claim showed it. Times are of a clock that never steps, in ms.
///
/// # Examples
/// ```
/// use snowmint_core::section::Elsewhere;
/// // The claim has to wait for a window of 1000 ms.
/// let first = Elsewhere::after(None, 0, 1000);
/// assert_eq!((first.free_at_ms(), first.stays(900), first.stays(1000)), (1000, true, false));
/// // The holder has renewed.
/// let second = Elsewhere::after(Some(first), 500, 1000);
/// assert!(second.stays(1_000_000));
/// assert!(second.is_current(600) && !second.is_current(601));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The time when its record was read.
    read_ms: u64,
    /// The time when the section is free, unless its holder renews it.
    free_at_ms: u64,
    /// The holder's window, which begins again at each renewal.
    window_ms: u64,
    renewed: bool,
    /// Whether a renewal was seen, and the next one is not overdue.
    lives: bool,
}

impl Elsewhere {
    /// Adds a read at `now_ms`, after which the claim has to wait for `wait_ms`.
    pub const fn after(before: Option<Self>, now_ms: u64, wait_ms: u64) -> Self {
        let free_at_ms = now_ms.saturating_add(wait_ms);
        let (free_at_ms, window_ms, renewed) = match before {
            None => (free_at_ms, wait_ms, false),
            Some(before) if free_at_ms > before.free_at_ms => (free_at_ms, wait_ms, true),
            Some(before) => (before.free_at_ms, before.window_ms, before.renewed),
        };
        // It renews after half a window, and has another quarter for delays.
        Self { read_ms: now_ms, free_at_ms, window_ms, renewed, lives: renewed && wait_ms > window_ms / 4 }
    }

    /// Returns the time when the section is free, unless its holder renews it.
    pub const fn free_at_ms(&self) -> u64 {
        self.free_at_ms
    }

    /// Returns the time from which a renewal is overdue.
    pub const fn overdue_at_ms(&self) -> u64 {
        self.free_at_ms.saturating_sub(self.window_ms / 4)
    }

    /// Returns whether the record was read a moment ago.
    pub const fn is_current(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.read_ms) <= MAX_RECORD_AGE_MS
    }

    /// Returns whether the holder keeps the section until the deadline: it is alive, or its window ends later.
    pub const fn stays(&self, deadline_ms: u64) -> bool {
        self.lives || self.free_at_ms > deadline_ms
    }
}

/// Displays as the message about a section that another allocator holds.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_core::section::{HeldBy, SIZE, Users};
/// let users = Users::of(Integer::from(7), SIZE)?;
/// let held = HeldBy { users, holder: "node-1", is_namesake: false };
/// assert_eq!(held.to_string(), "users 0 to 99999 are served by another allocator, node-1");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HeldBy<'a> {
    /// The users of the section.
    pub users: Users,
    /// The label of the other allocator.
    pub holder: &'a str,
    /// Whether it has the label of this allocator.
    pub is_namesake: bool,
}

impl fmt::Display for HeldBy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { users, holder, is_namesake } = self;
        let (first, last) = (users.first(), users.last());
        if *is_namesake {
            write!(
                f,
                "users {first} to {last} are held by an allocator with this one's address, {holder}, such as its previous \
                 run: they are free when its window ends"
            )
        } else {
            write!(f, "users {first} to {last} are served by another allocator, {holder}")
        }
    }
}
