//! The bit fields of an ID.

pub(crate) mod field;
mod given;
mod grammar;
pub mod layouts;
mod node;
mod parts;
mod range;
mod reader;
#[cfg(feature = "serde")]
mod serde;

use core::fmt;

pub use self::field::Field;
pub use self::given::Part;
pub use self::parts::Parts;

use crate::error::{Error, What};
use crate::forms::name::{Name, has_name_bytes};

/// The largest number of fields in a layout.
pub const MAX_FIELDS: usize = 16;
/// The largest number of bits in all node fields together.
pub const MAX_NODE_BITS: u32 = 32;

/// Limit of epochs and ticks in ms, so that JavaScript's numbers hold them exactly.
const MAX_SAFE_MS: u64 = (1 << 53) - 1;

/// The bit fields of an ID from high to low, with the epoch and the length of a tick.
///
/// A layout has a text form, the same in every language:
/// `unused:1,time:41,datacenter:5,worker:5,sequence:12;epoch=1288834974657;tick=1ms`.
/// Exactly one field is `time`; `unused` (only first), `sequence`, and one of `random` and `opaque` are there at most once; every
/// other field is a node field, unless it has a fixed value (`version:5=16`). The node is all node fields concatenated,
/// high to low.
///
/// A layout with ticks below 1 ms (`tick=10us`), or with bits that only their minter understands (`opaque`), decodes and
/// encodes IDs, and no generator takes it: [`refuse_unmintable`](Self::refuse_unmintable).
///
/// | method | returns |
/// | --- | --- |
/// | [`bits`](Self::bits) | the bits of all fields, 1 to 64 |
/// | [`ends_at_ms`](Self::ends_at_ms) | the start of the last tick, Unix ms |
/// | [`signed_until_ms`](Self::signed_until_ms) | when bit 63 first becomes 1 and a signed 64-bit column turns negative |
/// | [`js_safe`](Self::js_safe) | whether every ID is a safe integer in JavaScript |
/// | [`nodes`](Self::nodes) | the number of nodes |
/// | [`ids_per_tick`](Self::ids_per_tick), [`ids_per_second`](Self::ids_per_second) | the largest number of IDs that a node can mint |
///
/// Two layouts are equal if their texts are equal. [`Layout::same_numbers`] ignores the names of fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
// In this order: after the large array, offsets would be longer numbers, which enlarge wasm.
#[repr(C)]
pub struct Layout {
    epoch_ms: i64,
    /// The length of a tick: ms, or microseconds if it is not a whole number of ms.
    tick: u64,
    /// The units of `tick` in a ms: 1 or 1000.
    per_ms: u64,
    /// The bits that are the same in every ID: above the layout, unused, and of fields with a fixed value. And these bits.
    constant: u64,
    fixed: u64,
    /// Whether the field RANDOM has the name `opaque`.
    is_opaque: bool,
    /// The fields of RESERVED, with `opaque` in the place of `random`.
    reserved: [Field; OPAQUE],
    bits: u32,
    node_bits: u32,
    len: usize,
    slots: [Slot; MAX_FIELDS],
}

/// A field under its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Slot {
    name: Name,
    field: Field,
    /// The place of the name in RESERVED; otherwise NODE or FIXED.
    kind: usize,
}

/// The names of all fields that have a meaning of their own.
const RESERVED: [Name; 5] =
    [Name::cut(b"unused"), Name::cut(b"time"), Name::cut(b"sequence"), Name::cut(b"random"), Name::cut(b"opaque")];
const UNUSED: usize = 0;
const TIME: usize = 1;
const SEQUENCE: usize = 2;
const RANDOM: usize = 3;
const OPAQUE: usize = 4;
/// The kind of a node field, and of a field with a fixed value.
const NODE: usize = RESERVED.len();
const FIXED: usize = NODE + 1;

/// The numbers of a layout that decide its IDs: masks of the fields, epoch, tick and fixed values, without names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    masks: [u64; 4],
    epoch_ms: i64,
    /// The tick in ms, or with its top bit set in microseconds.
    tick: u64,
    fixed: u64,
}

