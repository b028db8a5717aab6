//! What IDs say.

use serde::Serialize;
use snowmint_core::inspect::{Candidate, Kind};
use snowmint_core::{Error, Layout};
use utoipa::ToSchema;

use super::Style;
use super::figures::{instant, map};

/// The parts of an ID.
#[derive(Debug, Serialize, ToSchema)]
pub struct Told {
    /// RFC 3339, nothing outside the years 1 to 9999.
    timestamp: Option<String>,
    /// Unix ms.
    timestamp_ms: i64,
    /// Ticks since the layout's epoch.
    tick: u64,
    /// All node fields together.
    node: u32,
    sequence: u64,
    /// Every field by its name.
    #[serde(serialize_with = "map")]
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    fields: Vec<(String, u64)>,
}

impl Told {
    fn new(id: u64, layout: &Layout) -> Result<Self, Error> {
        let parts = layout.decode(id)?;
        let fields = layout.field_values(id).filter(|(name, _)| name.as_str() != "unused");
        Ok(Self {
            timestamp: instant(parts.timestamp_ms),
            timestamp_ms: parts.timestamp_ms,
            tick: parts.tick,
            node: parts.node,
            sequence: parts.sequence,
            fields: fields.map(|(name, value)| (name.as_str().to_owned(), value)).collect(),
        })
    }

    fn line(&self) -> String {
        let when = self.timestamp.clone().unwrap_or_else(|| format!("{} ms", self.timestamp_ms));
        let counter = |name: &str| matches!(name, "sequence" | "random");
        let nodes = self.fields.iter().filter(|(name, _)| name != "time" && !counter(name));
        let find = |wanted| self.fields.iter().find(move |(name, _)| name == wanted);
        let counters = ["sequence", "random"].into_iter().filter_map(find);
        let shown = nodes.chain(counters).map(|(name, value)| format!("{name} {value}"));
        [when].into_iter().chain(shown).collect::<Vec<_>>().join("  ")
    }
}

/// An ID under one layout.
#[derive(Debug, Serialize)]
pub struct Decoded {
    id: String,
    layout: String,
    #[serde(flatten)]
    told: Told,
}

impl Decoded {
    /// An ID, shown as that text.
    pub fn new(id: u64, text: String, layout: &Layout) -> Result<Self, Error> {
        let told = Told::new(id, layout)?;
        Ok(Self { id: text, layout: super::name(layout).map_or_else(|| layout.to_string(), str::to_owned), told })
    }
}

/// An ID, and who could have minted it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Found {
    /// As it was given.
    id: String,
    /// The most plausible first.
    pub candidates: Vec<Guess>,
}

/// One that could have minted an ID.
#[derive(Debug, Serialize, ToSchema)]
pub struct Guess {
    /// The name of the system of a snowflake.
    layout: Option<&'static str>,
    /// What it is, if it is no snowflake: `uuid1` to `uuid8`, `uuid_nil`, `uuid_max`, `uuid`, `ulid`, `object_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(flatten)]
    told: Option<Told>,
    /// Why it is plausible or not.
    reason: String,
}

impl Found {
    /// What could have been minted.
    pub fn new(id: String, candidates: &[Candidate]) -> Self {
        Self { id, candidates: candidates.iter().map(Guess::new).collect() }
    }
}

impl Guess {
    fn new(candidate: &Candidate) -> Self {
        let told = match (candidate.kind(), candidate.layout()) {
            (Kind::Snowflake { id, .. }, Some(layout)) => Told::new(id, &layout).ok(),
            _ => None,
        };
        let layout = candidate.system();
        let kind = layout.is_none().then(|| candidate.kind().name());
        Self { layout, kind, told, reason: candidate.reason().to_string() }
    }
}

/// An ID under one layout, in a line.
pub fn decoded(told: &Decoded) -> String {
    format!("{}  {}", told.id, told.told.line())
}

/// An ID, and below it a line or two for each candidate.
pub fn candidates(found: &Found, style: Style) -> String {
    let mut lines = vec![style.headline(&found.id)];
    for guess in &found.candidates {
        let name = guess.layout.or(guess.kind).unwrap_or_default();
        match &guess.told {
            Some(told) => {
                lines.push(format!("  {name:<11}  {}", told.line()));
                lines.push(format!("  {:<11}  {}", "", guess.reason));
            }
            None => lines.push(format!("  {name:<11}  {}", guess.reason)),
        }
    }
    if found.candidates.is_empty() {
        lines.push("  nothing known to us looks like this".to_owned());
    }
    lines.join("\n")
}
