//! The number of nodes, and of the IDs that each can mint.

use super::{Layout, SEQUENCE};

impl Layout {
    /// Returns the number of nodes, 1 to 2^32.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{MASTODON, TWITTER};
    /// assert_eq!((TWITTER.nodes(), MASTODON.nodes()), (1024, 1));
    /// ```
    pub const fn nodes(&self) -> u64 {
        1 << self.node_bits
    }

    /// Returns the largest number of IDs that a node can mint in one tick, 1 to 2^63.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// assert_eq!(TWITTER.ids_per_tick(), 4096);
    /// ```
    pub const fn ids_per_tick(&self) -> u64 {
        1 << self.reserved[SEQUENCE].width()
    }

    /// Returns the largest number of IDs that a node can mint per second on average, rounded down, at most 2^64-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SONYFLAKE, TWITTER};
    /// assert_eq!((TWITTER.ids_per_second(), SONYFLAKE.ids_per_second()), (4_096_000, 25_600));
    /// ```
    pub const fn ids_per_second(&self) -> u64 {
        let (whole, rest) = (self.ids_per_tick() / self.tick, self.ids_per_tick() % self.tick);
        // With a limit that is not written as a division, because wasm would multiply 128 bits.
        let (a_second, most) =
            if self.per_ms > 1 { (1_000_000, u64::MAX / 1_000_000) } else { (1000, u64::MAX / 1000) };
        // The rest is below 2^53, or below 2^43 in microseconds.
        if whole > most { u64::MAX } else { (whole * a_second).saturating_add(rest * a_second / self.tick) }
    }
}
