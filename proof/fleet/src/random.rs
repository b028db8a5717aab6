//! Random numbers by a seed. They are written out here, so that a seed gives the same fleet for good.

/// A stream of random numbers: `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins the stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number of 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`, or 0 if the limit is 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.next() % limit }
    }

    /// Returns true once in `1000 / thousandths` calls.
    pub const fn happens(&mut self, thousandths: u32) -> bool {
        self.below(1000) < thousandths as u64
    }

    /// Picks an element. `choices` is not empty.
    #[allow(clippy::cast_possible_truncation, reason = "below the length of the slice")]
    pub const fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}
