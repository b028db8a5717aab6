//! The parts of IDs, and the systems that could have minted them.

use serde::{Serialize, Serializer};
use snowmint_core::shown::Shown;
use snowmint_core::{Error, Integer, Layout};
use snowmint_inspect::inspect::{Candidate, Confidence, Kind};

use super::{headline, instant, name};

/// The fields that follow the nodes, in this order.
const COUNTERS: [&str; 3] = ["sequence", "random", "opaque"];

/// Fields with their values or widths, high to low: an object of JSON in this order.
#[derive(Debug)]
pub(crate) struct Fields(pub(super) Vec<(String, u64)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The parts of an ID. One that is no Snowflake ID has a time alone.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Parts {
    /// RFC 3339, or null outside the years 1 to 9999.
    timestamp: Option<String>,
    /// Unix ms.
    timestamp_ms: i64,
    #[serde(flatten)]
    bits: Option<Bits>,
}

/// The parts of a Snowflake ID beside its time in ms.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct Bits {
    /// Unix microseconds.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    timestamp_us: i128,
    /// Ticks since the layout's epoch.
    tick: u64,
    /// All node fields together.
    node: u32,
    sequence: u64,
    /// Each field by its name.
    #[cfg_attr(feature = "schema", schema(value_type = std::collections::BTreeMap<String, u64>))]
    fields: Fields,
}

impl Parts {
    fn of(id: u64, layout: &Layout) -> Result<Self, Error> {
        let parts = layout.decode(id)?;
        let mut timestamp = instant(parts.timestamp_ms);
        if let Some(text) = timestamp.as_mut().filter(|_| layout.has_fine_ticks()) {
            // The microseconds, before the Z.
            text.insert_str(text.len() - 1, &format!("{:03}", parts.extra_us));
        }
        let fields = layout.field_values(id).map(|(name, value)| (name.as_str().to_owned(), value));
        let bits = Bits {
            timestamp_us: parts.timestamp_us(),
            tick: parts.tick,
            node: parts.node,
            sequence: parts.sequence,
            fields: Fields(fields.collect()),
        };
        Ok(Self { timestamp, timestamp_ms: parts.timestamp_ms, bits: Some(bits) })
    }

    /// Returns time, nodes, sequence and random bits on one line.
    fn text(&self) -> String {
        let mut parts = vec![self.timestamp.clone().unwrap_or_else(|| format!("{} ms", self.timestamp_ms))];
        let fields = self.bits.iter().flat_map(|bits| &bits.fields.0);
        let mut fields: Vec<_> = fields.filter(|(name, _)| name != "time").collect();
        // Nodes come first, as they are not found.
        fields.sort_by_key(|(name, _)| COUNTERS.iter().position(|counter| counter == name));
        parts.extend(fields.into_iter().map(|(name, value)| format!("{name} {value}")));
        parts.join("  ")
    }
}

/// An ID under one layout.
#[derive(Debug, Serialize)]
pub(crate) struct Decoded {
    id: String,
    layout: String,
    #[serde(flatten)]
    parts: Parts,
}

impl Decoded {
    /// Decodes an integer. A negative one is the signed form of the same 64 bits.
    ///
    /// # Errors
    /// `InvalidId`, if the layout cannot have minted the ID.
    pub(crate) fn new(value: Integer, layout: &Layout) -> Result<Self, Error> {
        let sign = if matches!(value, Integer::Negative(_)) { "-" } else { "" };
        let parts = Parts::of(value.id()?, layout)?;
        Ok(Self { id: format!("{sign}{}", value.magnitude()), layout: name(layout), parts })
    }

    /// Returns the ID and its parts on one line.
    pub(crate) fn text(&self) -> String {
        format!("{}  {}\n", self.id, self.parts.text())
    }
}

/// An ID and the systems that could have minted it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Found {
    /// The ID as in the request.
    id: String,
    /// The most plausible candidate first.
    candidates: Vec<Guess>,
}

/// A system that could have minted an ID.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct Guess {
    /// The name of the system of a Snowflake ID.
    layout: Option<&'static str>,
    /// The kind of any other ID: `uuid1` to `uuid8`, `uuid_nil`, `uuid_max`, `uuid`, `ulid`, `object_id`, `type_id`, `ksuid`,
    /// `xid`, `firebase_push_id`, `cuid`, `scru128`, `redis_stream_id`, `xray_trace_id`, `aidx`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(flatten)]
    parts: Option<Parts>,
    /// The form in which the ID was read, such as `decimal`, `base64url` or `uuid`.
    form: &'static str,
    /// How sure the place of the candidate is: `high`, `medium`, `tied`, `low` or `unlikely`.
    confidence: &'static str,
    /// Why the candidate is plausible or not.
    reason: String,
}

