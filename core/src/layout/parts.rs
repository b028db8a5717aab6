//! Decoding an ID into its parts, and encoding parts as an ID.

use super::{Layout, Part, UNUSED};
use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::id::Id;
use crate::int::Integer;

/// The parts of an ID under a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parts {
    /// The first instant of the ID's tick, Unix ms, rounded down.
    pub timestamp_ms: i64,
    /// The microseconds from `timestamp_ms` to the first instant of the tick, 0 to 999; 0 if ticks are whole ms.
    pub extra_us: u16,
    /// The value of the time field: ticks since the epoch.
    pub tick: u64,
    /// All node fields, concatenated high to low.
    pub node: u32,
    /// The counter within the tick; 0 if the layout has none.
    pub sequence: u64,
    /// The bits of the field `random` or `opaque`; 0 if the layout has neither.
    pub random: u64,
}

impl Parts {
    /// Returns the first instant of the ID's tick in Unix microseconds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// let bluesky = Layout::parse("unused:1,time:53,clock:10;epoch=0;tick=1us")?;
    /// let parts = bluesky.decode(1_773_100_373_128_903_691)?;
    /// assert_eq!((parts.timestamp_us(), parts.timestamp_ms), (1_731_543_333_133_695, 1_731_543_333_133));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn timestamp_us(&self) -> i128 {
        i128::from(self.timestamp_ms) * 1000 + i128::from(self.extra_us)
    }
}

impl From<&Parts> for [Part; 4] {
    fn from(parts: &Parts) -> Self {
        [
            Part::Us(parts.timestamp_ms, parts.extra_us.into()),
            Part::Node(Ok(parts.node)),
            Part::Sequence(parts.sequence.into()),
            Part::Random(parts.random.into()),
        ]
    }
}

#[cfg(feature = "std")]
impl Parts {
    /// Returns the first instant of the ID's tick.
    ///
    /// # Errors
    /// As [`system_time`](crate::time::system_time).
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use snowmint_core::layouts::TWITTER;
    /// let parts = TWITTER.decode(1_541_815_603_606_036_480)?;
    /// assert_eq!(parts.timestamp()?, SystemTime::UNIX_EPOCH + Duration::from_millis(1_656_432_460_105));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn timestamp(&self) -> Result<std::time::SystemTime, Error> {
        let time = crate::time::system_time(self.timestamp_ms)?;
        time.checked_add(core::time::Duration::from_micros(self.extra_us.into())).ok_or(Error::far_time())
    }
}

impl Id {
    /// Returns the time, the node and the other parts, by the layout in which it was minted: [`Layout::decode`].
    ///
    /// # Errors
    /// `InvalidId`, if the layout cannot have minted the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Id, layouts::TWITTER};
    /// let id: Id = "1541815603606036480".parse()?;
    /// assert_eq!(id.parts(&TWITTER)?.timestamp_ms, 1_656_432_460_105);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn parts(self, layout: &Layout) -> Result<Parts, Error> {
        layout.decode(self)
    }
}

impl Layout {
    /// Decodes an ID into its parts. For an ID from a signed column pass `id as u64`.
    ///
    /// # Errors
    /// `InvalidId`, if the layout cannot have minted the ID: bits above the layout, or unused bits, are set, or a field has
    /// another value than its fixed one.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let parts = TWITTER.decode(1_541_815_603_606_036_480)?;
    /// assert_eq!((parts.timestamp_ms, parts.node, parts.sequence), (1_656_432_460_105, 378, 0));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[inline]
    pub fn decode(&self, id: impl Into<Id>) -> Result<Parts, Error> {
        self.decode_bits(id.into().get())
    }

    fn decode_bits(&self, id: u64) -> Result<Parts, Error> {
        if id & self.constant != self.fixed {
            return Err(Error::new(What::NotMinted, 0, id, 0));
        }
        let tick = self.time().take(id);
        Ok(Parts {
            timestamp_ms: self.tick_start_ms(tick),
            extra_us: self.tick_start_us(tick) as u16,
            tick,
            node: self.take_node(id),
            sequence: self.sequence().take(id),
            random: self.random().take(id),
        })
    }

    /// Returns each field of an ID with its value, high to low, without `unused`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let values = TWITTER.field_values(1_541_815_603_606_036_480);
    /// let node: Vec<_> = values.map(|(name, value)| (name.as_str(), value)).skip(1).take(2).collect();
    /// assert_eq!(node, [("datacenter", 11), ("worker", 26)]);
    /// ```
    pub fn field_values(&self, id: impl Into<Id>) -> impl Iterator<Item = (&Name, u64)> {
        let id = id.into().get();
        self.slots.iter().filter(|slot| slot.kind != UNUSED).map(move |slot| (&slot.name, slot.field.take(id)))
    }

    /// Encodes parts as an ID: the inverse of [`Layout::decode`].
    ///
    /// The time is `timestamp_ms` and `extra_us`, rounded down to its tick; `tick` is ignored. A generator can mint the same
    /// ID: `encode` reserves nothing.
    ///
    /// # Errors
    /// `BeforeEpoch` or `TimeOverflow`, if the instant has no tick; `InvalidNode`, if the node does not fit;
    /// `InvalidId`, if `sequence` or `random` does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Parts, layouts::TWITTER};
    /// let parts = Parts { timestamp_ms: 1_656_432_460_105, node: 378, ..Parts::default() };
    /// assert_eq!(TWITTER.encode(&parts)?, 1_541_815_603_606_036_480);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn encode(&self, parts: &Parts) -> Result<u64, Error> {
        self.encode_parts(<[Part; 4]>::from(parts))
    }

    /// Works as [`Layout::encode`], with integers of any size.
    ///
    /// # Errors
    /// As [`Layout::encode`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// let id = TWITTER.encode_at(1_656_432_460_105, 378.into(), 0.into(), 0.into())?;
    /// assert_eq!(id, 1_541_815_603_606_036_480);
    /// assert!(TWITTER.encode_at(1_656_432_460_105, 1024.into(), 0.into(), 0.into()).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn encode_at(
        &self,
        timestamp_ms: i64,
        node: Integer,
        sequence: Integer,
        random: Integer,
    ) -> Result<u64, Error> {
        let (node, sequence, random) = (Part::Node(self.node(node)), Part::Sequence(sequence), Part::Random(random));
        self.encode_parts([Part::Ms(timestamp_ms), node, sequence, random])
    }
}
