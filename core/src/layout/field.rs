//! One run of bits inside an ID.

/// A run of bits: how far it lies above bit 0, how many bits it has (0: the layout has no such field), and the largest
/// value of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    shift: u32,
    width: u32,
    max: u64,
}

impl Field {
    pub(crate) const ABSENT: Self = Self { shift: 0, width: 0, max: 0 };

    /// `width` is 1 to 64, and together with `shift` at most 64.
    pub(crate) const fn new(shift: u32, width: u32) -> Self {
        Self { shift, width, max: u64::MAX >> (64 - width) }
    }

    /// The field of these bits, which lie side by side.
    pub(crate) const fn of_mask(mask: u64) -> Self {
        if mask == 0 { Self::ABSENT } else { Self::new(mask.trailing_zeros(), mask.count_ones()) }
    }

    /// The same field so many bits lower.
    pub(crate) const fn lowered(self, bits: u32) -> Self {
        Self { shift: self.shift - bits, ..self }
    }

    /// The number of bits, 0 to 64.
    pub const fn width(self) -> u32 {
        self.width
    }

    /// How far the lowest bit of this field lies above bit 0 of the ID.
    pub const fn shift(self) -> u32 {
        self.shift
    }

    /// The largest value that fits; 0 for an absent field.
    pub const fn max(self) -> u64 {
        self.max
    }

    /// The bits of the ID that belong to this field.
    pub const fn mask(self) -> u64 {
        self.max << self.shift
    }

    /// `value`, which must fit, at its place in an ID.
    #[inline]
    pub(crate) const fn put(self, value: u64) -> u64 {
        debug_assert!(value <= self.max);
        value << self.shift
    }

    /// The value of this field in an ID.
    #[inline]
    pub const fn take(self, id: u64) -> u64 {
        (id >> self.shift) & self.max
    }
}