impl Found {
    /// Describes the candidates of a value, which is the text that was inspected.
    ///
    /// # Examples
    /// ```
    /// use snowmint_cli::tables::Found;
    /// let found = Found::new("garbage", &snowmint_inspect::inspect("garbage", 1_790_000_000_000));
    /// assert_eq!(serde_json::to_string(&found)?, r#"{"id":"garbage","candidates":[]}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new(value: &str, candidates: &[Candidate]) -> Self {
        Self { id: value.to_owned(), candidates: candidates.iter().map(Guess::of).collect() }
    }

    /// Returns a line for the ID, and two for each candidate: its parts and its reason.
    pub(crate) fn text(&self, bold: bool) -> String {
        let mut text = headline(&Shown(&self.id).to_string(), bold);
        for guess in &self.candidates {
            text += &guess.text();
        }
        if self.candidates.is_empty() {
            text += "  nothing known to us looks like this\n";
        }
        text
    }
}

impl Guess {
    fn of(candidate: &Candidate) -> Self {
        let parts = match (candidate.kind(), candidate.layout()) {
            (Kind::Snowflake { id, .. }, Some(layout)) => Parts::of(id, &layout).ok(),
            _ => None,
        };
        let time = |timestamp_ms| Parts { timestamp: instant(timestamp_ms), timestamp_ms, bits: None };
        Self {
            layout: candidate.system(),
            kind: candidate.system().is_none().then(|| candidate.kind().name()),
            parts: parts.or_else(|| candidate.timestamp_ms().map(time)),
            form: candidate.form().name(),
            confidence: candidate.confidence().name(),
            reason: candidate.reason().to_string(),
        }
    }

    fn text(&self) -> String {
        let name = self.layout.or(self.kind).unwrap_or_default();
        let parts = self.parts.as_ref().filter(|parts| parts.bits.is_some());
        let parts = parts.map(|parts| format!("{}\n  {:<11}  ", parts.text(), "")).unwrap_or_default();
        // The reason of an unlikely candidate says so.
        let sure = match self.confidence {
            confidence if confidence == Confidence::Unlikely.name() => String::new(),
            confidence => format!("{confidence}: "),
        };
        format!("  {name:<11}  {parts}{sure}{}\n", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use snowmint_core::layouts;
    use snowmint_inspect::inspect;

    use super::*;

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).expect("JSON")
    }

    #[test]
    fn an_id_and_its_parts_are_on_one_line() {
        let text = |id: u64, layout| Decoded::new(id.into(), layout).expect("an ID").text();
        assert_eq!(text(0, &layouts::SNOWMINT), "0  2025-01-01T00:00:00.000Z  node 0  sequence 0\n");
        assert_eq!(
            text(1_541_815_603_606_036_480, &layouts::TWITTER),
            "1541815603606036480  2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0\n"
        );
        let above = Layout::parse("sequence:2,random:3,node:4,time:40;epoch=0;tick=500us").expect("a layout");
        assert_eq!(text(1, &above), "1  1970-01-01T00:00:00.000500Z  node 0  sequence 0  random 0\n");
    }

    #[test]
    fn a_negative_id_keeps_its_sign() {
        let decoded = Decoded::new(Integer::from(-1), &layouts::MASTODON).expect("an ID");
        let text = decoded.text();
        assert!(text.starts_with("-1  ") && text.ends_with("  sequence 65535\n"), "{text}");
        let json = json(&decoded);
        assert!(json.starts_with(r#"{"id":"-1","layout":"mastodon","timestamp":null,"timestamp_ms":"#), "{json}");
        assert!(json.ends_with(r#""fields":{"time":281474976710655,"sequence":65535}}"#), "{json}");
        assert!(Decoded::new(Integer::from(-1), &layouts::TWITTER).is_err());
    }

    #[test]
    fn candidates_have_a_line_for_parts_and_one_for_the_reason() {
        let found = |text| Found::new(text, &inspect(text, 1_790_000_000_000));
        let tweet = found("1541815603606036480").text(false);
        let shown: Vec<_> = tweet.lines().collect();
        assert_eq!(shown[1], "  twitter      2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0");
        assert_eq!(shown[2], "               high: time 2022-06-28, 4.2 years before now; sequence 0");
        assert_eq!(Found::new("5\u{1b}[2J\r", &[]).text(false).lines().next(), Some(r"5\u{1b}[2J\r"));
        let uuid = json(&found("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
        let start =
            r#""candidates":[{"layout":null,"kind":"uuid7","timestamp":"2022-02-22T19:22:22.000Z","timestamp_ms":"#;
        assert!(uuid.contains(start), "{uuid}");
    }
}
