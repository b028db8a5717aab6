//! The record of a namespace beside its layout, and the floor of a whole store.

use core::fmt;
use core::str;

use crate::error::{Error, ErrorKind, What};
use crate::forms::name::Name;
use crate::layout::layouts;
use crate::layout::{Layout, LayoutId};
use crate::mutant;

/// The most characters of a namespace's name.
const MAX_NAME_CHARS: usize = 64;
/// The word in the record of a removed namespace.
const REMOVED: &[u8] = b"removed";

/// The name of a namespace: given by the caller, or the default name of a layout.
///
/// Leases of one namespace never have the same node at the same time; leases of two may.
#[derive(Clone, Copy, Debug)]
pub enum NamespaceName<'a> {
    /// A name that passes [`NamespaceName::new`].
    Given(&'a str),
    /// `@` and the name of the first preset with these numbers, such as `@twitter`. Without such a preset `@` and the upper 48
    /// bits of the [identity](LayoutId::identity), such as `@3f9a-22c1-07be`.
    Default(LayoutId),
}

impl<'a> NamespaceName<'a> {
    /// Checks a name: 1 to 64 of `a-z A-Z 0-9 . _ -`, not beginning with a dot.
    ///
    /// # Errors
    /// `InvalidNode`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NamespaceName;
    /// use snowmint_core::{Layout, layouts::LEAF};
    /// assert_eq!(NamespaceName::new("orders")?.to_string(), "orders");
    /// assert!(NamespaceName::new("a/b").is_err());
    /// assert_eq!(NamespaceName::Default(LEAF.layout_id()).to_string(), "@twitter", "the same numbers");
    /// let own = Layout::parse("time:42,node:10,sequence:12;epoch=0")?;
    /// assert_eq!(NamespaceName::Default(own.layout_id()).to_string(), "@327e-a00c-627c");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(name: &'a str) -> Result<Self, Error> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_CHARS || name.starts_with('.') || !name.bytes().all(is_allowed) {
            return Err(Name::cut(name.as_bytes()).refused(What::NamespaceName, 0));
        }
        Ok(Self::Given(name))
    }
}

impl fmt::Display for NamespaceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(name) => f.write_str(name),
            Self::Default(layout_id) => {
                if let Some((preset, _)) = layouts::all().find(|(_, preset)| preset.layout_id() == *layout_id) {
                    return write!(f, "@{preset}");
                }
                let identity = layout_id.identity();
                let group = |shift: u32| (identity >> shift) & 0xffff;
                write!(f, "@{:04x}-{:04x}-{:04x}", group(48), group(32), group(16))
            }
        }
    }
}

/// The record of a namespace behind the text of its layout, such as
/// `time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms nodes=3 floor=1772323200123`.
///
/// **A count detects vanished records.** Records of nodes are never deleted, so their number never falls. `nodes` is a lower
/// bound of that number. A claim that gives a node its first record raises `nodes` by compare-and-swap afterwards, once the
/// record is durable. Each claim reads `nodes` before it lists the records. If the list is shorter, records have vanished.
/// Nothing else makes the list shorter: a claimer that is killed before it counts leaves `nodes` too low, and the next claim
/// corrects it. A claim of a node that has a record costs no further request; each node costs one more write in its life. If
/// this record vanished too, the next claim writes it again, and counts the records that are there. It refuses a layout that
/// is not theirs. If all records vanished, nothing is detected: run `snowmint fence` after emptying a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamespaceRecord {
    /// Lower bound of the number of nodes that have a record.
    pub nodes: u64,
    /// The floor that `snowmint fence` wrote, Unix ms: the earliest start of a node without a record.
    pub floor_ms: Option<i64>,
    /// The longest reservation of a node, in ms, if one was longer than any window; otherwise 0. A fence takes it into account.
    pub reserve_ms: u64,
    /// Whether an operator has removed the namespace. Its records stay, so that a claim that makes it again neither takes
    /// another layout nor goes back in time.
    pub removed: bool,
}

impl NamespaceRecord {
    /// Reads a record into the text of the layout and the numbers behind it.
    ///
    /// # Errors
    /// `StoreUnavailable` for unknown words.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NamespaceRecord;
    /// let text = b"time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms nodes=3";
    /// let (layout, namespace) = NamespaceRecord::read(text)?;
    /// assert!(layout.starts_with(b"time:41,"));
    /// assert_eq!(namespace, NamespaceRecord { nodes: 3, ..NamespaceRecord::default() });
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn read(record: &[u8]) -> Result<(&[u8], Self), Error> {
        let mut words = record.split(|byte| *byte == b' ');
        let layout = words.next().unwrap_or_default();
        let mut pin = Self::default();
        for word in words {
            match (number(word, b"nodes="), number(word, b"floor="), number(word, b"reserve=")) {
                (Some(nodes), ..) => pin.nodes = nodes,
                (_, Some(floor_ms), _) => pin.floor_ms = Some(floor_ms),
                (.., Some(reserve_ms)) => pin.reserve_ms = reserve_ms,
                _ if word == REMOVED => pin.removed = true,
                _ => return Err(Error::plain(What::NoRecord)),
            }
        }
        Ok((layout, pin))
    }

