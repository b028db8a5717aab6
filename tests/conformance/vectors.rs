//! Core against every vector.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::str::FromStr;

use serde::Deserialize;
use snowmint::audit::{Audit, AuditOptions};
use snowmint_core::ksuid::Ksuid;
use snowmint_core::mask::{Mask, MaskKey, UuidMask};
use snowmint_core::object_id::{ObjectId, ObjectIdState};
use snowmint_core::prefix::{self, Prefix};
use snowmint_core::shown::{Shown, is_hidden};
use snowmint_core::store::KeyPart;
use snowmint_core::ulid::{Ulid, UlidState};
use snowmint_core::uuid::{GregorianStamp, GregorianState, Uuid, UuidForm, V7State};
use snowmint_core::xid::Xid;
use snowmint_core::{
    Error, ErrorKind, Layout, Options, Part, SequenceStart, Snowflake, TextForm, TypeId, Words, names, scatter,
};
use snowmint_inspect::inspect::{inspect, inspect_integer};
use snowmint_tests::{Node, assert_increasing, cases, integer};

/// Replaces an error by its code, so that results can be compared. Checks the error's message on the way.
fn outcome<T>(result: Result<T, Error>) -> Result<T, &'static str> {
    result.map_err(|error| {
        assert!(!error.to_string().is_empty() && !error.to_string().contains('{'), "a message: {error}");
        error.code()
    })
}

fn wanted<T>(value: Option<T>, error: Option<&String>) -> Result<T, &str> {
    match (value, error) {
        (Some(value), None) => Ok(value),
        (None, Some(error)) => Err(error),
        _ => panic!("a case has either results or an error"),
    }
}

fn same<T: Debug + PartialEq>(name: &str, got: &Result<T, &str>, want: &Result<T, &str>) {
    assert_eq!(got, want, "{name}");
}