impl Numbers {
    /// Returns the numbers as words, which serve as a key elsewhere.
    pub const fn to_words(&self) -> [u64; 7] {
        let [a, b, c, d] = self.masks;
        [a, b, c, d, self.epoch_ms.cast_unsigned(), self.tick, self.fixed]
    }

    /// Hands the words to `take`, without a last 0: names that are made of them are as they were before layouts could have
    /// fixed values.
    #[doc(hidden)]
    pub fn each_word(&self, take: impl FnMut(u64)) {
        let words = self.to_words();
        let count = words.len() - usize::from(self.fixed == 0);
        words.into_iter().take(count).for_each(take);
    }

    /// Returns the identity of the layout in records: FNV-1a of [its words](Self::to_words), little-endian. Never 0.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, SNOWMINT};
    /// assert_eq!(SNOWMINT.numbers().identity(), 0x4320_3df5_cdb0_fb07);
    /// assert_ne!(SNOWMINT.numbers().identity(), LEAF.numbers().identity());
    /// ```
    pub fn identity(&self) -> u64 {
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.to_words().into_iter().flat_map(u64::to_le_bytes) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        sum.max(1)
    }

    /// Reads the words.
    #[doc(hidden)]
    pub const fn from_words([a, b, c, d, epoch_ms, tick, fixed]: [u64; 7]) -> Self {
        Self { masks: [a, b, c, d], epoch_ms: epoch_ms.cast_signed(), tick, fixed }
    }