    /// Reads a record for generators of `layout`. A namespace keeps its first layout, because two layouts could give the same
    /// ID. The names of fields may differ: returns the layout as the record has it.
    ///
    /// # Errors
    /// A [`NamespaceRefusal`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::{LEAF, SNOWMINT};
    /// use snowmint_core::lease::NamespaceRecord;
    /// let text = b"unused:1,time:41,worker:10,sequence:12;epoch=1288834974657;tick=1ms nodes=3";
    /// let (_, namespace) = NamespaceRecord::read_for(text, &LEAF).unwrap();
    /// assert_eq!(namespace.nodes, 3);
    /// assert!(NamespaceRecord::read_for(text, &SNOWMINT).is_err());
    /// ```
    pub fn read_for<'a>(record: &'a [u8], layout: &Layout) -> Result<(Layout, Self), NamespaceRefusal<'a>> {
        let (text, namespace) = Self::read(record).map_err(|_| NamespaceRefusal::NoLayout)?;
        let first = Layout::parse(text).map_err(|_| NamespaceRefusal::NoLayout)?;
        if !first.same_numbers(layout) {
            return Err(NamespaceRefusal::AnotherLayout(str::from_utf8(text).unwrap_or_default()));
        }
        Ok((first, namespace))
    }

    /// Refuses a namespace in which fewer nodes than before have a record.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NamespaceRecord;
    /// let namespace = NamespaceRecord { nodes: 3, ..NamespaceRecord::default() };
    /// assert!(namespace.refuse_fewer(3).is_ok() && namespace.refuse_fewer(2).is_err());
    /// ```
    pub fn refuse_fewer(&self, records: u64) -> Result<(), Error> {
        if records >= self.nodes || mutant::removes("vanished") {
            Ok(())
        } else {
            Err(Error::new(What::RecordsGone, 0, records, self.nodes))
        }
    }

    /// Returns the same with the floor raised to `until_ms` (Unix ms), if it is lower.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NamespaceRecord;
    /// let namespace = NamespaceRecord { nodes: 3, floor_ms: Some(1_772_323_200_000), removed: false, reserve_ms: 0 };
    /// assert_eq!(namespace.raised(1_772_323_260_000).floor_ms, Some(1_772_323_260_000));
    /// assert_eq!(namespace.raised(0), namespace);
    /// ```
    #[must_use]
    pub fn raised(self, until_ms: i64) -> Self {
        Self { floor_ms: self.floor_ms.max(Some(until_ms)), ..self }
    }

    /// Returns why no node mints at `now_ms` (Unix ms) after a fence, which raised the ends of all windows to the floor. `None`
    /// once the floor is over.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::lease::NamespaceRecord;
    /// let namespace = NamespaceRecord { nodes: 3, floor_ms: Some(1_772_323_200_000), removed: false, reserve_ms: 0 };
    /// let error = namespace.fenced(1_772_323_199_999).expect("a fence");
    /// assert_eq!(error.kind(), ErrorKind::NodesExhausted);
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the store is fenced until 2026-03-01T00:00:00.000Z, and no node mints before that time: wait"
    /// );
    /// assert_eq!(namespace.fenced(1_772_323_200_000), None);
    /// ```
    pub fn fenced(&self, now_ms: i64) -> Option<Error> {
        let floor_ms = self.floor_ms.filter(|floor_ms| *floor_ms > now_ms)?;
        Some(Error::new(What::Fenced, 0, 0, floor_ms.cast_unsigned()))
    }
}

/// Writes the words, each with a blank before it: they follow the text of the layout.
impl fmt::Display for NamespaceRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, floor_ms, removed, reserve_ms } = self;
        if *nodes > 0 {
            write!(f, " nodes={nodes}")?;
        }
        floor_ms.map_or(Ok(()), |floor_ms| write!(f, " floor={floor_ms}"))?;
        if *reserve_ms > 0 {
            write!(f, " reserve={reserve_ms}")?;
        }
        if *removed { f.write_str(" removed") } else { Ok(()) }
    }
}

/// Why the record of a namespace does not serve the generators of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamespaceRefusal<'a> {
    /// The record is not a layout.
    NoLayout,
    /// The namespace is of another layout, whose text this is.
    AnotherLayout(&'a str),
}

impl NamespaceRefusal<'_> {
    /// Returns the kind of the error: `InvalidStore` or `InvalidLayout`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, lease::NamespaceRefusal};
    /// assert_eq!(NamespaceRefusal::NoLayout.kind(), ErrorKind::InvalidStore);
    /// ```
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NoLayout => ErrorKind::InvalidStore,
            Self::AnotherLayout(_) => ErrorKind::InvalidLayout,
        }
    }

    /// Writes the message of the error, for the namespace of that name.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::NamespaceRefusal;
    /// let mut message = String::new();
    /// NamespaceRefusal::NoLayout.write(&mut message, "orders")?;
    /// assert_eq!(message, "the record of namespace orders is not a layout");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    pub fn write(&self, to: &mut impl fmt::Write, namespace: &str) -> fmt::Result {
        match self {
            Self::NoLayout => write!(to, "the record of namespace {namespace} is not a layout"),
            Self::AnotherLayout(first) => {
                write!(to, "namespace {namespace} is of layout {first}: use that one, or another namespace")
            }
        }
    }
}

