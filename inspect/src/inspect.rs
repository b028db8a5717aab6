//! Which systems could have minted an ID?

mod form;
mod reason;
mod spread;
mod system;
mod text_id;

use core::ops::Deref;

pub use self::form::Form;
pub use self::reason::Reason;

use self::form::{NUMBER, Rule};
use self::spread::{BIT, log2};
use self::system::{COUNT, SYSTEMS, System};
use snowmint_core::Integer;
use snowmint_core::ksuid::Ksuid;
use snowmint_core::object_id::ObjectId;
use snowmint_core::time::DAY_MS;
use snowmint_core::ulid::Ulid;
use snowmint_core::uuid::Uuid;
use snowmint_core::xid::Xid;
use snowmint_core::{Layout, Parts};

/// Lists the systems that could have minted the ID in a text, the most plausible first. Other text gives an empty list.
///
/// The text may be a 64-bit ID (decimal, hex with or without `0x` or of 15 digits, base 32, 36, 58 or 62 of full width,
/// base 64 for URLs as Instagram writes it, base 32 as Bluesky writes it, with a prefix), a UUID (also in braces, after
/// `urn:uuid:` or without hyphens), a ULID, an `ObjectId`, a `TypeID`, a KSUID, an xid, a push ID of Firebase, a cuid, a
/// SCRU128 ID, the ID of a stream in Redis, a trace ID of X-Ray, or an aidx of Misskey. Blanks around it are ignored.
/// `now_ms` is the present time in Unix ms.
///
/// | order | criterion |
/// | --- | --- |
/// | 1 | the time. It is plausible between the begin of the system and now. These times are unlikely, in this order: before the begin; within a day of the epoch, where small numbers of any origin fall; more than a day after now |
/// | 2 | how many bits it takes to explain the ID by the system: how rarely people meet its IDs; the time between the begin and now (or within the last day, if it is); and every other bit by the spread of its values. Bits that can have any value, such as a wide node or random bits, take as many bits as they are: they are no evidence. A counter near 0, or a data centre that the system is known to have, takes fewer |
///
/// Presets of the same shape (such as Twitter and Discord, with 41 or 42 bits of ms above 22 others) differ only by their
/// epoch and the spread of their bits. [`Candidate::confidence`] says how sure the order is.
///
/// Text in a form that few systems print (base 36, say) can be anything: it needs an ID with much structure, such as a
/// counter of 0.
///
/// # Examples
/// ```
/// use snowmint_inspect::inspect;
/// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
/// assert_eq!((candidates[0].system(), candidates[0].confidence().name()), (Some("twitter"), "high"));
/// assert_eq!(candidates[0].reason().to_string(), "time 2022-06-28, 4.2 years before now; sequence 0");
///
/// let candidates = inspect("8c45583a-0e1f-11ec-804d-005056219395", 1_790_000_000_000);
/// assert_eq!((candidates[0].kind().name(), candidates[0].timestamp_ms()), ("uuid1", Some(1_630_828_920_177)));
/// assert!(inspect("garbage", 1_790_000_000_000).is_empty());
/// ```
pub fn inspect(text: impl AsRef<[u8]>, now_ms: i64) -> Candidates {
    let text = text.as_ref().trim_ascii();
    let mut candidates = Candidates::new();
    form::ids(text, |form, id, rule| {
        let looks_like_a_video = form == Form::Base64Url && form::may_be_a_video(text);
        candidates.add_id(form, id, rule, if looks_like_a_video { VIDEO } else { 0 }, now_ms);
    });
    form::others(text, |form, kind| candidates.add_other(form, kind, now_ms));
    candidates.sort();
    candidates
}

/// Works as [`inspect`], for an integer. An integer below 0 is the signed form of the same 64 bits; an integer beyond
/// 64 bits gives an empty list. `now_ms` is Unix ms.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_inspect::inspect::inspect_integer;
/// let candidates = inspect_integer(Integer::from(1_541_815_603_606_036_480_u64), 1_790_000_000_000);
/// assert_eq!(candidates[0].system(), Some("twitter"));
/// assert!(inspect_integer(Integer::Above, 1_790_000_000_000).is_empty());
/// ```
pub fn inspect_integer(value: Integer, now_ms: i64) -> Candidates {
    let mut candidates = Candidates::new();
    if let Ok(id) = value.id() {
        candidates.add_id(Form::Integer, id, &NUMBER, 0, now_ms);
    }
    candidates.sort();
    candidates
}

