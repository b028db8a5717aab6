//! Scatter: rearranges IDs, so that a database that splits its tables by key ranges writes to all ranges at once.
//!
//! IDs that sort by time all go to the last range: the hot spot of `TiDB` and similar databases. Each function here
//! maps an ID to another ID, and its inverse restores the first. Both are below 2^63, so they fit a signed column. The
//! order by time is lost, and with it [`id_range`](crate::Layout::id_range) on the column.
//!
//! | function | writes go to | inverse | takes |
//! | --- | --- | --- | --- |
//! | [`rotate_digits`] | 10^`digits` ranges of each leading digit | [`unrotate_digits`] | 0 to 2^63-1 with more than `digits` digits, if the result is below 2^63 too |
//! | [`shard_high`] | 2^`bits` ranges, each in order of time | [`unshard_high`] | 0 to 2^63-1 |
//! | [`reverse_bits`] | everywhere | itself | 0 to 2^63-1 |
//!
//! [`rotate_digits`] spreads by the last digits alone. At low load the sequence of most IDs is 0, and few last digits
//! occur (5 of 10, 25 of 100): mint such IDs with [`SequenceStart::Carry`](crate::SequenceStart::Carry).

use crate::error::{Error, What};
use crate::random::mix;

/// The largest ID that can be scattered, and the largest result.
const MAX_ID: u64 = u64::MAX >> 1;

/// Moves the last `digits` decimal digits behind the first digit: with 1, `5616...7376` becomes `5` `6` `616...737`.
///
/// The first digit stays in place, so the number of digits stays the same, and no two IDs have the same result:
///
/// | ID | `digits` | result |
/// | --- | --- | --- |
/// | of n digits without leading zeros (n = 1 for 0) | 0 to n - 1 | the same n digits in another order |
/// | from 9 x 10^18 on | 1 to 18 | the same, but refused above 2^63-1 |
/// | from 2^63 on | any | refused |
///
/// # Errors
/// `InvalidId`: the ID or the result is above 2^63-1, or the ID has no more than `digits` digits.
///
/// # Examples
/// ```
/// use snowmint_core::scatter::{rotate_digits, unrotate_digits};
/// assert_eq!(rotate_digits(561_632_371_724_517_376, 1)?, 566_163_237_172_451_737);
/// assert_eq!(rotate_digits(561_632_371_724_517_376, 3)?, 537_661_632_371_724_517);
/// assert_eq!(unrotate_digits(566_163_237_172_451_737, 1)?, 561_632_371_724_517_376);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub const fn rotate_digits(id: u64, digits: u32) -> Result<u64, Error> {
    match check(id, digits) {
        Ok(len) => moved(id, len, digits),
        Err(error) => Err(error),
    }
}

/// The inverse of [`rotate_digits`]: moves the `digits` digits behind the first one to the end.
///
/// # Errors
/// `InvalidId`, if no ID gives this result with this number of digits.
///
/// # Examples
/// ```
/// use snowmint_core::scatter::{rotate_digits, unrotate_digits};
/// assert_eq!(rotate_digits(12_345, 2)?, 14_523);
/// assert_eq!(unrotate_digits(14_523, 2)?, 12_345);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub const fn unrotate_digits(id: u64, digits: u32) -> Result<u64, Error> {
    match check(id, digits) {
        // The digits after the first rotate in a circle: rotate them the rest of the circle.
        Ok(len) => moved(id, len, len - 1 - digits),
        Err(error) => Err(error),
    }
}

/// Returns the number of digits of the ID, if it is in range and `digits` of them can move.
const fn check(id: u64, digits: u32) -> Result<u32, Error> {
    let len = match id.checked_ilog10() {
        Some(log) => log + 1,
        None => 1,
    };
    if id > MAX_ID {
        Err(Error::new(What::ScatterId, 0, id, 0))
    } else if digits >= len {
        Err(Error::new(What::ScatterDigits, 0, len as u64, len as u64 - 1))
    } else {
        Ok(len)
    }
}

/// Moves the last `digits` of the `len` digits of an ID behind its first digit.
const fn moved(id: u64, len: u32, digits: u32) -> Result<u64, Error> {
    let first = 10u64.pow(len - 1);
    let split = 10u64.pow(digits);
    let (lead, rest) = (id / first * first, id % first);
    // At most 9 and 18 nines, which fit 64 bits.
    let moved = lead + rest % split * (first / split) + rest / split;
    if moved > MAX_ID { Err(Error::new(What::ScatterResult, 0, moved, 0)) } else { Ok(moved) }
}

