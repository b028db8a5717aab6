//! The limits and the pauses of an allocator of sections, in ms.

use core::fmt;

/// The default window of a section.
pub const WINDOW_MS: u64 = 30_000;
/// The default of the most sections that an allocator holds.
pub const MAX_SECTIONS: u64 = 10_000;
/// The pause after a claim's request without an answer.
pub const CLAIM_RETRY_MS: u64 = 100;
/// The time without requests after which a section makes room for others.
pub const ROOM_AFTER_MS: u64 = 1000;
/// How long a caller should wait for room.
pub const ROOM_RETRY_MS: u64 = 5000;

/// Returns the time without requests after which a section is given back.
///
/// # Examples
/// ```
/// assert_eq!(snowmint_core::section::idle_ms(30_000), 60_000);
/// ```
pub fn idle_ms(window_ms: u64) -> u64 {
    window_ms.saturating_mul(2).max(60_000)
}

/// Returns how long a claim goes on without callers: a window and a call, as callers may come again.
///
/// # Examples
/// ```
/// assert_eq!(snowmint_core::section::patience_ms(30_000, 1000), 31_000);
/// ```
pub const fn patience_ms(window_ms: u64, max_wait_ms: u64) -> u64 {
    window_ms.saturating_add(max_wait_ms)
}

/// Returns the pause of a claim that has to wait: shorter than the wait, as the holder may give the section back.
///
/// # Examples
/// ```
/// assert_eq!(snowmint_core::section::look_ms(20_000, 30_000), 3750);
/// ```
pub fn look_ms(wait_ms: u64, window_ms: u64) -> u64 {
    wait_ms.clamp(1, (window_ms / 8).max(50))
}

/// Returns the pause between two looks at a section that is held, for its renewal.
///
/// # Examples
/// ```
/// assert_eq!(snowmint_core::section::keep_ms(8000), 500);
/// ```
pub fn keep_ms(window_ms: u64) -> u64 {
    (window_ms / 16).clamp(20, 1000)
}

/// Returns the pause of a call whose section is not ready. `wait_ms` is the wait that its error names.
///
/// # Examples
/// ```
/// assert_eq!(snowmint_core::section::call_ms(None), 50);
/// ```
pub fn call_ms(wait_ms: Option<u64>) -> u64 {
    wait_ms.unwrap_or(50).clamp(20, 50)
}

/// Displays as the message about an allocator without room.
///
/// # Examples
/// ```
/// use snowmint_core::section::NoRoom;
/// assert!(NoRoom::Sections(5).to_string().starts_with("this allocator has 5 sections of users, all in use"));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum NoRoom {
    /// The options allow no more sections in use.
    Sections(u64),
    /// The sections in use take all memory, in bytes.
    Memory(u64),
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sections(most) => {
                write!(f, "this allocator has {most} sections of users, all in use: try again in some seconds")
            }
            Self::Memory(bytes) => write!(
                f,
                "sections of users in use take all {bytes} bytes of memory: allow more, or try again in some seconds"
            ),
        }
    }
}
