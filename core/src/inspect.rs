//! Which systems could have minted an ID?

mod form;
mod reason;
mod system;

use core::ops::Deref;

pub use self::form::Form;
pub use self::reason::Reason;

use self::form::MAX_FORMS;
use self::system::{COUNT, SYSTEMS};
use crate::int::Integer;
use crate::layout::{Layout, Parts};
use crate::object_id::ObjectId;
use crate::time::DAY_MS;
use crate::ulid::Ulid;
use crate::uuid::Uuid;

/// Lists the systems that could have minted the ID in a text, the most plausible first. Other text gives an empty list.
///
/// The text may be a 64-bit ID (decimal, hex with or without `0x` or of 15 digits, base 32, 36, 58 or 62 of full
/// width), a UUID (also in braces, after `urn:uuid:` or without hyphens), a ULID or an `ObjectId`. Blanks around it are
/// ignored. `now_ms` is the present time in Unix ms.
///
/// | order | criterion |
/// | --- | --- |
/// | 1 | the time. It is plausible between the begin of the system and now. These times are unlikely, in this order: before the begin; within a day of the epoch, where small numbers of any origin fall; more than a day after now |
/// | 2 | the number of bits that the system does not explain: of the time between its begin and now (of a day, if the time is within a day of now; of a longer span, if the time lies outside), of the node, halved if the number is small, and of the sequence without its leading zeros. A difference below 6 bits does not count |
/// | 3 | how often people meet IDs of the system |
///
/// Presets of the same shape (such as Twitter and Discord, with 41 or 42 bits of ms above 22 others) differ only by
/// their epoch: the list has each preset whose time is plausible.
///
/// # Examples
/// ```
/// use snowmint_core::inspect;
/// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
/// assert_eq!(candidates[0].system(), Some("twitter"));
/// assert_eq!(candidates[0].reason().to_string(), "time 2022-06-28, 4.2 years before now; sequence 0");
///
/// let candidates = inspect("8c45583a-0e1f-11ec-804d-005056219395", 1_790_000_000_000);
/// assert_eq!((candidates[0].kind().name(), candidates[0].timestamp_ms()), ("uuid1", Some(1_630_828_920_177)));
/// assert!(inspect("garbage", 1_790_000_000_000).is_empty());
/// ```
pub fn inspect(text: impl AsRef<[u8]>, now_ms: i64) -> Candidates {
    let text = text.as_ref().trim_ascii();
    let mut candidates = Candidates::new();
    form::ids(text, |form, id, surprise| candidates.add_id(form, id, surprise, now_ms));
    form::others(text, |form, kind| candidates.add_other(form, kind, now_ms));
    candidates.sort();
    candidates
}