    /// Returns a layout without names from these words. It suffices for windows; another module has the full layout.
    #[doc(hidden)]
    pub const fn layout_of([time, sequence, random, node, epoch_ms, tick, _]: [u64; 7]) -> Layout {
        let mut layout = Layout::EMPTY;
        layout.reserved[TIME] = Field::of_mask(time);
        layout.reserved[SEQUENCE] = Field::of_mask(sequence);
        layout.reserved[RANDOM] = Field::of_mask(random);
        layout.node_bits = node.count_ones();
        layout.epoch_ms = epoch_ms.cast_signed();
        layout.tick = tick;
        // Only layouts that can be minted have windows.
        layout.per_ms = 1;
        layout
    }
}

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
        // A field of 64 bits stands alone: nothing is shifted then.
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

    /// Returns the name and place of each field, high to low, including `unused`. [`fixed_value`](Self::fixed_value) says
    /// which of them have one value only.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// let fields: Vec<_> = SNOWMINT.fields().map(|(name, field)| (name.as_str(), field.width())).collect();
    /// assert_eq!(fields, [("unused", 1), ("time", 41), ("node", 10), ("sequence", 12)]);
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = (&Name, Field)> {
        self.slots[..self.len].iter().map(|slot| (&slot.name, slot.field))
    }

    /// Returns the value that a field has in every ID of this layout; `None` if it varies.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// let sentry = Layout::parse("version:5=16,time:32,region:12,sequence:4;epoch=1659916800000;tick=1s")?;
    /// let fixed: Vec<_> = sentry.fields().map(|(_, field)| sentry.fixed_value(field)).collect();
    /// assert_eq!(fixed, [Some(16), None, None, None]);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn fixed_value(&self, field: Field) -> Option<u64> {
        let varies = field.mask() & self.constant == 0 || field.mask() == self.reserved[UNUSED].mask();
        if varies { None } else { Some(field.take(self.fixed)) }
    }

    fn node_fields(&self) -> impl Iterator<Item = &Slot> {
        // Slots past the last field have kind 0, which is not a node field.
        self.slots.iter().filter(|slot| slot.kind == NODE)
    }

    /// Returns the number of bits of all fields together, 1 to 64.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SAFE53, TWITTER};
    /// assert_eq!((TWITTER.bits(), SAFE53.bits()), (64, 53));
    /// ```
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the instant of tick 0 in Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// assert_eq!(TWITTER.epoch_ms(), 1_288_834_974_657); // 2010-11-04T01:42:54.657Z
    /// ```
    pub const fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }

    /// Returns the length of a tick in ms, rounded down: 0 for ticks below 1 ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SONYFLAKE, TWITTER};
    /// assert_eq!((TWITTER.tick_ms(), SONYFLAKE.tick_ms()), (1, 10));
    /// ```
    pub const fn tick_ms(&self) -> u64 {
        if self.per_ms > 1 { self.tick / 1000 } else { self.tick }
    }

    /// Returns the length of a tick in microseconds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Layout, layouts::TWITTER};
    /// assert_eq!(TWITTER.tick_us(), 1000);
    /// let cockroach = Layout::parse("unused:1,time:48,node:15;epoch=1420070400000;tick=10us")?;
    /// assert_eq!((cockroach.tick_us(), cockroach.tick_ms()), (10, 0));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn tick_us(&self) -> u64 {
        if self.per_ms > 1 { self.tick } else { self.tick * 1000 }
    }

    /// Refuses a layout of which no generator can be made: it has `opaque` bits, or its ticks are not whole ms.
    ///
    /// # Errors
    /// `InvalidLayout`, with the reason.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Layout, layouts::SNOWMINT};
    /// assert_eq!(SNOWMINT.refuse_unmintable(), Ok(()));
    /// let linkedin = Layout::parse("time:42,opaque:22;epoch=0")?;
    /// assert_eq!(linkedin.refuse_unmintable().unwrap_err().kind(), ErrorKind::InvalidLayout);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn refuse_unmintable(&self) -> Result<(), Error> {
        if self.is_mintable() { Ok(()) } else { Err(Error::plain(What::Unmintable)) }
    }

    /// Returns whether a generator can mint in this layout; see [`refuse_unmintable`](Self::refuse_unmintable).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Layout, layouts::SNOWMINT};
    /// assert!(SNOWMINT.is_mintable());
    /// assert!(!Layout::parse("time:42,opaque:22;epoch=0")?.is_mintable());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn is_mintable(&self) -> bool {
        !self.is_opaque && self.per_ms == 1
    }

    /// Returns whether ticks are not whole ms.
    #[doc(hidden)]
    pub const fn has_fine_ticks(&self) -> bool {
        self.per_ms > 1
    }

    /// Returns the start of the last tick that fits the time field, in Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// assert_eq!(SNOWMINT.ends_at_ms(), 3_934_712_855_551); // 2094-09-07T15:47:35.551Z
    /// ```
    pub const fn ends_at_ms(&self) -> i64 {
        self.tick_start_ms(self.reserved[TIME].max())
    }

    /// Returns the start of the first tick at which bit 63 of an ID can be 1, in Unix ms; `None` if bit 63 is always 0.
    ///
    /// An ID with bit 63 is negative in a signed 64-bit column.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{INSTAGRAM, SNOWMINT};
    /// assert_eq!(SNOWMINT.signed_until_ms(), None);
    /// assert_eq!(INSTAGRAM.signed_until_ms(), Some(2_413_731_649_497)); // in 2046
    /// ```
    pub const fn signed_until_ms(&self) -> Option<i64> {
        if self.constant >> 63 == 1 {
            return if self.fixed >> 63 == 1 { Some(self.epoch_ms) } else { None };
        }
        let time_leads = self.reserved[TIME].mask() >> 63 == 1;
        Some(if time_leads { self.tick_start_ms(1 << (self.reserved[TIME].width() - 1)) } else { self.epoch_ms })
    }

    /// Returns whether every ID fits the 53 bits that a JavaScript number holds exactly.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SAFE53, TWITTER};
    /// assert!(SAFE53.js_safe() && !TWITTER.js_safe());
    /// ```
    pub const fn js_safe(&self) -> bool {
        self.bits - self.reserved[UNUSED].width() <= 53
    }

    /// Returns the number of nodes, 1 to 2^32.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{MASTODON, TWITTER};
    /// assert_eq!((TWITTER.nodes(), MASTODON.nodes()), (1024, 1));
    /// ```
    pub const fn nodes(&self) -> u64 {
        1 << self.node_bits
    }

    /// Returns the largest number of IDs that a node can mint in one tick, 1 to 2^63.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// assert_eq!(TWITTER.ids_per_tick(), 4096);
    /// ```
    pub const fn ids_per_tick(&self) -> u64 {
        1 << self.reserved[SEQUENCE].width()
    }

    /// Returns the largest number of IDs that a node can mint per second on average, rounded down, at most 2^64-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{SONYFLAKE, TWITTER};
    /// assert_eq!((TWITTER.ids_per_second(), SONYFLAKE.ids_per_second()), (4_096_000, 25_600));
    /// ```
    pub const fn ids_per_second(&self) -> u64 {
        let (whole, rest) = (self.ids_per_tick() / self.tick, self.ids_per_tick() % self.tick);
        // With a limit that is not written as a division, because wasm would multiply 128 bits.
        let (a_second, most) =
            if self.per_ms > 1 { (1_000_000, u64::MAX / 1_000_000) } else { (1000, u64::MAX / 1000) };
        // The rest is below 2^53, or below 2^43 in microseconds.
        if whole > most { u64::MAX } else { (whole * a_second).saturating_add(rest * a_second / self.tick) }
    }

    /// Returns whether both layouts make the same IDs of the same parts. The names of fields may differ.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, TWITTER};
    /// // Leaf has one worker field of 10 bits where Twitter has two fields of 5 bits.
    /// assert!(LEAF != TWITTER && LEAF.same_numbers(&TWITTER));
    /// ```
    pub fn same_numbers(&self, other: &Self) -> bool {
        self.numbers() == other.numbers()
    }

    /// Returns the numbers that decide the IDs of this layout.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, SNOWMINT, TWITTER};
    /// assert_eq!(LEAF.numbers(), TWITTER.numbers());
    /// assert_ne!(LEAF.numbers(), SNOWMINT.numbers(), "another epoch");
    /// ```
    pub fn numbers(&self) -> Numbers {
        Numbers {
            masks: [
                self.reserved[TIME].mask(),
                self.reserved[SEQUENCE].mask(),
                self.reserved[RANDOM].mask(),
                self.put_node(u32::MAX),
            ],
            epoch_ms: self.epoch_ms,
            tick: self.tick | (self.per_ms / 1000) << 63,
            fixed: self.fixed,
        }
    }

    /// Refuses an instant (Unix ms) past the last tick, so that no generator is made for a layout that has ended.
    ///
    /// # Errors
    /// `TimeOverflow` past the last tick; as [`refuse_unmintable`](Self::refuse_unmintable).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, layouts::BAIDU};
    /// // Its last tick was on 2024-11-20.
    /// let error = BAIDU.refuse_if_over(1_735_689_600_000).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::TimeOverflow);
    /// assert_eq!(BAIDU.refuse_if_over(0), Ok(()), "the epoch does not matter");
    /// ```
    pub fn refuse_if_over(&self, now_ms: i64) -> Result<(), Error> {
        if !self.is_mintable() {
            return Err(Error::plain(What::Unmintable));
        }
        if now_ms > self.epoch_ms && self.tick_at(now_ms).is_none() { Err(self.no_tick(now_ms)) } else { Ok(()) }
    }

    /// Refuses signed 64-bit integers for IDs of times up to `last_ms` (Unix ms), if one of the IDs could be negative there.
    ///
    /// # Errors
    /// `InvalidId`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::layouts::{INSTAGRAM, SNOWMINT};
    /// let until_ms = INSTAGRAM.signed_until_ms().expect("64 bits");
    /// assert_eq!(INSTAGRAM.refuse_negative(until_ms - 1), Ok(()));
    /// assert_eq!(INSTAGRAM.refuse_negative(until_ms).unwrap_err().kind(), ErrorKind::InvalidId);
    /// assert_eq!(SNOWMINT.refuse_negative(i64::MAX), Ok(()));
    /// ```
    pub const fn refuse_negative(&self, last_ms: i64) -> Result<(), Error> {
        match self.signed_until_ms() {
            Some(until_ms) if last_ms >= until_ms => Err(Error::new(What::Negative, 0, until_ms.cast_unsigned(), 0)),
            _ => Ok(()),
        }
    }

    /// Refuses an instant (Unix ms) without a tick.
    ///
    /// # Errors
    /// `BeforeEpoch` before the epoch, `TimeOverflow` past the last tick.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, layouts::TWITTER};
    /// assert_eq!(TWITTER.refuse_outside(TWITTER.epoch_ms()), Ok(()));
    /// assert_eq!(TWITTER.refuse_outside(0).unwrap_err().kind(), ErrorKind::BeforeEpoch);
    /// ```
    pub fn refuse_outside(&self, now_ms: i64) -> Result<(), Error> {
        if self.tick_at(now_ms).is_none() { Err(self.no_tick(now_ms)) } else { Ok(()) }
    }

    /// Returns the tick of an instant; `None` if the layout has no such tick. No layout has a tick at `i64::MAX`: hosts
    /// pass it for every later time.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "out of line, the result would go through memory")]
    pub(crate) const fn tick_at(&self, unix_ms: i64) -> Option<u64> {
        self.tick_at_us(unix_ms, 0)
    }

    /// Works as `tick_at`, for an instant that lies `extra_us` microseconds, 0 to 999, after `unix_ms`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "out of line, the result would go through memory")]
    pub(crate) const fn tick_at_us(&self, unix_ms: i64, extra_us: u32) -> Option<u64> {
        let tick = self.tick_or_max(unix_ms, extra_us);
        if tick == u64::MAX { None } else { Some(tick) }
    }

    /// Returns the tick, or `u64::MAX` instead of `None`. No tick has that number, since the last tick fits an `i64`.
    #[inline(never)]
    const fn tick_or_max(&self, unix_ms: i64, extra_us: u32) -> u64 {
        let mut since = unix_ms.abs_diff(self.epoch_ms);
        if self.per_ms > 1 {
            // The last tick in microseconds fits an `i64` too. No saturating multiplication, as above.
            since = if since > u64::MAX / 1001 { u64::MAX } else { since * 1000 + extra_us as u64 };
        }
        let tick = since / self.tick;
        if unix_ms < self.epoch_ms || unix_ms == i64::MAX || tick > self.reserved[TIME].max() { u64::MAX } else { tick }
    }

    /// Returns why an instant has no tick.
    pub(crate) const fn no_tick(&self, unix_ms: i64) -> Error {
        if unix_ms < self.epoch_ms {
            Error::before_epoch(unix_ms, self.epoch_ms)
        } else {
            Error::time_overflow(unix_ms, self.ends_at_ms())
        }
    }

    /// Returns the first instant of a tick that fits the time field, rounded down to a ms. `finish` has checked that it
    /// fits an `i64`.
    #[doc(hidden)]
    pub const fn tick_start_ms(&self, tick: u64) -> i64 {
        let units = tick.wrapping_mul(self.tick);
        self.epoch_ms.wrapping_add_unsigned(if self.per_ms > 1 { units / 1000 } else { units })
    }

    /// Returns the microseconds between `tick_start_ms` and the first instant of the tick, 0 to 999.
    pub(crate) const fn tick_start_us(&self, tick: u64) -> u32 {
        if self.per_ms > 1 { (tick.wrapping_mul(self.tick) % 1000) as u32 } else { 0 }
    }

    /// Returns the values of fields that have a fixed one, at their places in an ID.
    #[doc(hidden)]
    pub const fn fixed(&self) -> u64 {
        self.fixed
    }

    /// Returns the bits that are the same in every ID.
    #[doc(hidden)]
    pub const fn constant(&self) -> u64 {
        self.constant
    }

    #[doc(hidden)]
    pub const fn unused(&self) -> Field {
        self.reserved[UNUSED]
    }

    #[doc(hidden)]
    pub const fn time(&self) -> Field {
        self.reserved[TIME]
    }

    #[doc(hidden)]
    pub const fn sequence(&self) -> Field {
        self.reserved[SEQUENCE]
    }

    #[doc(hidden)]
    pub const fn random(&self) -> Field {
        self.reserved[RANDOM]
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self})")
    }
}
