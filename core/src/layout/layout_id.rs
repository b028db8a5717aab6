//! The numbers that decide the IDs of a layout, without its names.

use super::{Field, Layout, RANDOM, SEQUENCE, TIME};

/// Identifies a layout by the numbers that decide its IDs: masks of the fields, epoch, tick and fixed values, without names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutId {
    masks: [u64; 4],
    epoch_ms: i64,
    /// The tick in ms, or with its top bit set in microseconds.
    tick: u64,
    fixed: u64,
}

impl LayoutId {
    /// Returns the numbers as words, which serve as a key elsewhere.
    pub const fn to_words(&self) -> [u64; 7] {
        let [a, b, c, d] = self.masks;
        [a, b, c, d, self.epoch_ms.cast_unsigned(), self.tick, self.fixed]
    }

    /// Hands the words to `take`, without a last 0: names that are made of them are as they were before layouts could have
    /// fixed values.
    #[doc(hidden)]
    pub fn each_word(&self, take: impl FnMut(u64)) {
        let words = self.to_words();
        let count = words.len() - usize::from(self.fixed == 0);
        words.into_iter().take(count).for_each(take);
    }

    /// Returns the identity of the layout in records: FNV-1a of [its words](Self::to_words), little-endian. Never 0.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, SNOWMINT};
    /// assert_eq!(SNOWMINT.layout_id().identity(), 0x4320_3df5_cdb0_fb07);
    /// assert_ne!(SNOWMINT.layout_id().identity(), LEAF.layout_id().identity());
    /// ```
    pub fn identity(&self) -> u64 {
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.to_words().into_iter().flat_map(u64::to_le_bytes) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        sum.max(1)
    }

    /// Reads the words.
    #[doc(hidden)]
    pub const fn from_words([a, b, c, d, epoch_ms, tick, fixed]: [u64; 7]) -> Self {
        Self { masks: [a, b, c, d], epoch_ms: epoch_ms.cast_signed(), tick, fixed }
    }

    /// Returns a layout without names from these words. It suffices for windows; another module has the full layout.
    #[doc(hidden)]
    pub const fn layout_of([time, sequence, random, node, epoch_ms, tick, _]: [u64; 7]) -> Layout {
        let mut layout = Layout::EMPTY;
        layout.reserved[TIME] = Field::of_mask(time);
        layout.reserved[SEQUENCE] = Field::of_mask(sequence);
        layout.reserved[RANDOM] = Field::of_mask(random);
        layout.node_bits = node.count_ones();
        layout.epoch_ms = epoch_ms.cast_signed();
        layout.tick = tick;
        // Only layouts that can be minted have windows.
        layout.per_ms = 1;
        layout
    }
}

impl Layout {
    /// Returns whether both layouts make the same IDs of the same parts. The names of fields may differ.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, TWITTER};
    /// // Leaf has one worker field of 10 bits where Twitter has two fields of 5 bits.
    /// assert!(LEAF != TWITTER && LEAF.same_numbers(&TWITTER));
    /// ```
    pub fn same_numbers(&self, other: &Self) -> bool {
        self.layout_id() == other.layout_id()
    }

    /// Returns the numbers that decide the IDs of this layout.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, SNOWMINT, TWITTER};
    /// assert_eq!(LEAF.layout_id(), TWITTER.layout_id());
    /// assert_ne!(LEAF.layout_id(), SNOWMINT.layout_id(), "another epoch");
    /// ```
    pub fn layout_id(&self) -> LayoutId {
        LayoutId {
            masks: [
                self.reserved[TIME].mask(),
                self.reserved[SEQUENCE].mask(),
                self.reserved[RANDOM].mask(),
                self.put_node(u32::MAX),
            ],
            epoch_ms: self.epoch_ms,
            tick: self.tick | (self.per_ms / 1000) << 63,
            fixed: self.fixed,
        }
    }
}