/// The kind of an ID, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An ID of the system with this name.
    #[non_exhaustive]
    Snowflake {
        /// The name: a preset (see [`snowmint_core::layouts`]), or a system whose IDs are only read, such as `tiktok`.
        system: &'static str,
        /// The ID; [`Candidate::parts`] decodes it.
        id: u64,
    },
    /// A UUID.
    Uuid(Uuid),
    /// A ULID.
    Ulid(Ulid),
    /// An `ObjectId` of `MongoDB`.
    ObjectId(ObjectId),
    /// A `TypeID`: the UUID behind the prefix.
    TypeId(Uuid),
    /// A KSUID.
    Ksuid(Ksuid),
    /// An xid.
    Xid(Xid),
    /// A push ID of Firebase: 48 bits of Unix ms, 72 random bits.
    FirebasePushId(u128),
    /// A cuid, as the number of its 24 digits: 8 of Unix ms, 4 of a counter, 4 of the host, 8 random.
    Cuid(u128),
    /// A SCRU128 ID: 48 bits of Unix ms, two counters of 24 bits, 32 random bits.
    Scru128(u128),
    /// The ID of an entry in a stream of Redis: 64 bits of Unix ms, a sequence of 64 bits.
    RedisStreamId(u128),
    /// A trace ID of AWS X-Ray: 32 bits of Unix seconds, 96 random bits.
    XrayTraceId(u128),
    /// An ID of Misskey, as the number of its 16 digits: 8 of ms since 2000, 4 of the node, 4 of a counter.
    Aidx(u128),
}

impl Kind {
    /// Returns the name of this kind in every language: `"snowflake"`, `"uuid1"` to `"uuid8"`, `"uuid_nil"`,
    /// `"uuid_max"`, `"uuid"` (another variant or version), `"ulid"`, `"object_id"`, `"type_id"`, `"ksuid"`, `"xid"`,
    /// `"firebase_push_id"`, `"cuid"`, `"scru128"`, `"redis_stream_id"`, `"xray_trace_id"`, `"aidx"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// use snowmint_inspect::inspect::Kind;
    /// assert_eq!(Kind::Uuid(Uuid::v4(0)).name(), "uuid4");
    /// ```
    pub fn name(&self) -> &'static str {
        const VERSIONS: [&str; 8] = ["uuid1", "uuid2", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8"];
        match self {
            Self::Snowflake { .. } => "snowflake",
            Self::Uuid(Uuid::NIL) => "uuid_nil",
            Self::Uuid(Uuid::MAX) => "uuid_max",
            Self::Uuid(uuid) => match uuid.version() {
                Some(version @ 1..=8) => VERSIONS[usize::from(version) - 1],
                _ => "uuid",
            },
            Self::TypeId(_) => "type_id",
            _ => self.form().name(),
        }
    }

    /// Returns the form of the kinds that have one form.
    const fn form(&self) -> Form {
        match self {
            Self::Snowflake { .. } => Form::Integer,
            Self::Uuid(_) => Form::Uuid,
            Self::TypeId(_) => Form::Prefixed,
            Self::Ulid(_) => Form::Ulid,
            Self::ObjectId(_) => Form::ObjectId,
            Self::Ksuid(_) => Form::Ksuid,
            Self::Xid(_) => Form::Xid,
            Self::FirebasePushId(_) => Form::FirebasePushId,
            Self::Cuid(_) => Form::Cuid,
            Self::Scru128(_) => Form::Scru128,
            Self::RedisStreamId(_) => Form::RedisStreamId,
            Self::XrayTraceId(_) => Form::XrayTraceId,
            Self::Aidx(_) => Form::Aidx,
        }
    }
}

/// How sure the place of a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Confidence {
    /// The time of the candidate is unlikely.
    Unlikely,
    /// Another candidate explains the ID better, or an ID of an unknown system would look the same.
    Low,
    /// Another candidate explains the ID equally well.
    Tied,
    /// No other candidate explains the ID as well.
    Medium,
    /// All other candidates explain the ID far worse.
    High,
}