/// Works as [`inspect`], for an integer. An integer below 0 is the signed form of the same 64 bits; an integer beyond
/// 64 bits gives an empty list. `now_ms` is Unix ms.
///
/// # Examples
/// ```
/// use snowmint_core::{Integer, inspect::inspect_integer};
/// let candidates = inspect_integer(Integer::from(1_541_815_603_606_036_480_u64), 1_790_000_000_000);
/// assert_eq!(candidates[0].system(), Some("twitter"));
/// assert!(inspect_integer(Integer::Beyond, 1_790_000_000_000).is_empty());
/// ```
pub fn inspect_integer(value: Integer, now_ms: i64) -> Candidates {
    let mut candidates = Candidates::new();
    if let Ok(id) = value.id() {
        candidates.add_id(Form::Integer, id, 0, now_ms);
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
        /// The name: a preset (see [`crate::layouts`]), or `yitter_typescript` or `yitter_csharp`.
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
}

impl Kind {
    /// Returns the name of this kind in every language: `"snowflake"`, `"uuid1"` to `"uuid8"`, `"uuid_nil"`,
    /// `"uuid_max"`, `"uuid"` (another variant or version), `"ulid"`, `"object_id"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Uuid, inspect::Kind};
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
            Self::Ulid(_) => "ulid",
            Self::ObjectId(_) => "object_id",
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

impl Doubt {
    const COUNT: usize = 4;
}

/// A system that could have minted the inspected ID.
///
/// It is small, because wasm has stacks of some kB and a list has 51 candidates: parts and reason are made on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    kind: Kind,
    form: Form,
    timestamp_ms: Option<i64>,
    doubt: Doubt,
    /// The number of bits that the system does not explain.
    surprise: u32,
    /// The instant that the reason compares the time with: now, the begin of the system or the epoch.
    other_ms: i64,
}

impl Candidate {
    /// Returns the kind of the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Uuid, inspect, inspect::Kind};
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
    /// use snowmint_core::{TextForm, inspect, inspect::Form};
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
    /// use snowmint_core::inspect;
    /// let candidates = inspect("01ARYZ6S410000000000000000", 1_790_000_000_000);
    /// assert_eq!(candidates[0].timestamp_ms(), Some(1_469_918_176_385));
    /// ```
    pub const fn timestamp_ms(&self) -> Option<i64> {
        self.timestamp_ms
    }

    /// Returns the name of the system of a snowflake, usually the name of a preset; `None` for other kinds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::inspect;
    /// let candidates = inspect("175928847299117063", 1_790_000_000_000);
    /// assert!(candidates.iter().any(|candidate| candidate.system() == Some("discord")));
    /// ```
    pub const fn system(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Snowflake { system, .. } => Some(system),
            _ => None,
        }
    }

    /// Returns the layout of the system of a snowflake; `None` for other kinds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{inspect, layouts::TWITTER};
    /// let candidates = inspect("1541815603606036480", 1_790_000_000_000);
    /// assert_eq!(candidates[0].layout(), Some(TWITTER));
    /// ```
    pub fn layout(&self) -> Option<Layout> {
        system::layout(self.system()?).ok()
    }

    /// Returns the parts of a snowflake under the layout of its system; `None` for other kinds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::inspect;
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
    /// use snowmint_core::inspect;
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
    /// use snowmint_core::inspect;
    /// let candidates = inspect("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1_790_000_000_000);
    /// assert_eq!(candidates[0].reason().to_string(), "version 7, time 2022-02-22, 4.5 years before now");
    /// ```
    pub const fn reason(&self) -> Reason<'_> {
        Reason(self)
    }

    /// Candidates whose surprise differs by fewer bits are equally plausible.
    const TOLERANCE: u32 = 6;

    fn snowflake((system, begins_ms): (&'static str, i64), form: Form, id: u64, now_ms: i64) -> Option<Self> {
        let layout = system::layout(system).ok()?;
        let parts = layout.decode(id).ok()?;
        let span_ms = match parts.timestamp_ms.abs_diff(now_ms) {
            ..DAY => DAY,
            // From the begin to now, or further if the time lies outside.
            _ => now_ms.max(parts.timestamp_ms).abs_diff(begins_ms.min(parts.timestamp_ms)),
        };
        let surprise = bits(span_ms / layout.tick_ms())
            + layout.nodes().trailing_zeros().midpoint(bits(u64::from(parts.node)))
            + bits(parts.sequence);
        let kind = Kind::Snowflake { system, id };
        Some(Self::judged(kind, form, Some(parts.timestamp_ms), surprise, [layout.epoch_ms(), begins_ms, now_ms]))
    }

    fn judged(
        kind: Kind,
        form: Form,
        timestamp_ms: Option<i64>,
        surprise: u32,
        [epoch_ms, begins_ms, now_ms]: [i64; 3],
    ) -> Self {
        let (doubt, other_ms) = match timestamp_ms {
            Some(ms) if ms > now_ms && ms.abs_diff(now_ms) > DAY => (Doubt::Future, now_ms),
            Some(ms) if ms < begins_ms => (Doubt::BeforeSystem, begins_ms),
            Some(ms) if ms.abs_diff(epoch_ms) < DAY => (Doubt::NearEpoch, epoch_ms),
            _ => (Doubt::None, now_ms),
        };
        Self { kind, form, timestamp_ms, doubt, surprise, other_ms }
    }
}

const DAY: u64 = DAY_MS.unsigned_abs();

