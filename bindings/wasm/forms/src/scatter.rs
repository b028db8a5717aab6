//! Scatter: IDs moved about and back.

use glue::{answer, buffer};
use snowmint_core::{Error, scatter};

/// By what: a count of digits or bits.
type Function = fn(u64, u32) -> Result<u64, Error>;

/// In the order that `npm/src/scatter.ts` numbers them.
static FUNCTIONS: [Function; 5] = [
    scatter::rotate_digits,
    scatter::unrotate_digits,
    |id, _| scatter::reverse_bits(id),
    scatter::shard_high,
    scatter::unshard_high,
];

/// Word 0: what a function makes of integer 0, the ID, by integer 2, a count of digits or bits.
#[unsafe(no_mangle)]
pub extern "C" fn scattered(function: u32) -> i32 {
    let buffer = buffer();
    let by = buffer.integer(2).count();
    answer(buffer.integer(0).id().and_then(|id| FUNCTIONS[function as usize](id, by)), |id| {
        buffer.words[0] = id;
        0
    })
}
