//! Scatter: reversible permutations of IDs.

use glue::{answer, buffer};
use snowmint_core::{Error, scatter};

/// A function of an ID and a count of digits or bits.
type Function = fn(u64, u32) -> Result<u64, Error>;

/// All functions, in the order of their numbers in `npm/src/scatter.ts`.
static FUNCTIONS: [Function; 5] = [
    scatter::rotate_digits,
    scatter::unrotate_digits,
    |id, _| scatter::reverse_bits(id),
    scatter::shard_high,
    scatter::unshard_high,
];

/// Applies a function to integer 0, an ID, and integer 2, a count of digits or bits. Word 0: the resulting ID.
#[unsafe(no_mangle)]
pub extern "C" fn scattered(function: u32) -> i32 {
    let buffer = buffer();
    let by = buffer.integer(2).count();
    answer(buffer.integer(0).id().and_then(|id| FUNCTIONS[function as usize](id, by)), |id| {
        buffer.words[0] = id;
        0
    })
}