fn layout(text: &str) -> Layout {
    Layout::find(text).expect("the layouts of vectors are valid")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayoutCase {
    name: String,
    layout: String,
    canonical: Option<String>,
    bits: Option<u32>,
    epoch_ms: Option<i64>,
    tick_ms: Option<u64>,
    ends_at_ms: Option<i64>,
    signed_until_ms: Option<i64>,
    js_safe: Option<bool>,
    nodes: Option<String>,
    ids_per_tick: Option<String>,
    ids_per_second: Option<String>,
    fields: Option<Vec<(String, u32)>>,
    tick_us: Option<u64>,
    mintable: Option<bool>,
    error: Option<String>,
}

#[test]
fn layouts_parse_and_print_with_their_facts() {
    for case in cases::<LayoutCase>("layouts") {
        let facts = Layout::find(&case.layout).map(|layout| {
            assert_eq!(Layout::parse(layout.to_string()), Ok(layout), "{}: parse(print(x)) == x", case.name);
            let fields = layout.fields().filter(|(name, _)| name.as_str() != "unused");
            (
                (layout.to_string(), layout.bits(), layout.epoch_ms(), layout.tick_ms(), layout.ends_at_ms()),
                (layout.signed_until_ms(), layout.js_safe(), layout.nodes().to_string()),
                (layout.ids_per_tick().to_string(), layout.ids_per_second().to_string()),
                fields.map(|(name, field)| (name.to_string(), field.width())).collect::<Vec<_>>(),
                (layout.tick_us(), layout.is_mintable()),
            )
        });
        let want = (|| {
            Some((
                (case.canonical?, case.bits?, case.epoch_ms?, case.tick_ms?, case.ends_at_ms?),
                (case.signed_until_ms, case.js_safe?, case.nodes?),
                (case.ids_per_tick?, case.ids_per_second?),
                case.fields?,
                (case.tick_us?, case.mintable?),
            ))
        })();
        same(&case.name, &outcome(facts), &wanted(want, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecodeCase {
    name: String,
    layout: String,
    id: String,
    tick: Option<String>,
    timestamp_ms: Option<i64>,
    timestamp_us: Option<String>,
    node: Option<String>,
    sequence: Option<String>,
    fields: Option<BTreeMap<String, String>>,
    error: Option<String>,
}

#[test]
fn ids_decode_to_their_parts() {
    for case in cases::<DecodeCase>("decode") {
        let layout = layout(&case.layout);
        let parts = integer(&case.id).id().and_then(|id| {
            let parts = layout.decode(id)?;
            assert_eq!(layout.encode(&parts), Ok(id), "{}: encode(decode(id)) == id", case.name);
            let fields = layout.field_values(id).map(|(name, value)| (name.to_string(), value.to_string()));
            Ok((
                parts.tick.to_string(),
                (parts.timestamp_ms, parts.timestamp_us().to_string()),
                parts.node.to_string(),
                parts.sequence.to_string(),
                fields.collect::<BTreeMap<_, _>>(),
            ))
        });
        let want = (|| {
            Some((case.tick?, (case.timestamp_ms?, case.timestamp_us?), case.node?, case.sequence?, case.fields?))
        })();
        same(&case.name, &outcome(parts), &wanted(want, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncodeCase {
    name: String,
    layout: String,
    timestamp_ms: i64,
    node: Option<Node>,
    sequence: Option<String>,
    random: Option<String>,
    opaque: Option<String>,
    /// The instant in microseconds, where `timestamp_ms` is not exact.
    timestamp_us: Option<String>,
    id: Option<String>,
    error: Option<String>,
}

#[test]
fn parts_encode_to_their_id() {
    for case in cases::<EncodeCase>("encode") {
        let layout = layout(&case.layout);
        let node = case.node.as_ref().map(|node| Part::Node(node.integer(&layout).and_then(|node| layout.node(node))));
        let us = case.timestamp_us.as_ref();
        let time = us.map_or(Part::Ms(case.timestamp_ms), |us| Part::unix_us(us.parse().expect("microseconds")));
        let sequence = case.sequence.as_deref().map(|text| Part::Sequence(integer(text)));
        let random = case.random.iter().chain(&case.opaque).map(|text| Part::Random(integer(text)));
        let id = layout.encode_parts([Some(time), node, sequence].into_iter().flatten().chain(random));
        same(&case.name, &outcome(id.map(|id| id.to_string())), &wanted(case.id, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenCase {
    name: String,
    layout: String,
    /// An ID, all of whose parts are given.
    of: Option<String>,
    timestamp_ms: Option<String>,
    timestamp_us: Option<String>,
    node: Option<Node>,
    sequence: Option<String>,
    random: Option<String>,
    opaque: Option<String>,
    id: Option<String>,
    error: Option<String>,
}

#[test]
fn parts_that_are_given_twice_have_one_value() {
    for case in cases::<GivenCase>("given") {
        let layout = layout(&case.layout);
        let mut given = Vec::new();
        if let Some(id) = case.of {
            let parts = layout.decode(integer(&id).id().expect("an ID")).expect("an ID of the layout");
            let extra_us = u32::from(parts.extra_us);
            given.extend([Part::Ms(parts.timestamp_ms), Part::Us(parts.timestamp_ms, extra_us)]);
            given.extend([Part::Tick(parts.tick.into()), Part::Node(Ok(parts.node))]);
            given.extend([Part::Sequence(parts.sequence.into()), Part::Random(parts.random.into())]);
        }
        let numbers = |texts: [Option<String>; 2]| texts.into_iter().flatten().map(|text| integer(&text));
        given.extend(numbers([case.timestamp_ms, None]).map(|ms| Part::Ms(ms.instant())));
        given.extend(numbers([case.timestamp_us, None]).map(|us| Part::unix_us(us.instant())));
        if let Some(node) = case.node {
            given.push(Part::Node(node.integer(&layout).and_then(|node| layout.node(node))));
        }
        given.extend(numbers([case.sequence, None]).map(Part::Sequence));
        given.extend(numbers([case.random, case.opaque]).map(Part::Random));
        let id = layout.encode_parts(given.iter().copied()).map(|id| id.to_string());
        given.reverse();
        assert_eq!(
            layout.encode_parts(given.iter().copied()).map(|id| id.to_string()),
            id,
            "{}: in another order",
            case.name
        );
        same(&case.name, &outcome(id), &wanted(case.id, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionCase {
    name: String,
    option: String,
    value: String,
    taken: Option<String>,
    error: Option<String>,
}

#[test]
fn options_are_taken_or_refused() {
    for case in cases::<OptionCase>("options") {
        let taken = match case.option.as_str() {
            "sequence_start" => SequenceStart::find(&case.value).map(|start| start.name().to_owned()),
            length => integer(&case.value).ms(length).map(|ms| ms.to_string()),
        };
        same(&case.name, &outcome(taken), &wanted(case.taken, case.error.as_ref()));
    }
}

/// A number, or a decimal string beyond 2^53.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Safe(i64),
    Text(String),
}

impl Number {
    fn instant(&self) -> i64 {
        match self {
            Self::Safe(ms) => *ms,
            Self::Text(text) => integer(text).instant(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeCase {
    name: String,
    layout: String,
    from_ms: Number,
    to_ms: Number,
    lowest: Option<String>,
    highest: Option<String>,
    error: Option<String>,
}

#[test]
fn time_ranges_are_id_ranges() {
    for case in cases::<RangeCase>("id_range") {
        let range = layout(&case.layout).id_range(case.from_ms.instant(), case.to_ms.instant());
        let range = range.map(|range| (range.start().to_string(), range.end().to_string()));
        same(&case.name, &outcome(range), &wanted(case.lowest.zip(case.highest), case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditCase {
    name: String,
    layout: String,
    ids: Vec<String>,
    findings: Vec<Found>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    kind: String,
    node: Option<String>,
    ids: u64,
    repeated: u64,
}

#[test]
fn lists_of_ids_have_these_findings() {
    for case in cases::<AuditCase>("audit") {
        let mut audit = Audit::at(&layout(&case.layout), &AuditOptions::default(), 1_790_000_000_000);
        audit.extend(case.ids.iter().map(|id| id.parse::<u64>().expect("an ID")));
        let report = audit.finish();
        let found = report.findings.iter().map(|finding| Found {
            kind: finding.kind.name().to_owned(),
            node: finding.node.map(|node| node.to_string()),
            ids: finding.ids,
            repeated: finding.repeated,
        });
        assert_eq!(found.collect::<Vec<_>>(), case.findings, "{}", case.name);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextCase {
    name: String,
    form: String,
    id: Option<String>,
    #[serde(default)]
    text: String,
    /// An integer that has no text.
    write: Option<String>,
    #[serde(default)]
    decode_only: bool,
    error: Option<String>,
}

#[test]
fn texts_encode_ids() {
    for case in cases::<TextCase>("text") {
        if let Some(id) = case.write {
            let written = TextForm::write(&case.form, integer(&id)).map(|text| text.as_str().to_owned());
            same(&case.name, &outcome(written), &wanted(None, case.error.as_ref()));
            continue;
        }
        let form = TextForm::find(&case.form).expect("the forms of texts are known");
        let decoded = form.decode(&case.text);
        if let (Ok(id), false) = (decoded, case.decode_only) {
            assert_eq!(form.encode(id).as_str(), case.text, "{}", case.name);
        }
        same(&case.name, &outcome(decoded.map(|id| id.to_string())), &wanted(case.id, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScatterCase {
    name: String,
    function: String,
    id: String,
    by: Option<String>,
    scattered: Option<String>,
    error: Option<String>,
}

#[test]
fn ids_are_scattered_and_restored() {
    for case in cases::<ScatterCase>("scatter") {
        let by = || integer(case.by.as_deref().expect("digits or bits")).count();
        let (there, back): (&dyn Fn(u64) -> _, &dyn Fn(u64) -> _) = match case.function.as_str() {
            "rotate_digits" => (&|id| scatter::rotate_digits(id, by()), &|id| scatter::unrotate_digits(id, by())),
            "unrotate_digits" => (&|id| scatter::unrotate_digits(id, by()), &|id| scatter::rotate_digits(id, by())),
            "shard_high" => (&|id| scatter::shard_high(id, by()), &|id| scatter::unshard_high(id, by())),
            "unshard_high" => (&|id| scatter::unshard_high(id, by()), &|id| scatter::shard_high(id, by())),
            "reverse_bits" if case.by.is_none() => (&scatter::reverse_bits, &scatter::reverse_bits),
            other => panic!("{}: no such function as {other}", case.name),
        };
        let scattered = integer(&case.id).id().and_then(|id| {
            let scattered = there(id)?;
            assert_eq!(back(scattered), Ok(id), "{}: the inverse", case.name);
            Ok(scattered.to_string())
        });
        same(&case.name, &outcome(scattered), &wanted(case.scattered, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InspectCase {
    name: String,
    value: Option<String>,
    integer: Option<String>,
    now_ms: i64,
    candidates: Vec<CandidateRow>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct CandidateRow {
    kind: String,
    layout: Option<String>,
    form: String,
    timestamp_ms: Option<i64>,
    confidence: String,
    reason: String,
}

#[test]
fn inspect_lists_candidates_with_their_reasons() {
    for case in cases::<InspectCase>("inspect") {
        let candidates = match (&case.value, &case.integer) {
            (Some(text), None) => inspect(text, case.now_ms),
            (None, Some(value)) => inspect_integer(integer(value), case.now_ms),
            _ => panic!("{}: either a text or an integer", case.name),
        };
        let rows = candidates.iter().map(|candidate| CandidateRow {
            kind: candidate.kind().name().into(),
            layout: candidate.system().map(String::from),
            form: candidate.form().name().into(),
            timestamp_ms: candidate.timestamp_ms(),
            confidence: candidate.confidence().name().into(),
            reason: candidate.reason().to_string(),
        });
        assert_eq!(rows.collect::<Vec<_>>(), case.candidates, "{}", case.name);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UuidCase {
    name: String,
    function: String,
    time: Option<String>,
    clock_sequence: Option<String>,
    node: Option<String>,
    timestamp_ms: Option<i64>,
    random: Option<String>,
    namespace: Option<String>,
    of: Option<String>,
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    text: Option<String>,
    bytes: Option<String>,
    form: Option<String>,
    #[serde(default)]
    read_only: bool,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
    lowest: Option<String>,
    highest: Option<String>,
    uuid: Option<String>,
    error: Option<String>,
}

/// Reads a decimal string. A number that the type cannot hold becomes `largest`, which no field accepts.
fn number<N: FromStr>(decimal: Option<&String>, largest: N) -> N {
    decimal.expect("it is there").parse().unwrap_or(largest)
}

fn hexadecimal(digits: Option<&String>) -> u128 {
    u128::from_str_radix(digits.expect("it is there"), 16).expect("hexadecimal digits")
}

/// Returns the hexadecimal digits of bytes.
fn digits(bytes: impl IntoIterator<Item = u8>) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl UuidCase {
    fn stamp(&self) -> GregorianStamp {
        GregorianStamp {
            time: number(self.time.as_ref(), u64::MAX),
            clock_sequence: number(self.clock_sequence.as_ref(), u16::MAX),
            node: number(self.node.as_ref(), u64::MAX),
        }
    }

    /// Calls core's function of the case.
    fn uuid(&self) -> Result<Uuid, Error> {
        let namespace = || self.namespace.as_ref().expect("it is there").parse();
        let of = || self.of.as_ref().expect("it is there");
        match self.function.as_str() {
            "uuid1" => self.stamp().v1(),
            "uuid3" => Ok(Uuid::v3(namespace()?, of())),
            "uuid4" => Ok(Uuid::v4(hexadecimal(self.random.as_ref()))),
            "uuid5" => Ok(Uuid::v5(namespace()?, of())),
            "uuid6" => self.stamp().v6(),
            "uuid7" => Uuid::v7(self.timestamp_ms.expect("it is there"), hexadecimal(self.random.as_ref())),
            "uuid8" => {
                let (a, c) = (number(self.a.as_ref(), u64::MAX), number(self.c.as_ref(), u64::MAX));
                Uuid::v8(a, number(self.b.as_ref(), u16::MAX), c)
            }
            "read" => self.text.as_ref().expect("it is there").parse(),
            "swap" => Ok(Uuid::from_bits(hexadecimal(self.bytes.as_ref())).unswapped()),
            "short" => {
                let (form, text) = (UuidForm::find(self.form.as_ref().expect("it is there"))?, self.text.as_ref());
                let uuid = form.decode(text.expect("it is there"))?;
                assert_eq!(form.encode(uuid).as_str() == text.expect("it is there"), !self.read_only, "{}", self.name);
                Ok(uuid)
            }
            other => panic!("{}: no such function as {other}", self.name),
        }
    }

    fn check_range(&self) {
        let range = Uuid::v7_range(self.from_ms.expect("it is there"), self.to_ms.expect("it is there"));
        let range = range.map(|range| [range.start().to_string(), range.end().to_string()]);
        let want = self.lowest.clone().zip(self.highest.clone()).map(<[String; 2]>::from);
        same(&self.name, &outcome(range), &wanted(want, self.error.as_ref()));
    }
}

#[test]
fn uuids_are_made_of_their_parts_and_read() {
    for case in cases::<UuidCase>("uuid") {
        if case.function == "range" {
            case.check_range();
            continue;
        }
        let uuid = case.uuid();
        if let Ok(uuid) = uuid {
            let version = case.function.strip_prefix("uuid").map(|version| version.parse().ok());
            assert_eq!(version.unwrap_or(uuid.version()), uuid.version(), "{}", case.name);
            assert_eq!(case.timestamp_ms.or(uuid.timestamp_ms()), uuid.timestamp_ms(), "{}", case.name);
            if matches!(case.function.as_str(), "uuid1" | "uuid6") {
                let stamp = case.stamp();
                let parts = (uuid.gregorian_100ns(), uuid.clock_sequence(), uuid.node());
                assert_eq!(parts, (Some(stamp.time), Some(stamp.clock_sequence), Some(stamp.node)), "{}", case.name);
            }
            if let Some(bytes) = &case.bytes {
                assert_eq!(&digits(uuid.swapped().to_bytes()), bytes, "{}", case.name);
            }
        }
        let uuid = uuid.map(|uuid| uuid.to_string());
        same(&case.name, &outcome(uuid), &wanted(case.uuid, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UlidCase {
    name: String,
    text: Option<String>,
    timestamp_ms: Option<i64>,
    randomness: Option<String>,
    bytes: Option<String>,
    #[serde(default)]
    read_only: bool,
    error: Option<String>,
}

#[test]
fn ulids_are_made_of_their_parts_and_read() {
    for case in cases::<UlidCase>("ulid") {
        let built = case.timestamp_ms.map(|ms| Ulid::from_parts(ms, number(case.randomness.as_ref(), u128::MAX)));
        let Some(text) = &case.text else {
            let built = built.expect("parts").map(|ulid| ulid.to_string());
            same(&case.name, &outcome(built), &wanted(None, case.error.as_ref()));
            continue;
        };
        let read = text.parse::<Ulid>();
        if let Ok(ulid) = read {
            assert_eq!(built, Some(Ok(ulid)), "{}", case.name);
            assert_eq!(&ulid.to_string() != text, case.read_only, "{}", case.name);
        }
        let parts = |ulid: Ulid| (ulid.timestamp_ms(), ulid.random().to_string(), digits(ulid.to_bytes()));
        let want = (|| Some((case.timestamp_ms?, case.randomness?, case.bytes?)))();
        same(&case.name, &outcome(read.map(parts)), &wanted(want, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectIdCase {
    name: String,
    text: Option<String>,
    timestamp_ms: Option<i64>,
    random: Option<String>,
    counter: Option<String>,
    #[serde(default)]
    read_only: bool,
    error: Option<String>,
}

#[test]
fn object_ids_are_made_of_their_parts_and_read() {
    for case in cases::<ObjectIdCase>("object_id") {
        let counter = |case: &ObjectIdCase| number(case.counter.as_ref(), u32::MAX);
        let built = case
            .timestamp_ms
            .map(|ms| ObjectId::from_parts(ms, number(case.random.as_ref(), u64::MAX), counter(&case)));
        let Some(text) = &case.text else {
            let built = built.expect("parts").map(|id| id.to_string());
            same(&case.name, &outcome(built), &wanted(None, case.error.as_ref()));
            continue;
        };
        let read = text.parse::<ObjectId>();
        if let Ok(id) = read {
            assert_eq!(built, Some(Ok(id)), "{}", case.name);
            assert_eq!(&id.to_string() != text, case.read_only, "{}", case.name);
            assert_eq!(digits(id.to_bytes()), id.to_string(), "{}", case.name);
        }
        let parts = |id: ObjectId| (id.timestamp_ms(), id.random().to_string(), id.counter().to_string());
        let want = (|| Some((case.timestamp_ms?, case.random?, case.counter?)))();
        same(&case.name, &outcome(read.map(parts)), &wanted(want, case.error.as_ref()));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MintCase {
    name: String,
    kind: String,
    last: Option<String>,
    calls: Vec<MintCall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MintCall {
    now_ms: Option<i64>,
    now_100ns: Option<String>,
    random: Vec<u32>,
    id: Option<String>,
    error: Option<String>,
    retry_after_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KsuidCase {
    name: String,
    text: Option<String>,
    timestamp_ms: Option<i64>,
    payload: Option<String>,
    error: Option<String>,
}

#[test]
fn ksuids_are_made_of_their_parts_and_read() {
    for case in cases::<KsuidCase>("ksuid") {
        let make = || Ksuid::from_parts(case.timestamp_ms.expect("a time"), hexadecimal(case.payload.as_ref()));
        let got = match &case.text {
            None => make().map(|_| ()),
            Some(text) => text.parse::<Ksuid>().map(|ksuid| {
                assert_eq!(make(), Ok(ksuid), "{}", case.name);
                assert_eq!(
                    (ksuid.to_string(), Ksuid::from_bytes(ksuid.to_bytes())),
                    (text.clone(), ksuid),
                    "{}",
                    case.name
                );
                assert_eq!(Some(ksuid.timestamp_ms()), case.timestamp_ms, "{}", case.name);
            }),
        };
        assert_eq!(outcome(got).err(), case.error.as_deref(), "{}", case.name);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct XidCase {
    name: String,
    text: Option<String>,
    timestamp_ms: Option<i64>,
    random: Option<String>,
    counter: Option<String>,
    error: Option<String>,
}

#[test]
fn xids_are_made_of_their_parts_and_read() {
    for case in cases::<XidCase>("xid") {
        let make = || {
            let (random, counter) = (number(case.random.as_ref(), u64::MAX), number(case.counter.as_ref(), u32::MAX));
            Xid::from_parts(case.timestamp_ms.expect("a time"), random, counter)
        };
        let got = match &case.text {
            None => make().map(|_| ()),
            Some(text) => text.parse::<Xid>().map(|xid| {
                assert_eq!(make(), Ok(xid), "{}", case.name);
                assert_eq!((xid.to_string(), Xid::from_bytes(xid.to_bytes())), (text.clone(), xid), "{}", case.name);
            }),
        };
        assert_eq!(outcome(got).err(), case.error.as_deref(), "{}", case.name);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MaskCase {
    name: String,
    key: String,
    tweak: Option<String>,
    digits: Option<i64>,
    id: Option<String>,
    uuid: Option<String>,
    masked: Option<String>,
    error: Option<String>,
}

impl MaskCase {
    fn key(&self) -> Result<MaskKey, Error> {
        let key = MaskKey::new(bytes_of(&self.key));
        assert_eq!(key.is_ok(), self.key.parse::<MaskKey>().is_ok(), "{}", self.name);
        key
    }

    fn mask(&self) -> Result<Mask, Error> {
        let mask = Mask::new(self.key()?).with_tweak(bytes_of(self.tweak.as_deref().unwrap_or_default()))?;
        match self.digits {
            Some(digits) => mask.with_digits(digits),
            None => Ok(mask),
        }
    }

    /// Masks the ID or the UUID, and unmasks it; or only unmasks.
    fn masked(&self) -> Result<String, Error> {
        let masked = self.masked.as_deref();
        match (&self.id, &self.uuid) {
            (Some(id), None) => {
                let (mask, id) = (self.mask()?, integer(id).id()?);
                let masked = mask.encode(id)?;
                assert_eq!(mask.decode(masked), Ok(id), "{}", self.name);
                Ok(masked.to_string())
            }
            (None, Some(uuid)) => {
                let (mask, uuid) = (UuidMask::new(self.key()?), uuid.parse()?);
                let masked = mask.encode(uuid)?;
                assert_eq!(mask.decode(masked), Ok(uuid), "{}", self.name);
                Ok(masked.to_string())
            }
            _ => match masked.expect("it is there").parse::<Uuid>() {
                Ok(uuid) => UuidMask::new(self.key()?).decode(uuid).map(|uuid| uuid.to_string()),
                Err(_) => self.mask()?.decode(integer(masked.expect("it is there")).id()?).map(|id| id.to_string()),
            },
        }
    }
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[test]
fn ids_are_masked_and_unmasked() {
    for case in cases::<MaskCase>("mask") {
        let want = if case.error.is_some() { None } else { case.masked.clone() };
        same(&case.name, &outcome(case.masked()), &wanted(want, case.error.as_ref()));
    }
}

/// How many random IDs to mask: a million where `SNOWMINT_TRIES` says so.
fn tries() -> u64 {
    std::env::var("SNOWMINT_TRIES").map_or(2000, |tries| tries.parse().expect("a number"))
}

#[test]
fn many_ids_come_back_from_their_masks() {
    let key: MaskKey = "000102030405060708090a0b0c0d0e0f".parse().expect("a key");
    let (mask, digits, uuids) = (Mask::new(key), Mask::new(key).with_digits(18).expect("digits"), UuidMask::new(key));
    let last = u64::MAX >> 1;
    let borders = (0..63).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1, last - (1 << bit)]);
    // SplitMix64.
    let random = (1..=tries()).map(|place| {
        let z = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 1
    });
    for id in borders.chain(random) {
        let masked = mask.encode(id).expect("63 bits");
        assert!(masked <= last && mask.decode(masked) == Ok(id), "{id}");
        let short = id % 10u64.pow(18);
        assert_eq!(digits.encode(short).and_then(|masked| digits.decode(masked)), Ok(short));
        let ms = i64::try_from(id >> 16).expect("47 bits");
        let uuid = Uuid::v7(ms, u128::from(masked) << 11 | 5).expect("a time");
        let masked = uuids.encode(uuid).expect("a version 7");
        assert_eq!((masked.version(), uuids.decode(masked)), (Some(4), Ok(uuid)));
    }
}

/// A function that mints the next ID from the time and random bits, and returns its text.
type Mint = Box<dyn FnMut(i64, &mut dyn FnMut() -> u32) -> Result<String, Error>>;

fn minting(kind: &str, last: Option<&String>) -> Mint {
    fn text<T: ToString>(id: Result<T, Error>) -> Result<String, Error> {
        id.map(|id| id.to_string())
    }
    match kind {
        "uuid1" | "uuid6" => {
            let version = if kind == "uuid1" { GregorianStamp::v1 } else { GregorianStamp::v6 };
            let mut state = GregorianState::new();
            Box::new(move |now, random| text(state.next(now, random).and_then(version)))
        }
        "uuid7" => {
            let after = |last: &String| V7State::after(last.parse().expect("a UUID")).expect("a version 7");
            let mut state = last.map_or_else(V7State::new, after);
            Box::new(move |now, random| text(state.next(now, random)))
        }
        "ulid" => {
            let after = |last: &String| UlidState::after(last.parse().expect("a ULID"));
            let mut state = last.map_or_else(UlidState::new, after);
            Box::new(move |now, random| text(state.next(now, random)))
        }
        "object_id" => {
            let mut state = ObjectIdState::new();
            Box::new(move |now, random| text(state.next(now, random)))
        }
        other => panic!("{other} is not minted"),
    }
}

#[test]
fn scripted_clocks_and_random_bits_mint_exactly_these_ids() {
    for case in cases::<MintCase>("mint") {
        let mut mint = minting(&case.kind, case.last.as_ref());
        for (i, call) in case.calls.iter().enumerate() {
            let place = format!("{}, call {}", case.name, i + 1);
            let now = call.now_ms.or(call.now_100ns.as_ref().and_then(|now| now.parse().ok())).expect("a time");
            let mut random = call.random.iter();
            let minted = mint(now, &mut || *random.next().expect("no more are taken"));
            assert!(random.as_slice().is_empty(), "{place}: {random:?} are left");
            assert_eq!(minted.as_ref().err().and_then(Error::retry_after_ms), call.retry_after_ms, "{place}");
            same(&place, &outcome(minted), &wanted(call.id.clone(), call.error.as_ref()));
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefixCase {
    name: String,
    prefix: Option<String>,
    id: Option<String>,
    uuid: Option<String>,
    text: Option<String>,
    r#as: Option<String>,
    error: Option<String>,
}

#[test]
fn ids_have_a_prefix_and_are_read_by_it() {
    fn both_ways<V: prefix::Value + Debug + PartialEq>(name: &str, start: &str, value: V, text: &str) {
        assert_eq!(prefix::encode(start, value).map(|text| text.to_string()), Ok(text.to_owned()), "{name}");
        assert_eq!(prefix::decode(start, text), Ok(value), "{name}");
    }
    for PrefixCase { name, prefix: start, id, uuid, text, r#as, error } in cases("prefix") {
        let id = id.map(|id| id.parse::<u64>().expect("64 bits"));
        let uuid = uuid.map(|uuid| uuid.parse::<Uuid>().expect("a UUID"));
        let failure = match (start, id, uuid, text, r#as.as_deref()) {
            (Some(start), Some(id), None, Some(text), None) => {
                both_ways(&name, &start, id, &text);
                None
            }
            (Some(start), None, Some(uuid), Some(text), None) => {
                both_ways(&name, &start, uuid, &text);
                let id: TypeId = text.parse().expect("a TypeID");
                assert_eq!((id.prefix().as_str(), id.uuid()), (start.as_str(), uuid), "{name}");
                assert_eq!(TypeId::new(Prefix::new(start).expect("a prefix"), uuid).to_string(), text, "{name}");
                None
            }
            (Some(start), Some(id), None, None, None) => prefix::encode(start, id).err(),
            (Some(start), None, None, Some(text), Some("id")) => prefix::decode::<u64>(start, text).err(),
            (Some(start), None, None, Some(text), Some("uuid")) => prefix::decode::<Uuid>(start, text).err(),
            (None, None, None, Some(text), None) => text.parse::<TypeId>().err(),
            _ => panic!("{name}: a case of no kind"),
        };
        let failure = failure.map(|failure| outcome::<()>(Err(failure)).expect_err("an error"));
        assert_eq!(failure, error.as_deref(), "{name}");
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorCase {
    #[serde(rename = "name")]
    _name: String,
    code: String,
}

#[test]
fn error_kinds_have_the_codes_of_every_language() {
    let codes: Vec<_> = cases::<ErrorCase>("errors").into_iter().map(|case| case.code).collect();
    assert_eq!(codes, ErrorKind::ALL.map(ErrorKind::code));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GenerateCase {
    name: String,
    layout: String,
    node: String,
    options: CaseOptions,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseOptions {
    max_ahead_ms: u64,
    sequence_start: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    now_ms: i64,
    n: i64,
    ids: Option<Vec<String>>,
    first: Option<String>,
    last: Option<String>,
    error: Option<String>,
    retry_after_ms: Option<u64>,
    by_ms: Option<u64>,
}

#[test]
fn a_scripted_clock_gives_exactly_these_ids() {
    for case in cases::<GenerateCase>("generate") {
        let layout = layout(&case.layout);
        let node = layout.node(integer(&case.node)).expect("the nodes of runs fit");
        let options = Options {
            max_ahead_ms: case.options.max_ahead_ms,
            max_wait_ms: 0,
            sequence_start: SequenceStart::find(&case.options.sequence_start).expect("a start"),
            ..Options::DEFAULT
        };
        let generator = Snowflake::with(&layout, node, options, Words::vouched());
        for (i, call) in case.calls.iter().enumerate() {
            let place = format!("{}, call {}", case.name, i + 1);
            let minted = snowmint_core::Integer::from(call.n).batch().and_then(|count| match count {
                0 => Ok(Vec::new()),
                1 => generator.try_next_id(call.now_ms).map(|id| vec![id]),
                _ => generator.try_run(call.now_ms, count as u64, 0).map(Iterator::collect),
            });
            let error = minted.as_ref().err().map(|error| (error.code(), error.retry_after_ms(), error.by_ms()));
            let want = call.error.as_ref().map(|code| (code.as_str(), call.retry_after_ms, call.by_ms));
            assert_eq!(error, want, "{place}");
            let Ok(ids) = minted else { continue };
            assert_increasing(&ids);
            assert_eq!(i64::try_from(ids.len()), Ok(call.n), "{place}");
            let texts: Vec<_> = ids.iter().map(u64::to_string).collect();
            match (&call.ids, &call.first, &call.last) {
                (Some(want), None, None) => assert_eq!(&texts, want, "{place}"),
                (None, first @ Some(_), last @ Some(_)) => {
                    assert_eq!((texts.first(), texts.last()), (first.as_ref(), last.as_ref()), "{place}");
                }
                _ => panic!("{place}: either ids, or first and last"),
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShownCase {
    name: String,
    text: String,
    shown: String,
}

#[test]
fn texts_of_others_are_shown_without_control_characters() {
    for ShownCase { name, text, shown } in cases("shown") {
        assert_eq!(Shown(&text).to_string(), shown, "{name}");
        assert_eq!(Shown(&shown).to_string(), shown, "{name}: once more");
        assert!(!shown.contains(is_hidden), "{name}");
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameCase {
    name: String,
    text: String,
    key: Option<String>,
    error: Option<String>,
}

#[test]
fn names_are_one_text_for_what_looks_the_same() {
    for NameCase { name, text, key, error } in cases("names") {
        let part = outcome(names::refuse_new(&text)).map(|()| {
            let mut part = String::new();
            KeyPart::new(&mut part).write_str(&text).expect("a string");
            part
        });
        same(&name, &part, &wanted(key, error.as_ref()));
    }
}