impl Confidence {
    /// Returns the name in every language: `"unlikely"`, `"low"`, `"tied"`, `"medium"` or `"high"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect::{inspect, Confidence};
    /// let candidates = inspect("01ARYZ6S410000000000000000", 1_790_000_000_000);
    /// assert_eq!(candidates[0].confidence(), Confidence::High);
    /// assert_eq!(Confidence::High.name(), "high");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unlikely => "unlikely",
            Self::Low => "low",
            Self::Tied => "tied",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The reason why a time is unlikely, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Doubt {
    None,
    BeforeSystem,
    NearEpoch,
    Future,
}

/// A system that could have minted the inspected ID.
///
/// It is small, because wasm has stacks of some kB and a list has dozens of candidates: parts and reason are made on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    kind: Kind,
    form: Form,
    timestamp_ms: Option<i64>,
    /// The microseconds after `timestamp_ms`.
    extra_us: u16,
    doubt: Doubt,
    confidence: Confidence,
    /// What it takes to explain the ID, in quarters of a bit.
    cost: u32,
    /// The instant that the reason compares the time with: now, the begin of the system or the epoch.
    other_ms: i64,
}

impl Candidate {
    /// Returns the kind of the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// use snowmint_inspect::inspect::{inspect, Kind};
    /// let candidates = inspect("{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", 1_790_000_000_000);
    /// let Kind::Uuid(uuid) = candidates[0].kind() else { panic!("a UUID") };
    /// assert_eq!(uuid.version(), Some(7));
    /// ```
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the form in which the text was read.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// use snowmint_inspect::inspect::{inspect, Form};
    /// let candidates = inspect("0x1565a11f6217a000", 1_790_000_000_000);
    /// assert_eq!((candidates[0].form(), candidates[0].system()), (Form::Id(TextForm::Hex), Some("twitter")));
    /// ```
    pub const fn form(&self) -> Form {
        self.form
    }

    /// Returns the time in the ID, Unix ms; `None` if it has no time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("01ARYZ6S410000000000000000", 1_790_000_000_000);
    /// assert_eq!(candidates[0].timestamp_ms(), Some(1_469_918_176_385));
    /// ```
    pub const fn timestamp_ms(&self) -> Option<i64> {
        self.timestamp_ms
    }

    /// Returns the time in the ID in Unix microseconds; `None` if it has no time. Most IDs have only ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("3laulgolrfz2f", 1_790_000_000_000);
    /// assert_eq!((candidates[0].system(), candidates[0].timestamp_us()), (Some("bluesky"), Some(1_731_543_333_133_695)));
    /// ```
    pub fn timestamp_us(&self) -> Option<i128> {
        Some(i128::from(self.timestamp_ms?) * 1000 + i128::from(self.extra_us))
    }