/// Reverses the low 63 bits, so that the lowest bit becomes the highest. It is its own inverse.
///
/// Bit 63 stays 0, so that the result is positive in a signed 64-bit column.
///
/// # Errors
/// `InvalidId` above 2^63-1.
///
/// # Examples
/// ```
/// use snowmint_core::scatter::reverse_bits;
/// assert_eq!(reverse_bits(1)?, 1 << 62);
/// assert_eq!(reverse_bits(1 << 62)?, 1);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub const fn reverse_bits(id: u64) -> Result<u64, Error> {
    if id > MAX_ID { Err(Error::new(What::ScatterId, 0, id, 0)) } else { Ok(id.reverse_bits() >> 1) }
}

/// Puts one of 2^`bits` shard numbers on top, as `TiDB`'s `AUTO_RANDOM(bits)` and `SHARD_ROW_ID_BITS` do, but
/// reversibly.
///
/// ```text
/// bit   63   62 ...     bits   bits - 1 ... 0          bit   63   62 ... 63 - bits     62 - bits ... 0
///       0       rest                low           ->         0    low XOR hash(rest)        rest
/// ```
///
/// The low `bits` bits move to the top, below the sign, and the rest moves down. So IDs are in order of time within
/// each shard, and for a layout led by time, a time range is one range per shard. At low load the low bits are always
/// 0, so they are combined with as many bits of a hash of the rest: the highest bits of `SplitMix64`'s finalizer of
/// (rest + 1) x 0x9e3779b97f4a7c15. The 2^`bits` consecutive IDs of a tick that share their rest go to 2^`bits`
/// different shards.
///
/// # Errors
/// `InvalidId`: the ID is above 2^63-1, or `bits` above 63.
///
/// # Examples
/// ```
/// use snowmint_core::scatter::{shard_high, unshard_high};
/// let scattered = shard_high(1_541_815_603_606_036_480, 4)?;
/// assert_eq!(scattered & ((1 << 59) - 1), 1_541_815_603_606_036_480 >> 4);
/// assert_eq!(unshard_high(scattered, 4)?, 1_541_815_603_606_036_480);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub const fn shard_high(id: u64, bits: u32) -> Result<u64, Error> {
    if let Err(error) = check_shards(id, bits) {
        return Err(error);
    }
    let (rest, low) = (id >> bits, id & ((1 << bits) - 1));
    Ok(((low ^ shard(rest, bits)) << (63 - bits)) | rest)
}

/// The inverse of [`shard_high`].
///
/// # Errors
/// `InvalidId`: the ID is above 2^63-1, or `bits` above 63.
///
/// # Examples
/// ```
/// use snowmint_core::scatter::{shard_high, unshard_high};
/// assert_eq!(unshard_high(shard_high(12_345, 4)?, 4)?, 12_345);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub const fn unshard_high(id: u64, bits: u32) -> Result<u64, Error> {
    if let Err(error) = check_shards(id, bits) {
        return Err(error);
    }
    let (rest, high) = (id & (MAX_ID >> bits), id >> (63 - bits));
    Ok((rest << bits) | (high ^ shard(rest, bits)))
}

const fn check_shards(id: u64, bits: u32) -> Result<(), Error> {
    if id > MAX_ID {
        Err(Error::new(What::ScatterId, 0, id, 0))
    } else if bits > 63 {
        Err(Error::plain(What::ScatterBits))
    } else {
        Ok(())
    }
}

/// Returns `bits` bits of a hash of the rest of an ID. It has 63 bits, since a shift by 64 is not possible.
const fn shard(rest: u64, bits: u32) -> u64 {
    (mix(0, rest) >> 1) >> (63 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_is_a_permutation_of_all_numbers_of_four_digits() {
        for digits in 0..4 {
            let mut seen = [false; 9000];
            // Miri is some thousand times slower.
            for id in (1000..10_000).step_by(if cfg!(miri) { 97 } else { 1 }) {
                let moved = rotate_digits(id, digits).expect("four digits are more");
                assert_eq!(unrotate_digits(moved, digits), Ok(id));
                let place = &mut seen[moved as usize - 1000];
                assert!(!*place, "{moved} twice");
                *place = true;
            }
        }
    }

    #[test]
    fn presets_can_be_scattered_in_constants() {
        const SCATTERED: u64 = match rotate_digits(561_632_371_728_711_681, 1) {
            Ok(id) => id,
            Err(_) => panic!("it can be"),
        };
        assert_eq!(SCATTERED, 516_163_237_172_871_168);
    }

    #[test]
    fn at_low_load_every_shard_is_written_to() {
        // A sequence of 0 each ms, on one node.
        let mut counts = [0; 16];
        for ms in 0..1600u64 {
            counts[(shard_high((367_597_485_448 + ms) << 22, 4).expect("63 bits") >> 59) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (60..=140).contains(count)), "{counts:?}");
    }

    #[test]
    fn ids_of_one_shard_keep_the_order_of_time() {
        let mut last = [0; 8];
        for tick in 0..1000u64 {
            let scattered = shard_high(tick << 22 | 5, 3).expect("63 bits");
            let last = &mut last[(scattered >> 60) as usize];
            assert!(scattered > *last);
            *last = scattered;
        }
    }
}
