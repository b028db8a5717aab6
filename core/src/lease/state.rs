//! The state of a node, for operators.

use super::{Record, Reservation};
use crate::window::Window;

/// The state of a node, as `snowmint lease ls` and `snowmint doctor` show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeState {
    /// The window ends further ahead than any window or reservation is long: a clock was ahead when it was granted.
    FarAhead,
    /// The holder released the node.
    GivenBack,
    /// A holder has the node.
    Held,
    /// The window is over, and the holder did not renew it.
    Ended,
    /// The holder of the slot is dead, and its window is not over.
    Expiring,
    /// The slot has no holder.
    Free,
    /// The slot is new, or its file does not hold a valid record.
    NoRecord,
}

impl NodeState {
    /// Returns the state of a node in a store, at `now_ms` (Unix ms).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{NodeState, Record};
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// assert_eq!(NodeState::of_record(&record, 2000), NodeState::Held);
    /// assert_eq!(NodeState::of_record(&record, 3000), NodeState::Ended);
    /// ```
    pub const fn of_record(record: &Record, now_ms: i64) -> Self {
        match (is_far(record, now_ms, Reservation::MAX_MS), record.released, record.window.end_ms > now_ms) {
            (true, ..) => Self::FarAhead,
            (_, true, _) => Self::GivenBack,
            (_, _, true) => Self::Held,
            (_, _, false) => Self::Ended,
        }
    }

    /// Returns the state of a slot, at `now_ms` (Unix ms). `is_locked` says whether a live holder has its lock.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NodeState;
    /// assert_eq!(NodeState::of_slot(None, false, 0), NodeState::NoRecord);
    /// ```
    pub const fn of_slot(record: Option<&Record>, is_locked: bool, now_ms: i64) -> Self {
        let Some(record) = record else {
            return if is_locked { Self::Held } else { Self::NoRecord };
        };
        match (is_far(record, now_ms, Window::MAX_MS), is_locked, record.window.end_ms > now_ms) {
            (true, ..) => Self::FarAhead,
            (_, true, _) => Self::Held,
            (_, _, true) => Self::Expiring,
            (_, _, false) => Self::Free,
        }
    }

    /// Returns the words for people.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NodeState;
    /// assert_eq!(NodeState::FarAhead.name(), "far ahead");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::FarAhead => "far ahead",
            Self::GivenBack => "given back",
            Self::Held => "held",
            Self::Ended => "ended",
            Self::Expiring => "expiring",
            Self::Free => "free",
            Self::NoRecord => "no record",
        }
    }
}

const fn is_far(record: &Record, now_ms: i64, longest_ms: u64) -> bool {
    record.window.end_ms > now_ms.saturating_add_unsigned(longest_ms)
}