    /// Returns how sure the place of this candidate is.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect::{inspect, Confidence};
    /// // A tweet of 2014 or an ID of Discord of 2018.
    /// let candidates = inspect("440322224407314432", 1_790_000_000_000);
    /// assert_eq!((candidates[0].system(), candidates[1].system()), (Some("twitter"), Some("discord")));
    /// assert_eq!((candidates[0].confidence(), candidates[1].confidence()), (Confidence::Tied, Confidence::Tied));
    /// ```
    pub const fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Returns the name of the system of a snowflake, usually the name of a preset; `None` for other kinds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("175928847299117063", 1_790_000_000_000);
    /// assert!(candidates.iter().any(|candidate| candidate.system() == Some("discord")));
    /// ```
    pub const fn system(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Snowflake { system, .. } => Some(system),
            _ => None,
        }
    }

    /// Returns the layout of the system of a snowflake; `None` for other kinds, and for Pinterest, whose IDs have no time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert_eq!(candidates[0].layout(), Some(TWITTER));
    /// ```
    pub fn layout(&self) -> Option<Layout> {
        system::layout(self.system()?).ok()
    }

    /// Returns the parts of a snowflake under the layout of its system; `None` without a layout.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert_eq!(candidates[0].parts().map(|parts| parts.node), Some(378));
    /// ```
    pub fn parts(&self) -> Option<Parts> {
        match self.kind {
            Kind::Snowflake { id, .. } => self.layout()?.decode(id).ok(),
            _ => None,
        }
    }

    /// Returns whether the time is plausible.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert!(candidates[0].is_plausible());
    /// // In 2001 no system could have minted it.
    /// assert!(!inspect("1541815603606036480", 1_000_000_000_000)[0].is_plausible());
    /// ```
    pub fn is_plausible(&self) -> bool {
        self.doubt == Doubt::None
    }

    /// Returns why the candidate is plausible or not: a short sentence to display.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::inspect;
    /// let candidates = inspect("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1_790_000_000_000);
    /// assert_eq!(candidates[0].reason().to_string(), "version 7, time 2022-02-22, 4.5 years before now");
    /// ```
    pub const fn reason(&self) -> Reason<'_> {
        Reason(self)
    }

    fn snowflake(system: &'static System, form: Form, id: u64, now_ms: i64) -> Option<Self> {
        let kind = Kind::Snowflake { system: system.name, id };
        let Some(shape) = &system.shape else {
            return system::is_of_pinterest(id).then(|| Self::judged(kind, form, None, system.cost(id), [0; 3]));
        };
        let (timestamp_ms, extra_us) = shape.time(id)?;
        let (span_ms, fresh) = match timestamp_ms.abs_diff(now_ms) {
            // One ID in eight is younger than a day.
            ..DAY => (DAY, 3 * BIT),
            // From the begin to now, or further if the time lies outside.
            _ => (now_ms.max(timestamp_ms).abs_diff(system.begins_ms.min(timestamp_ms)), 0),
        };
        let ticks = span_ms.saturating_mul(1000) / shape.tick_us();
        let cost = log2(ticks.max(1)) + fresh + system.cost(id);
        let instants = [shape.epoch_ms(), system.begins_ms, now_ms];
        Some(Self { extra_us, ..Self::judged(kind, form, Some(timestamp_ms), cost, instants) })
    }

    fn judged(
        kind: Kind,
        form: Form,
        timestamp_ms: Option<i64>,
        cost: u32,
        [epoch_ms, begins_ms, now_ms]: [i64; 3],
    ) -> Self {
        let (doubt, other_ms) = match timestamp_ms {
            Some(ms) if ms > now_ms && ms.abs_diff(now_ms) > DAY => (Doubt::Future, now_ms),
            Some(ms) if ms < begins_ms => (Doubt::BeforeSystem, begins_ms),
            Some(ms) if ms.abs_diff(epoch_ms) < DAY => (Doubt::NearEpoch, epoch_ms),
            _ => (Doubt::None, now_ms),
        };
        Self { kind, form, timestamp_ms, extra_us: 0, doubt, confidence: Confidence::Low, cost, other_ms }
    }
}

const DAY: u64 = DAY_MS.unsigned_abs();

/// Candidates whose costs differ by less are equally plausible; by this and more, the cheaper one is sure.
const EQUAL: u32 = 3 * BIT;
const CLEAR: u32 = 6 * BIT;
/// The cost of an ID of an unknown system.
const UNKNOWN: u32 = 68 * BIT;
/// IDs in a form that no system prints cost at most this, or the text is anything else.
const STRUCTURED: u32 = 56 * BIT;
/// What it costs that a text could be a video of `YouTube`.
const VIDEO: u32 = 4 * BIT;

/// A number has a candidate for each system. A text has at most that many plausible ones; some texts have two forms.
const CAPACITY: usize = COUNT + 11;

/// The candidates of [`inspect`], the most plausible first: a slice that needs no allocator.
#[derive(Clone, Copy, Debug)]
pub struct Candidates {
    rows: [Candidate; CAPACITY],
    len: usize,
}

impl Candidates {
    const fn new() -> Self {
        // Rows beyond the last candidate are never read.
        let none = Candidate {
            kind: Kind::Uuid(Uuid::NIL),
            form: Form::Uuid,
            timestamp_ms: None,
            extra_us: 0,
            doubt: Doubt::None,
            confidence: Confidence::Low,
            cost: 0,
            other_ms: 0,
        };
        Self { rows: [none; CAPACITY], len: 0 }
    }

    fn add(&mut self, candidate: Candidate) {
        if let Some(row) = self.rows.get_mut(self.len) {
            *row = candidate;
            self.len += 1;
        }
    }