/// Returns the number of bits that a number takes; 0 for 0.
const fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// A text is read as 64-bit IDs, which have at most 20 characters, or as other IDs, which have 24 or more.
const CAPACITY: usize = MAX_FORMS * COUNT;

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
            doubt: Doubt::None,
            surprise: 0,
            other_ms: 0,
        };
        Self { rows: [none; CAPACITY], len: 0 }
    }

    fn add(&mut self, candidate: Candidate) {
        self.rows[self.len] = candidate;
        self.len += 1;
    }

    fn add_id(&mut self, form: Form, id: u64, surprise: u32, now_ms: i64) {
        for system in SYSTEMS {
            if let Some(mut candidate) = Candidate::snowflake(system, form, id, now_ms) {
                candidate.surprise += surprise;
                self.add(candidate);
            }
        }
    }

    fn add_other(&mut self, form: Form, kind: Kind, now_ms: i64) {
        let (timestamp_ms, begins_ms) = match kind {
            Kind::Uuid(uuid) if matches!(uuid.version(), Some(1 | 2)) => (uuid.timestamp_ms(), system::UUID_V1),
            Kind::Uuid(uuid) => (uuid.timestamp_ms(), system::UUID_V7),
            Kind::Ulid(ulid) => (Some(ulid.timestamp_ms()), system::ULID),
            Kind::ObjectId(id) => (Some(id.timestamp_ms()), system::OBJECT_ID),
            Kind::Snowflake { .. } => return,
        };
        // If only one of two readings of a UUID, swapped or not, has a time, it is hardly there by chance.
        let surprise = if timestamp_ms.is_some() { 0 } else { Candidate::TOLERANCE };
        self.add(Candidate::judged(kind, form, timestamp_ms, surprise, [0, begins_ms, now_ms]));
    }

    /// Sorts by insertion, which keeps the order of equal rows and is fast enough for some dozen rows.
    fn sort(&mut self) {
        let rows = &mut self.rows[..self.len];
        let mut least = [u32::MAX; Doubt::COUNT];
        for row in rows.iter() {
            let least = &mut least[row.doubt as usize];
            *least = row.surprise.min(*least);
        }
        let place = |row: &Candidate| (row.doubt, (row.surprise - least[row.doubt as usize]) / Candidate::TOLERANCE);
        for end in 1..rows.len() {
            let mut at = end;
            while at > 0 && place(&rows[at]) < place(&rows[at - 1]) {
                rows.swap(at, at - 1);
                at -= 1;
            }
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
    use crate::layouts;
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
    fn a_fresh_id_is_attributed_to_its_system() {
        for (name, layout) in layouts::all().filter(|(_, layout)| layout.ends_at_ms() > NOW_MS) {
            for ahead_ms in [-3_600_000, 0, 1000] {
                let node = if layout.nodes() > 1 { 3 } else { 0 };
                let id = layout.encode_at(NOW_MS + ahead_ms, node.into(), 1.into(), 0.into()).expect("its time");
                let candidates = inspect_integer(id.into(), NOW_MS);
                // Twitter's and Leaf's times are the same, as are Discord's and CalliCoder's.
                let mut now = candidates.iter().take_while(|one| one.timestamp_ms() == candidates[0].timestamp_ms());
                assert!(now.any(|one| one.system() == Some(name)), "{name} {ahead_ms}: {:?}", candidates[0]);
            }
        }
    }

    #[test]
    fn every_system_that_decodes_an_id_is_listed_once() {
        for id in [0, 1, 5, 1 << 53, 1_541_815_603_606_036_480, u64::MAX >> 1, 1 << 63, u64::MAX] {
            let candidates = inspect_integer(id.into(), NOW_MS);
            let mut found: Vec<_> = candidates.iter().filter_map(Candidate::system).collect();
            let decodes = |name: &&str| system::layout(name).expect("a system").decode(id).is_ok();
            let mut able: Vec<_> = SYSTEMS.iter().map(|(name, _)| *name).filter(decodes).collect();
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
    fn the_list_has_room_for_all_forms_of_a_text() {
        // Digits alone: decimal, base 32 and base 36, all below the top of any preset.
        let candidates = inspect("0000000000005", NOW_MS);
        assert_eq!(candidates.len(), CAPACITY);
        assert_eq!(candidates[0].form(), Form::Id(crate::TextForm::Decimal));
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
        assert!(inspect_integer(Integer::Beyond, NOW_MS).is_empty());
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
