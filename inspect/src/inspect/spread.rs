//! How the values of an ID's bits are spread: the less probable a value, the more bits its explanation costs.

/// Costs are quarters of a bit: an explanation that is 1 bit cheaper is twice as probable.
pub(super) const BIT: u32 = 4;

/// Some bits of an ID.
#[derive(Debug)]
pub(super) struct Bits {
    shift: u32,
    width: u32,
    values: Values,
}

/// How the values of the bits are spread.
#[derive(Debug)]
enum Values {
    /// All are equally probable, as of random bits or of a number that a machine is given.
    Even,
    /// A counter that starts again at 0: half of its values are 0.
    Counter,
    /// A number that is assigned from 0 on.
    Number,
    /// Ranges, each with its first and last value and their cost in bits; then the cost of all other values.
    Ranges(&'static [(u16, u16, u8)], u32),
}

impl Bits {
    pub(super) const fn even(shift: u32, width: u32) -> Self {
        Self { shift, width, values: Values::Even }
    }

    pub(super) const fn counter(shift: u32, width: u32) -> Self {
        Self { shift, width, values: Values::Counter }
    }

    pub(super) const fn number(shift: u32, width: u32) -> Self {
        Self { shift, width, values: Values::Number }
    }

    pub(super) const fn ranges(shift: u32, width: u32, ranges: &'static [(u16, u16, u8)], other: u32) -> Self {
        Self { shift, width, values: Values::Ranges(ranges, other) }
    }

    #[cfg(test)]
    pub(super) const fn mask(&self) -> u64 {
        ((1 << self.width) - 1) << self.shift
    }

    /// Returns the cost of the value of these bits in an ID.
    pub(super) fn cost(&self, id: u64) -> u32 {
        let value = (id >> self.shift) & ((1 << self.width) - 1);
        let bits = u64::BITS - value.leading_zeros();
        let cost = match self.values {
            Values::Even => self.width,
            Values::Counter if bits == 0 => 1,
            Values::Counter => bits + bits / 2 + 2,
            Values::Number if bits == 0 => 2,
            Values::Number => (bits + 3).min(self.width + 1),
            Values::Ranges(ranges, other) => {
                let has_value =
                    |(first, last, _): &&(u16, u16, u8)| (u64::from(*first)..=u64::from(*last)).contains(&value);
                ranges.iter().find(has_value).map_or(other, |(.., cost)| u32::from(*cost))
            }
        };
        cost * BIT
    }
}

/// Returns the logarithm of a number above 0 in quarters of a bit, on straight lines between powers of two.
pub(super) const fn log2(number: u64) -> u32 {
    let bits = number.ilog2();
    // The two bits below the highest one.
    let below = if bits < 2 { number << (2 - bits) } else { number >> (bits - 2) } & 3;
    BIT * bits + below as u32
}