    fn add_id(&mut self, form: Form, id: u64, rule: &Rule, extra: u32, now_ms: i64) {
        for system in &SYSTEMS {
            let is_own = rule.own.contains(&system.name);
            let Some(foreign) = (if is_own { Some(0) } else { rule.others }) else { continue };
            let Some(mut candidate) = Candidate::snowflake(system, form, id, now_ms) else { continue };
            let is_structured = candidate.cost - system.rare <= STRUCTURED;
            if (candidate.doubt != Doubt::None && !rule.lists_unlikely)
                || (rule.needs_structure && !is_own && !is_structured)
            {
                continue;
            }
            candidate.cost += foreign * BIT + extra;
            self.add(candidate);
        }
    }

    fn add_other(&mut self, form: Form, kind: Kind, now_ms: i64) {
        let (timestamp_ms, begins_ms) = match kind {
            Kind::Uuid(uuid) | Kind::TypeId(uuid) if matches!(uuid.version(), Some(1 | 2)) => {
                (uuid.timestamp_ms(), system::UUID_V1)
            }
            Kind::Uuid(uuid) | Kind::TypeId(uuid) => (uuid.timestamp_ms(), system::UUID_V7),
            Kind::Ulid(ulid) => (Some(ulid.timestamp_ms()), system::ULID),
            Kind::ObjectId(id) => (Some(id.timestamp_ms()), system::OBJECT_ID),
            _ => match text_id::time_of(&kind) {
                Some((timestamp_ms, begins_ms)) => (Some(timestamp_ms), begins_ms),
                None => return,
            },
        };
        // If only one of two readings of a UUID, swapped or not, has a time, it is hardly there by chance.
        let cost = if timestamp_ms.is_some() { 0 } else { CLEAR };
        let candidate = Candidate::judged(kind, form, timestamp_ms, cost, [0, begins_ms, now_ms]);
        // Any text of the right length can be one of these kinds, so the time must be right.
        if candidate.doubt == Doubt::None || text_id::time_of(&kind).is_none() {
            self.add(candidate);
        }
    }

    /// Sorts by insertion, which keeps the order of equal rows and is fast enough for some dozen rows. Then it says how
    /// sure each place is.
    fn sort(&mut self) {
        let rows = &mut self.rows[..self.len];
        let place = |row: &Candidate| (row.doubt, row.cost);
        for end in 1..rows.len() {
            let mut at = end;
            while at > 0 && place(&rows[at]) < place(&rows[at - 1]) {
                rows.swap(at, at - 1);
                at -= 1;
            }
        }
        let plausible = rows.iter().take_while(|row| row.doubt == Doubt::None);
        let least = rows.first().map_or(0, |row| row.cost);
        let equal = plausible.clone().filter(|row| row.cost - least < EQUAL).count();
        let next = plausible.map(|row| row.cost).nth(1).unwrap_or(UNKNOWN).min(UNKNOWN);
        let first = match next.saturating_sub(least) {
            _ if equal > 1 => Confidence::Tied,
            CLEAR.. => Confidence::High,
            EQUAL.. => Confidence::Medium,
            _ => Confidence::Low,
        };
        for (at, row) in rows.iter_mut().enumerate() {
            row.confidence = match row.doubt {
                Doubt::None if at < equal => first,
                Doubt::None => Confidence::Low,
                _ => Confidence::Unlikely,
            };
        }
    }
}

impl Deref for Candidates {
    type Target = [Candidate];

    fn deref(&self) -> &[Candidate] {
        &self.rows[..self.len]
    }
}

impl<'a> IntoIterator for &'a Candidates {
    type Item = &'a Candidate;
    type IntoIter = core::slice::Iter<'a, Candidate>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use snowmint_core::layouts;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// 2026-11-01.
    const NOW_MS: i64 = 1_793_491_200_000;

    fn first(text: &str) -> (&'static str, &'static str, String) {
        let candidates = inspect(text, NOW_MS);
        let first = candidates.first().expect("a candidate");
        (first.kind().name(), first.form().name(), first.reason().to_string())
    }

    #[test]
    fn a_fresh_id_is_plausible_in_its_system() {
        for (name, layout) in layouts::all().filter(|(_, layout)| layout.ends_at_ms() > NOW_MS) {
            for ahead_ms in [-3_600_000, 0, 1000] {
                let node = if layout.nodes() > 1 { 3 } else { 0 };
                let id = layout.encode_at(NOW_MS + ahead_ms, node.into(), 1.into(), 0.into()).expect("its time");
                let candidates = inspect_integer(id.into(), NOW_MS);
                let found = candidates.iter().position(|one| one.system() == Some(name)).expect("a candidate");
                assert!(candidates[found].is_plausible(), "{name} {ahead_ms}: {:?}", candidates[found]);
                // No other system has the layouts of snowmint.
                assert!(found == 0 || !["snowmint", "safe53"].contains(&name), "{name}: {:?}", candidates[0]);
            }
        }
    }

