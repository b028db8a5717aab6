//! The bit fields of an ID.

mod capacity;
mod columns;
mod field;
mod given;
mod grammar;
mod layout_id;
pub mod layouts;
mod node;
mod nodes;
mod parts;
mod range;
mod reader;
mod rules;
#[cfg(feature = "serde")]
mod serde;
mod ticks;

use core::fmt;

pub use self::field::Field;
pub use self::given::Part;
pub use self::layout_id::LayoutId;
pub use self::nodes::{Nodes, ShownNodes};
pub use self::parts::Parts;

use crate::error::{Error, What};
use crate::forms::name::Name;

/// The largest number of fields in a layout.
pub const MAX_FIELDS: usize = 16;
/// The largest number of bits in all node fields together.
pub const MAX_NODE_BITS: u32 = 32;

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
    /// The fields of RESERVED. A field `opaque` is stored as `random`.
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

/// The reserved names of fields.
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

impl Layout {
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
