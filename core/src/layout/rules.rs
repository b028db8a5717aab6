//! The rules that the fields, the epoch and the tick of a layout follow.

use super::{FIXED, Field, Layout, MAX_FIELDS, MAX_NODE_BITS, NODE, OPAQUE, RANDOM, RESERVED, Slot, TIME, UNUSED};
use crate::error::{Error, What};
use crate::forms::name::{Name, has_name_bytes};

/// Limit of epochs and ticks in ms, so that JavaScript's numbers hold them exactly.
pub(super) const MAX_SAFE_MS: u64 = (1 << 53) - 1;

impl Layout {
    /// Makes a layout of `fields` (name and bits, high to low) whose ticks of `tick_ms` count from `epoch_ms` (Unix
    /// ms).
    ///
    /// # Errors
    /// `InvalidLayout`, if the fields break a rule of the type's description, or signed 64-bit Unix ms cannot represent
    /// the last tick.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// let layout = Layout::new(&[("time", 40), ("shard", 12), ("sequence", 11)], 1_735_689_600_000, 1)?;
    /// assert_eq!(layout.ids_per_tick(), 2048);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn new(fields: &[(&str, u32)], epoch_ms: i64, tick_ms: u64) -> Result<Self, Error> {
        let mut layout = Self::EMPTY;
        let mut i = 0;
        while i < fields.len() {
            let (name, bits) = fields[i];
            if !has_name_bytes(name.as_bytes()) {
                return Err(Error::plain(What::FieldName));
            }
            if let Err(rule) = layout.add(name.as_bytes(), bits, 0) {
                return Err(Error::plain(rule));
            }
            i += 1;
        }
        match layout.finish(epoch_ms, tick_ms, 1) {
            Ok(()) => Ok(layout),
            Err(rule) => Err(Error::plain(rule)),
        }
    }

    #[doc(hidden)]
    pub const EMPTY: Self = Self {
        slots: [Slot { name: Name::EMPTY, field: Field::ABSENT, kind: 0 }; MAX_FIELDS],
        len: 0,
        bits: 0,
        node_bits: 0,
        reserved: [Field::ABSENT; OPAQUE],
        epoch_ms: 0,
        // `finish` sets them. A constant of zeros takes no space in wasm.
        tick: 0,
        per_ms: 0,
        constant: 0,
        fixed: 0,
        is_opaque: false,
    };

    /// Appends a field below the present fields. `fixed` is 0, or more by 1 than its fixed value. All bytes of its name pass
    /// `is_name_byte`.
    #[doc(hidden)]
    pub const fn add(&mut self, name: &[u8], bits: u32, fixed: u64) -> Result<(), What> {
        if self.len == MAX_FIELDS {
            return Err(What::FieldCount);
        }
        if bits == 0 || bits > 64 || self.bits + bits > 64 {
            return Err(What::FieldBits);
        }
        let slot = &mut self.slots[self.len];
        slot.name = Name::cut(name);
        if !slot.name.is_one() {
            return Err(What::FieldName);
        }
        let mut kind = 0;
        while kind < RESERVED.len() && !slot.name.is(&RESERVED[kind]) {
            kind += 1;
        }
        // As if the layout had 64 bits: `finish` knows their number and lowers all fields.
        slot.field = Field::new(64 - self.bits - bits, bits);
        if kind == OPAQUE {
            self.is_opaque = true;
            kind = RANDOM;
        }
        let mut constant = if kind == UNUSED { slot.field.max() } else { 0 };
        let mut value = 0;
        if fixed > 0 {
            value = fixed - 1;
            constant = slot.field.max();
            if kind != NODE || value > constant {
                return Err(What::FieldBits);
            }
            kind = FIXED;
        }
        // A field of 64 bits is the only one: nothing is shifted then.
        self.constant = self.constant.wrapping_shl(bits) | constant;
        self.fixed = self.fixed.wrapping_shl(bits) | value;
        slot.kind = kind;
        let mut i = 0;
        while i < self.len {
            let other = &self.slots[i];
            // Both random and opaque have the kind RANDOM.
            if other.name.is(&self.slots[self.len].name) || (kind == RANDOM && other.kind == RANDOM) {
                return Err(What::SameName);
            }
            i += 1;
        }
        if kind == UNUSED && self.len > 0 {
            return Err(What::UnusedFirst);
        }
        self.len += 1;
        self.bits += bits;
        self.node_bits += if kind == NODE { bits } else { 0 };
        Ok(())
    }

    /// Puts the fields at their places and checks the rules that need the whole layout. `tick` has `per_ms` units in a ms.
    #[doc(hidden)]
    pub const fn finish(&mut self, epoch_ms: i64, tick: u64, per_ms: u64) -> Result<(), What> {
        let mut i = 0;
        while i < self.len {
            let slot = &mut self.slots[i];
            slot.field = slot.field.lowered(64 - self.bits);
            if slot.kind < OPAQUE {
                self.reserved[slot.kind] = slot.field;
            }
            i += 1;
        }
        self.epoch_ms = epoch_ms;
        self.tick = tick;
        self.per_ms = per_ms;
        if self.reserved[TIME].width() == 0 {
            return Err(What::NoTime);
        }
        self.constant |= !(u64::MAX >> (64 - self.bits));
        if self.node_bits > MAX_NODE_BITS {
            return Err(What::NodeBits);
        }
        if self.epoch_ms.unsigned_abs() > MAX_SAFE_MS {
            return Err(What::Epoch);
        }
        if self.tick == 0 || self.tick > if per_ms > 1 { MAX_SAFE_MS / 1000 } else { MAX_SAFE_MS } {
            return Err(What::Tick);
        }
        // In units of the tick. An epoch in microseconds has 63 bits.
        if self.reserved[TIME].max() > i64::MAX.abs_diff(self.epoch_ms * self.per_ms.cast_signed()) / self.tick {
            return Err(What::TooLate);
        }
        Ok(())
    }
}
