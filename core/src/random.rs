//! Bits that look random, as a pure function of a seed and a place.

/// Returns the element `place` of the stream of `SplitMix64` that starts at `seed` (Steele, Lea, Flood: "Fast
/// splittable pseudorandom number generators", 2014).
pub const fn mix(seed: u64, place: u64) -> u64 {
    let z = seed.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
