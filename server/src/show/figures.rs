//! All that a layout tells of itself.

use serde::{Serialize, Serializer};
use snowmint_core::{Layout, time};

/// The first instant of the year 10000, beyond which no date is written.
const END_OF_DATES_MS: i64 = 253_402_300_800_000;
/// The first instant of the year 1.
const START_OF_DATES_MS: i64 = -62_135_596_800_000;

/// RFC 3339, in UTC, with ms; nothing outside the years 1 to 9999.
pub fn instant(ms: i64) -> Option<String> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = time::write_rfc3339(&mut text, ms);
    (START_OF_DATES_MS..END_OF_DATES_MS).contains(&ms).then_some(text)
}

/// When something ends, for people.
pub fn ends(ms: Option<i64>) -> String {
    ms.map_or_else(|| "never".to_owned(), |ms| instant(ms).unwrap_or_else(|| "after 9999".to_owned()))
}

/// As JSON.
#[derive(Debug, Serialize)]
pub struct Figures {
    name: Option<&'static str>,
    text: String,
    bits: u32,
    #[serde(serialize_with = "map")]
    fields: Vec<(String, u64)>,
    epoch_ms: i64,
    tick_ms: u64,
    ends_at: Option<String>,
    ends_at_ms: i64,
    signed_until: Option<String>,
    signed_until_ms: Option<i64>,
    js_safe: bool,
    nodes: u64,
    ids_per_tick: u64,
    ids_per_second: u64,
}

impl Figures {
    /// Those of a layout.
    pub fn of(layout: &Layout) -> Self {
        Self {
            name: super::name(layout),
            text: layout.to_string(),
            bits: layout.bits(),
            fields: super::fields(layout).map(|(name, width)| (name.to_owned(), width.into())).collect(),
            epoch_ms: layout.epoch_ms(),
            tick_ms: layout.tick_ms(),
            ends_at: instant(layout.ends_at_ms()),
            ends_at_ms: layout.ends_at_ms(),
            signed_until: layout.signed_until_ms().and_then(instant),
            signed_until_ms: layout.signed_until_ms(),
            js_safe: layout.js_safe(),
            nodes: layout.nodes(),
            ids_per_tick: layout.ids_per_tick(),
            ids_per_second: layout.ids_per_second(),
        }
    }
}

/// Names and values in their order.
pub fn map<S: Serializer>(fields: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
}
