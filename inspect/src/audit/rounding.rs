//! IDs that passed through a double, which holds 53 bits.

use super::repeats::Repeat;
use super::terms::Terms;

/// The number of rounded IDs below which all of them can be chance.
const MIN_ROUNDED_IDS: u64 = 16;
/// How much more frequent than by chance rounded IDs must be.
const CHANCE_FACTOR: u64 = 16;
/// The unit of chances: 2^-11 is the smallest power of two, and 10^-3 is near enough.
const CHANCE_UNIT: u64 = 1 << 11;

/// Counts of IDs above 2^53 that look rounded to a double.
///
/// A double above 2^53 is a multiple of a power of two, and languages print it with 17 digits and zeros after them. IDs whose
/// lowest field is 0 do not count: low sequences are often 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounding {
    ids: u64,
    binary: Count,
    decimal: Count,
    /// The IDs whose low bits are 0, also where the lowest field is.
    zeros: u64,
    /// Whether the low bits of all IDs are 0, and IDs repeat: a double makes all IDs of a tick and node equal, and so does a
    /// sequence that never counts.
    collapsed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    seen: u64,
    hits: u64,
    /// The hits that chance gives, in units of `1 / CHANCE_UNIT`.
    chance: u64,
}

impl Count {
    fn see(&mut self, is_hit: bool, chance: u64) {
        self.seen += 1;
        self.hits += u64::from(is_hit);
        self.chance += chance;
    }

    const fn is_found(&self) -> bool {
        let many = self.hits * 10 >= self.seen * 9;
        self.hits >= MIN_ROUNDED_IDS && (many || self.hits * CHANCE_UNIT >= self.chance * CHANCE_FACTOR)
    }
}

impl Rounding {
    /// Makes counts of no IDs.
    pub(super) const fn new() -> Self {
        const NONE: Count = Count { seen: 0, hits: 0, chance: 0 };
        Self { ids: 0, binary: NONE, decimal: NONE, zeros: 0, collapsed: false }
    }

    /// Counts an ID.
    #[inline]
    pub(super) fn see(&mut self, terms: &Terms, id: u64) {
        let Some((bits, power)) = lost(id) else { return };
        let Some(low) = terms.counting() else { return };
        self.ids += 1;
        self.zeros += u64::from(has_low_zeros(id, bits));
        if low & id != 0 {
            self.binary.see(has_low_zeros(id, bits), CHANCE_UNIT >> bits);
            if power > 1 {
                self.decimal.see(id.is_multiple_of(power), CHANCE_UNIT / power + 1);
            }
        }
    }

    /// Sees the IDs that repeat. `everywhere`: there are several nodes, and IDs of nearly all nodes repeat.
    ///
    /// A double turns low sequences into 0, and sequences are often 0 anyway. But of several IDs of a tick, at least
    /// one has another sequence.
    pub(super) fn see_repeats(&mut self, repeats: &[Repeat], everywhere: bool) {
        let all_zero = self.ids >= MIN_ROUNDED_IDS && (self.ids - self.zeros) * 1000 <= self.ids;
        let surplus: u64 = repeats.iter().map(|repeat| repeat.times - 1).sum();
        // Two processes with one node repeat each ID once, and only IDs of this node.
        let thrice = repeats.iter().filter(|repeat| repeat.times > 2).count() * 100 >= repeats.len();
        let apart = repeats.iter().any(|repeat| repeat.times > most_equal(repeat.id));
        self.collapsed = all_zero && surplus >= MIN_ROUNDED_IDS && (thrice || everywhere) && !apart;
    }

    /// Returns whether a sequence that never counts explains the IDs as well as a double does.
    pub(super) fn is_either(&self) -> bool {
        self.collapsed && self.binary.hits == 0 && !self.decimal.is_found()
    }

    /// Returns whether IDs look rounded far more often than by chance.
    pub(super) const fn is_found(&self) -> bool {
        self.collapsed || self.binary.is_found() || self.decimal.is_found()
    }