    #[test]
    fn every_system_that_decodes_an_id_is_listed_once() {
        for id in [0, 1, 5, 1 << 53, 1_541_815_603_606_036_480, u64::MAX >> 1, 1 << 63, u64::MAX] {
            let candidates = inspect_integer(id.into(), NOW_MS);
            let mut found: Vec<_> = candidates.iter().filter_map(Candidate::system).collect();
            let decodes = |name: &&str| match system::layout(name) {
                Ok(layout) => layout.decode(id).is_ok(),
                Err(_) => system::is_of_pinterest(id),
            };
            let mut able: Vec<_> = SYSTEMS.iter().map(|system| system.name).filter(decodes).collect();
            found.sort_unstable();
            able.sort_unstable();
            assert_eq!(found, able);
        }
    }

    #[test]
    fn the_list_fits_a_short_stack() {
        assert!(size_of::<Candidates>() <= 4096, "{} bytes", size_of::<Candidates>());
    }

    #[test]
    fn the_list_has_room_for_all_systems() {
        // Digits alone are decimal, although base 32 and base 36 have 13 of them too. IDs of Sentry have a fixed part, and those of
        // Pinterest a known type.
        let candidates = inspect("0000000000005", NOW_MS);
        assert_eq!(candidates.len(), COUNT - 2);
        assert!(candidates.iter().all(|one| one.form() == Form::Id(snowmint_core::TextForm::Decimal)));
    }

    #[test]
    fn times_of_systems_are_those_of_their_layouts() {
        for id in [5, 1_541_815_603_606_036_480, 7_199_081_390_080_409_600, 4_509_563_503_640_576, u64::MAX >> 1] {
            for candidate in &inspect_integer(id.into(), NOW_MS) {
                let Some(parts) = candidate.parts() else { continue };
                assert_eq!(candidate.timestamp_us(), Some(parts.timestamp_us()), "{candidate:?}");
            }
        }
    }

    #[test]
    fn equally_good_explanations_say_so() {
        let candidates = inspect("440322224407314432", NOW_MS);
        let tied: Vec<_> = candidates.iter().take_while(|one| one.confidence() == Confidence::Tied).collect();
        assert_eq!(tied.iter().map(|one| one.system()).collect::<Vec<_>>(), [Some("twitter"), Some("discord")]);
        assert!(tied.iter().all(|one| one.reason().to_string().ends_with("; other systems explain it equally well")));
        assert!(candidates[2].confidence() < Confidence::Tied);
    }

    #[test]
    fn a_reason_shows_the_evidence_for_and_against_a_candidate() {
        let of = |preset, text| {
            let candidates = inspect(text, NOW_MS);
            let found = candidates.iter().find(|candidate| candidate.system() == Some(preset));
            found.expect("a candidate").reason().to_string()
        };
        let tweet = "1541815603606036480";
        assert_eq!(of("twitter", tweet), "time 2022-06-28, 4.3 years before now; sequence 0");
        assert_eq!(of("snowmint", tweet), "unlikely: time 2036-08-25, 9.8 years after now; sequence 0");
        assert_eq!(of("twitter", "5"), "unlikely: time 2010-11-04, 0 ms after the epoch; node 0");
        assert_eq!(of("leaf", "175928847299117063"), "unlikely: time 2012-03-03, 6.7 years before leaf began");
    }

