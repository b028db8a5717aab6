//! One run of bits inside an ID.

/// A run of bits: its distance from bit 0, its number of bits (0 if the layout has no such field), and its largest
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    shift: u32,
    width: u32,
    max: u64,
}

impl Field {
    pub(crate) const ABSENT: Self = Self { shift: 0, width: 0, max: 0 };

    /// Makes a field. `width` is 1 to 64, and `shift` plus `width` at most 64.
    pub(crate) const fn new(shift: u32, width: u32) -> Self {
        Self { shift, width, max: u64::MAX >> (64 - width) }
    }

    /// Returns the field of these bits, which lie side by side.
    #[doc(hidden)]
    pub const fn of_mask(mask: u64) -> Self {
        if mask == 0 { Self::ABSENT } else { Self::new(mask.trailing_zeros(), mask.count_ones()) }
    }

    /// Returns the same field, lower by this number of bits.
    pub(crate) const fn lowered(self, bits: u32) -> Self {
        Self { shift: self.shift - bits, ..self }
    }

    /// Returns the number of bits, 0 to 64.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let (name, worker) = TWITTER.fields().nth(3).expect("a layout of five fields");
    /// assert_eq!((name.as_str(), worker.width()), ("worker", 5));
    /// ```
    pub const fn width(self) -> u32 {
        self.width
    }

    /// Returns the place of the lowest bit of this field, counted from bit 0 of the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let (name, worker) = TWITTER.fields().nth(3).expect("a layout of five fields");
    /// assert_eq!((name.as_str(), worker.shift()), ("worker", 12));
    /// ```
    pub const fn shift(self) -> u32 {
        self.shift
    }

    /// Returns the largest value that fits; 0 for an absent field.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let (_, worker) = TWITTER.fields().nth(3).expect("a layout of five fields");
    /// assert_eq!(worker.max(), 31);
    /// ```
    pub const fn max(self) -> u64 {
        self.max
    }

    /// Returns the bits of the ID that belong to this field.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let (_, worker) = TWITTER.fields().nth(3).expect("a layout of five fields");
    /// assert_eq!(worker.mask(), 0x1f << worker.shift());
    /// ```
    pub const fn mask(self) -> u64 {
        self.max << self.shift
    }

    /// Returns `value`, which must fit, at its place in an ID.
    #[inline]
    pub(crate) const fn put(self, value: u64) -> u64 {
        debug_assert!(value <= self.max);
        value << self.shift
    }

    /// Returns the value of this field in an ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let (_, worker) = TWITTER.fields().nth(3).expect("a layout of five fields");
    /// assert_eq!(worker.take(1_541_815_603_606_036_480), 26);
    /// ```
    #[inline]
    pub const fn take(self, id: u64) -> u64 {
        (id >> self.shift) & self.max
    }
}