    /// Returns whether an ID looks rounded, in the way that was found.
    pub(super) fn has(&self, id: u64) -> bool {
        lost(id).is_some_and(|(bits, power)| {
            (self.collapsed || self.binary.is_found()) && has_low_zeros(id, bits)
                || self.decimal.is_found() && power > 1 && id.is_multiple_of(power)
        })
    }

    /// Returns whether most IDs that can be rounded are rounded. Then their sequences are not evidence.
    pub(super) fn is_general(&self) -> bool {
        let many = self.binary.hits * 2 > self.binary.seen || self.decimal.hits * 2 > self.decimal.seen;
        self.is_found() && (self.collapsed || many) && !self.is_either()
    }
}

/// Returns how many IDs of a tick, whose sequence counts from 0, a double makes equal to this one: up to the sequence in
/// the middle, above which it rounds up.
const fn most_equal(id: u64) -> u64 {
    match lost(id) {
        Some((bits, _)) => (1 << (bits - 1)) + 1,
        None => 1,
    }
}

/// Returns how many low bits a double loses of this ID, and the unit of the 17th digit; `None` up to 2^53.
#[inline]
const fn lost(id: u64) -> Option<(u32, u64)> {
    if id >> 53 == 0 {
        return None;
    }
    // A double is printed with 17 digits at most.
    let mut power = 1;
    while id / power >= 100_000_000_000_000_000 {
        power *= 10;
    }
    Some((u64::BITS - id.leading_zeros() - 53, power))
}

const fn has_low_zeros(id: u64, bits: u32) -> bool {
    id.trailing_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use snowmint_core::layouts::{SAFE53, SONYFLAKE, TWITTER};

    const ID: u64 = 1_541_815_603_606_036_480;

    fn counted(ids: impl IntoIterator<Item = u64>) -> Rounding {
        let terms = Terms::new(&TWITTER, None, None, 10, 1_790_000_000_000);
        let mut rounding = Rounding::new();
        ids.into_iter().for_each(|id| rounding.see(&terms, id));
        rounding
    }

    #[test]
    fn sequences_that_are_always_zero_are_no_rounding() {
        let slow = counted((0..10_000).map(|i| ID + (i << 22)));
        assert!(!slow.is_found());
        let slow = counted((0..10_000).map(|i| ID + (i << 22) + u64::from(i % 7 == 0)));
        assert!(!slow.is_found());
        // Their decimal digits repeat.
        let each_second = counted((0..10_000).map(|i| ID + (5 << 22) + ((i * 1000) << 22)));
        assert!(!each_second.is_found());
    }

    #[test]
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "the fault that is sought")]
    fn doubles_are_found_in_every_tenth_id() {
        let mixed = counted((0..10_000).map(|i| {
            let id = ID + (i << 18) + i % 4096;
            if i % 10 == 0 { id as f64 as u64 } else { id }
        }));
        assert!(mixed.is_found() && !mixed.is_general());
        let all = counted((0..10_000).map(|i| (ID + (i << 18) + i % 4096) as f64 as u64));
        assert!(all.is_general() && all.has(ID) && !all.has(ID + 1));
    }

    #[test]
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "the rule of doubles")]
    fn a_double_makes_no_more_ids_of_a_tick_equal() {
        for id in [ID, ID << 2, 1 << 53, 3 << 54] {
            let equal = (0..4096).take_while(|sequence| (id + sequence) as f64 as u64 == id).count() as u64;
            assert_eq!(equal, most_equal(id), "{id}");
        }
    }

    #[test]
    fn layouts_of_53_bits_lose_nothing() {
        let terms = Terms::new(&SAFE53, None, None, 10, 1_790_000_000_000);
        let mut rounding = Rounding::new();
        (0..10_000).for_each(|i| rounding.see(&terms, i << 20));
        assert!(!rounding.is_found());
        let terms = Terms::new(&SONYFLAKE, None, None, 10, 1_790_000_000_000);
        assert_eq!(terms.counting(), None, "the lowest field is the machine");
    }
}
