//! The terms of a lease.

use crate::layout::{Layout, Nodes};
use crate::store::bytes::LABEL_BYTES;

/// The terms of a lease: the caller's options, resolved against defaults and environment, and the identity of the claimer.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The layout of the IDs.
    pub layout: &'a Layout,
    /// The nodes that the claim may take.
    pub nodes: Nodes,
    /// How far IDs may run ahead of the clock, in ms.
    pub max_ahead_ms: u64,
    /// The length of a window, in ms; see [`Window::length_ms`](crate::Window::length_ms).
    pub window_ms: u64,
    /// The node that this claimer held before. It is preferred.
    pub last_node: Option<u32>,
    /// Whether the claimer reads its system's clock. If so, the store's clock checks it.
    pub system_clock: bool,
    /// The random identity of the claimer, new for each claim.
    pub nonce: u128,
    /// The [label](crate::bytes::label) of the claimer.
    pub label: [u8; LABEL_BYTES],
}

impl Terms<'_> {
    /// Returns how far past the clock a window ends, in ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Nodes;
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::Terms;
    /// let terms = Terms {
    ///     layout: &SNOWMINT,
    ///     nodes: Nodes::ALL,
    ///     max_ahead_ms: 500,
    ///     window_ms: 3000,
    ///     last_node: None,
    ///     system_clock: false,
    ///     nonce: 0x5eed,
    ///     label: label("host 7"),
    /// };
    /// assert_eq!(terms.reach_ms(), 3500);
    /// ```
    pub const fn reach_ms(&self) -> u64 {
        self.max_ahead_ms.saturating_add(self.window_ms)
    }
}
