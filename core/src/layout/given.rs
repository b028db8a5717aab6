//! The parts of an ID as a caller gives them: each part missing, given once, or given more than once.

use super::Layout;
use crate::error::{Error, What};
use crate::int::Integer;

/// A part of an ID that a caller gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The value of the time field.
    Tick(Integer),
    /// The instant: Unix ms, and the microseconds after it, 0 to 999.
    Us(i64, u32),
    /// The instant, Unix ms.
    Ms(i64),
    /// The node, or the reason why the caller's value is not a node of the layout.
    Node(Result<u32, Error>),
    /// The counter within the tick.
    Sequence(Integer),
    /// The random bits, or the bits of the field `opaque`.
    Random(Integer),
}

impl Part {
    /// Returns the part of an instant in Unix microseconds, where the ends of the range mean all times beyond them: no
    /// layout has such a time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Part;
    /// assert_eq!(Part::unix_us(-1), Part::Us(-1, 999));
    /// assert_eq!(Part::unix_us(i64::MAX), Part::Us(i64::MAX, 0));
    /// ```
    pub const fn unix_us(us: i64) -> Self {
        match us {
            i64::MIN | i64::MAX => Self::Us(us, 0),
            _ => Self::Us(us.div_euclid(1000), us.rem_euclid(1000) as u32),
        }
    }

    const LAST_TIME: u32 = 2;
    const LAST: u32 = 5;

    /// Returns the place of the variant.
    const fn kind(self) -> u32 {
        match self {
            Self::Tick(_) => 0,
            Self::Us(..) => 1,
            Self::Ms(_) => 2,
            Self::Node(_) => 3,
            Self::Sequence(_) => 4,
            Self::Random(_) => 5,
        }
    }
}

impl Layout {
    /// Encodes the parts that a caller gives, in any order, as an ID. A missing part is 0, but a time is needed.
    ///
    /// A part may be given more than once, such as the time in ms, in microseconds and as a tick, if all of its values name the
    /// same part of an ID. Nothing is chosen among different values.
    ///
    /// # Errors
    /// As [`Layout::encode`]; `InvalidId` also without a time, and if a part is given twice with different values. The
    /// checks follow the order of the variants of [`Part`], not the order of the parts.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Part, layouts::TWITTER};
    /// let (time, node) = (Part::Ms(1_656_432_460_105), Part::Node(Ok(378)));
    /// assert_eq!(TWITTER.encode_parts([time, node])?, 1_541_815_603_606_036_480);
    /// assert!(TWITTER.encode_parts([time, Part::Us(1_656_432_460_105, 999), node, node]).is_ok());
    /// let error = TWITTER.encode_parts([time, node, Part::Node(Ok(5))]).unwrap_err();
    /// assert_eq!(error.to_string(), "a part is given twice, with different values: pass it once");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn encode_parts(&self, parts: impl IntoIterator<Item = Part, IntoIter: Clone>) -> Result<u64, Error> {
        let parts = parts.into_iter();
        let mut id = self.fixed;
        let mut given = 0;
        for kind in 0..=Part::LAST {
            for part in parts.clone().filter(|part| part.kind() == kind) {
                let (mask, bits) = self.placed(part)?;
                // A coarser time is the finest one, rounded down.
                let is_start = part == Part::Ms(self.tick_start_ms(self.time().take(id)));
                if given & mask == 0 {
                    id |= bits;
                } else if (id ^ bits) & mask != 0 && !is_start {
                    return Err(Error::plain(What::PartDiffers));
                }
                given |= mask;
            }
            if given == 0 && kind == Part::LAST_TIME {
                return Err(Error::plain(What::TimeMissing));
            }
        }
        Ok(id)
    }

    /// Returns the bits of a part at their place in an ID, below the mask of the place.
    fn placed(&self, part: Part) -> Result<(u64, u64), Error> {
        let (field, value, what) = match part {
            Part::Node(node) => {
                let node = self.node(node?.into())?;
                return Ok((self.put_node(u32::MAX), self.put_node(node)));
            }
            Part::Sequence(value) => (self.sequence(), value, What::Sequence),
            Part::Random(value) => (self.random(), value, What::Random),
            time => return Ok((self.time().mask(), self.time().put(self.tick_of(time)?))),
        };
        if value.misfits(field.width()) {
            Err(value.refused(what, field.width()))
        } else {
            Ok((field.mask(), field.put(value.magnitude())))
        }
    }

    /// Returns the tick of a time.
    fn tick_of(&self, time: Part) -> Result<u64, Error> {
        let (ms, extra_us) = match time {
            Part::Ms(ms) => (ms, 0),
            Part::Us(ms, extra_us) => (ms, extra_us),
            Part::Tick(Integer::Fits(tick)) if tick <= self.time().max() => return Ok(tick),
            Part::Tick(Integer::Negative(_) | Integer::Below) => (i64::MIN, 0),
            _ => return Err(Error::used_up(self.ends_at_ms())),
        };
        self.tick_at_us(ms, extra_us).ok_or_else(|| self.no_tick(ms))
    }
}