    #[test]
    fn reasons_of_uuids_name_version_and_variant() {
        let reason = "version 1, time 2021-09-05, 5.1 years before now; node 00:50:56:21:93:95; clock sequence 77";
        for (text, form) in [
            ("8c45583a-0e1f-11ec-804d-005056219395", "uuid"),
            ("{8C45583A-0E1F-11EC-804D-005056219395}", "uuid_braces"),
            ("URN:UUID:8c45583a-0e1f-11ec-804d-005056219395", "uuid_urn"),
            ("8c45583a0e1f11ec804d005056219395", "uuid_hex"),
            ("11ec0e1f8c45583a804d005056219395", "uuid_swapped"),
        ] {
            assert_eq!(first(text), ("uuid1", form, reason.into()));
        }
        for (text, kind, reason) in [
            ("6fa459ea-ee8a-3ca4-894e-db77e160355e", "uuid3", "version 3, MD5 of a name"),
            ("2a6bb4e6-6d2f-4c4c-8a3a-2f9c38a9b7d1", "uuid4", "version 4, random"),
            ("886313e1-3b8a-5372-9b90-0c9aee199e5d", "uuid5", "version 5, SHA-1 of a name"),
            ("12345678-1234-8234-8234-123456789abc", "uuid8", "version 8, defined by its minter"),
            ("12345678-1234-9234-8234-123456789abc", "uuid", "version 9, which is not defined"),
            ("12345678-1234-1234-c234-123456789abc", "uuid", "a UUID of the Microsoft variant, without a version"),
            ("00000000-0000-0000-0000-000000000000", "uuid_nil", "the nil UUID"),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", "uuid_max", "the max UUID"),
        ] {
            assert_eq!(first(text), (kind, "uuid", reason.into()));
        }
    }

    #[test]
    fn the_reason_of_a_version_2_names_its_owner() {
        let about = |domain| {
            let text = std::format!("000003e8-0e1f-21ec-80{domain}-005056219395");
            let (kind, _, reason) = first(&text);
            assert_eq!(kind, "uuid2");
            reason
        };
        let time = "version 2, DCE security, time 2021-09-05, 5.1 years before now";
        let rest = "node 00:50:56:21:93:95; clock sequence 0";
        assert_eq!(about("00"), std::format!("{time}; user 1000; {rest}"));
        assert_eq!(about("01"), std::format!("{time}; group 1000; {rest}"));
        assert_eq!(about("02"), std::format!("{time}; organisation 1000; {rest}"));
        assert_eq!(about("ff"), std::format!("{time}; number 1000 of domain 255; {rest}"));
    }

    #[test]
    fn the_examples_of_rfc_9562_have_the_right_time() {
        // Appendices A.1, A.5 and A.6: 2022-02-22T19:22:22Z.
        for text in [
            "C232AB00-9414-11EC-B3C8-9F6BDECED846",
            "1EC9414C-232A-6B00-B3C8-9F6BDECED846",
            "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        ] {
            assert_eq!(inspect(text, NOW_MS)[0].timestamp_ms(), Some(1_645_557_742_000), "{text}");
        }
    }

    #[test]
    fn ulids_and_object_ids_have_a_time() {
        let ulid = ("ulid", "ulid", "time 2016-07-30, 10.2 years before now".into());
        assert_eq!(first("01ARZ3NDEKTSV4RRFFQ69G5FAV"), ulid);
        assert_eq!(first(" 01arz3ndektsv4rrffq69g5fav\n"), ulid);
        let middle = "random 3475061e3d, or machine 347506 and process 7741";
        let reason = std::format!("time 2008-03-03, 18.6 years before now; {middle}; counter 9778845");
        assert_eq!(first("47cc67093475061e3d95369d"), ("object_id", "object_id", reason));
    }

    #[test]
    fn other_text_gives_an_empty_list() {
        for text in [
            "",
            " ",
            "-",
            "--5",
            "+5",
            "1.5",
            "0x",
            "0xg",
            "0x10000000000000000",
            "18446744073709551616",
            "-9223372036854775809",
            "abc",
            "\0",
            "\u{ff15}",
            "{8c45583a-0e1f-11ec-804d-005056219395",
            "8c45583a_0e1f_11ec_804d_005056219395",
            "urn:uuid:",
            "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        ] {
            assert!(inspect(text, NOW_MS).is_empty(), "{text:?}");
        }
        assert!(inspect_integer(Integer::Above, NOW_MS).is_empty());
    }

    #[test]
    fn no_present_is_too_early_or_too_late() {
        for now_ms in [i64::MIN, -1, 0, i64::MAX] {
            for text in ["1541815603606036480", "-1", "8c45583a-0e1f-11ec-804d-005056219395"] {
                let candidates = inspect(text, now_ms);
                assert!(!candidates.is_empty());
                assert!(candidates.iter().all(|candidate| candidate.reason().to_string().contains("time")));
            }
        }
    }
}