/// The floor of a whole store, which `snowmint fence` writes: `until=1772323200123 skip=1000`. Namespaces and counters that
/// have no record, because they are new or missing in a backup, begin there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The earliest start of the nodes of a namespace without a record, Unix ms.
    pub until_ms: i64,
    /// How many numbers a counter, sequence or section without a record leaves out.
    pub skip: u64,
}

impl Floor {
    /// The key of the floor in a store.
    pub const KEY: &str = "fence/floor";

    /// Reads a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a floor, or have unknown words.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::Floor;
    /// let floor = Floor::read(b"until=1772323200123 skip=1000")?;
    /// assert_eq!((floor.until_ms, floor.skip), (1_772_323_200_123, 1000));
    /// assert!(Floor::read(b"skip=1000").is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn read(record: &[u8]) -> Result<Self, Error> {
        let mut words = record.split(|byte| *byte == b' ');
        let until_ms = words.next().and_then(|word| number(word, b"until="));
        let skip = words.next().and_then(|word| number(word, b"skip="));
        match (until_ms, skip, words.next()) {
            (Some(until_ms), Some(skip), None) => Ok(Self { until_ms, skip }),
            _ => Err(Error::plain(What::NoRecord)),
        }
    }

    /// Returns the floor after one more fence. Numbers add up: a counter may have begun at the earlier floor.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::Floor;
    /// let floor = Floor { until_ms: 5000, skip: 1000 };
    /// assert_eq!(floor.raised(8000, 10), Floor { until_ms: 8000, skip: 1010 });
    /// ```
    #[must_use]
    pub fn raised(self, until_ms: i64, skip: u64) -> Self {
        Self { until_ms: self.until_ms.max(until_ms), skip: self.skip.saturating_add(skip) }
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "until={} skip={}", self.until_ms, self.skip)
    }
}

fn number<N: str::FromStr>(word: &[u8], name: &[u8]) -> Option<N> {
    str::from_utf8(word.strip_prefix(name)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    const LAYOUT: &str = "time:41,node:1;epoch=0;tick=1ms";

    #[test]
    fn the_numbers_of_a_namespace_follow_its_layout() {
        for (pin, words) in [
            (NamespaceRecord::default(), ""),
            (NamespaceRecord { nodes: 3, floor_ms: None, removed: false, reserve_ms: 0 }, " nodes=3"),
            (NamespaceRecord { nodes: 0, floor_ms: Some(-5), removed: false, reserve_ms: 0 }, " floor=-5"),
            (
                NamespaceRecord { nodes: u64::MAX, floor_ms: Some(i64::MAX), removed: false, reserve_ms: 0 },
                " nodes=18446744073709551615 floor=9223372036854775807",
            ),
            (NamespaceRecord { reserve_ms: 86_400_000, ..NamespaceRecord::default() }, " reserve=86400000"),
            (
                NamespaceRecord { nodes: 3, floor_ms: Some(5), removed: true, reserve_ms: 7 },
                " nodes=3 floor=5 reserve=7 removed",
            ),
        ] {
            assert_eq!(pin.to_string(), words);
            let record = std::format!("{LAYOUT}{pin}");
            assert_eq!(NamespaceRecord::read(record.as_bytes()), Ok((LAYOUT.as_bytes(), pin)));
        }
        for bad in [" nodes=", " nodes=-1", " floor=1.5", " rooms=1", " removed=1", " nodes=1 ", "  nodes=1"] {
            assert!(NamespaceRecord::read(std::format!("{LAYOUT}{bad}").as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(
            NamespaceRecord { nodes: 1, floor_ms: Some(5), removed: false, reserve_ms: 0 }.raised(3),
            NamespaceRecord { nodes: 1, floor_ms: Some(5), removed: false, reserve_ms: 0 }
        );
        assert_eq!(
            NamespaceRecord::default().raised(-3),
            NamespaceRecord { nodes: 0, floor_ms: Some(-3), removed: false, reserve_ms: 0 }
        );
    }

    #[test]
    fn a_second_fence_leaves_out_more_numbers() {
        let floor = Floor { until_ms: 5, skip: 1000 };
        assert_eq!(Floor::read(floor.to_string().as_bytes()), Ok(floor));
        assert_eq!(floor.raised(3, 10), Floor { until_ms: 5, skip: 1010 });
        for bad in ["", "until=5", "skip=5 until=5", "until=5 skip=5 more=5", "until=5 skip=-5"] {
            assert!(Floor::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
