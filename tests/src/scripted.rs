//! Generators that a test gives their clock, and numbers that look random.

use snowmint_core::{Error, Layout, Options, SequenceStart, Snowflake, Words};

/// A generator that a test gives its clock.
#[derive(Debug)]
pub struct Minter(Snowflake<Words>);

impl Minter {
    /// Makes the generator of a node.
    #[must_use]
    pub fn new(layout: &Layout, node: u32, sequence_start: SequenceStart) -> Self {
        let options = Options { sequence_start, seed: u64::from(node) + 77, ..Options::NONBLOCKING };
        Self(Snowflake::with(layout, node, options, Words::vouched()))
    }

    /// Returns a copy with the same state, as a forked child has.
    #[must_use]
    pub fn fork(&self) -> Self {
        let words = Words::of(self.0.words().to_words());
        Self(Snowflake::with(self.0.layout(), self.0.node(), *self.0.options(), words))
    }

    /// Mints an ID at this time, Unix ms.
    ///
    /// # Errors
    /// As `try_next_id`.
    pub fn try_id(&self, now_ms: i64) -> Result<u64, Error> {
        self.0.try_next_id(now_ms)
    }

    /// Mints an ID at this time, Unix ms.
    ///
    /// # Panics
    /// If `try_id` fails.
    pub fn id(&self, now_ms: i64) -> u64 {
        self.try_id(now_ms).expect("an ID")
    }
}

/// Returns a number that looks random.
#[must_use]
pub const fn scattered(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
}
