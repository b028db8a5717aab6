//! The findings of the doctor: the level of each fact, and its message.

use snowmint_core::durability::{Accepting, Engine, Finding as Unsafe, Kind};
use snowmint_core::lease::{Outlook, Record, Tally};
use snowmint_core::shown::{Grouped, Shown};
use snowmint_core::time::Rfc3339;
use snowmint_core::{ErrorKind, Layout};
use snowmint_stores::Error;

use crate::slots::SlotState;

/// The skew of a clock from which on people notice it in the order of IDs, in ms.
const NOTICED_MS: u64 = 1000;
/// The skew of a clock that is wrong, in ms. Stores refuse grants of clocks that are this far ahead.
const WRONG_MS: u64 = 60 * 60 * 1000;
/// A layout that ends within a year needs a successor now.
const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

/// How a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is wrong.
    Ok,
    /// A generator works. The operator should know the fact.
    Warning,
    /// A generator would fail here, or could repeat IDs.
    Error,
}

impl Level {
    /// Returns the word for people and programs: `ok`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The numbers of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Facts {
    /// No number.
    None,
    /// The node that the caller vouches for.
    Vouched(u32),
    /// How far this machine's clock is ahead of the store's, in ms. `None`: the store has no clock.
    Skew(Option<i64>),
    /// The settings of the store's server, all of which keep confirmed writes.
    Settings(Vec<(String, String)>),
    /// The nodes for a claim.
    Nodes {
        /// The node, if the claim succeeds and the node is known in advance.
        node: Option<u32>,
        /// How many nodes the layout has.
        nodes: u64,
        /// How many of them are free.
        free: u64,
        /// How many of them are held.
        held: u64,
    },
}

/// One fact that the doctor found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How it counts.
    pub level: Level,
    /// The subject: `layout`, `store`, `namespace`, `node`, `clock` or `durability`.
    pub topic: &'static str,
    /// The message.
    pub message: String,
    /// The numbers.
    pub facts: Facts,
}

/// The risks that the store's URL accepts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accepted {
    /// Whether all settings are accepted: `allow_unsafe`.
    pub(super) lossy: bool,
    /// Whether settings that matter in a failover are accepted: `allow_standby`.
    pub(super) standby: bool,
}

impl Finding {
    fn new(level: Level, topic: &'static str, message: impl Into<String>) -> Self {
        // Stores, servers and holders have written parts of the message.
        Self { level, topic, message: Shown(message.into()).to_string(), facts: Facts::None }
    }

    pub(super) fn ok(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(Level::Ok, topic, message)
    }

    pub(super) fn warning(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(Level::Warning, topic, message)
    }

    fn error(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(Level::Error, topic, message)
    }

    fn with(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }

    /// An error that a generator would get.
    pub(super) fn refused(error: &Error) -> Self {
        let topic = match error.kind() {
            ErrorKind::InvalidLayout => "layout",
            ErrorKind::BeforeEpoch | ErrorKind::TimeOverflow => "clock",
            ErrorKind::InvalidNode | ErrorKind::NodesExhausted => "node",
            ErrorKind::UnsafeStore => "durability",
            _ => "store",
        };
        Self::error(topic, error.to_string())
    }

    /// An error that a generator would get without `allow_unsafe`.
    pub(super) fn allowed(error: &Error) -> Self {
        Self::warning("durability", format!("accepted by allow_unsafe: {error}"))
    }

    /// The layout, at this time (Unix ms).
    pub(super) fn layout(layout: &Layout, now_ms: i64) -> Self {
        let name = layout.name().map_or_else(|| layout.to_string(), str::to_owned);
        if let Err(error) = layout.refuse_outside(now_ms) {
            return Self::error("layout", format!("{name}: {error}"));
        }
        let ends = layout.ends_at_ms();
        let level = if ends.saturating_sub(now_ms) < YEAR_MS { Level::Warning } else { Level::Ok };
        let nodes = counted(layout.nodes(), "node");
        let ids = Grouped(layout.ids_per_second());
        let day = day(ends);
        Self::new(level, "layout", format!("{name}: {nodes}, {ids} IDs a second each, until {day}"))
    }

    /// The slots in a directory whose nodes a store has reserved for it.
    pub(super) fn reserved(path: &str, slots: &[SlotState]) -> Self {
        let until = slots.iter().filter_map(|slot| slot.reserved).map(|reserved| reserved.end_ms).min();
        let Some(until) = until else {
            return Self::ok("node", format!("no node is reserved in {path} now: the next claim reserves one"));
        };
        let held = slots.iter().filter(|slot| slot.held).count();
        let nodes: Vec<_> = slots.iter().map(|slot| slot.node.to_string()).collect();
        let message = format!(
            "{} reserved in {path} ({}), {held} in use; the first reservation ends at {}",
            counted(slots.len() as u64, "node"),
            nodes.join(", "),
            Rfc3339(until)
        );
        Self::ok("node", message)
    }

    /// The node that the caller vouches for, and the option or variable that names it.
    pub(super) fn vouched(node: u32, origin: &str) -> Self {
        let message = format!(
            "node {node}, given by {origin} without a store or a namespace: nothing keeps other generators from this node, \
             or a restart from times before it: name a store or a namespace to lease the node"
        );
        Self::warning("node", message).with(Facts::Vouched(node))
    }

    /// A store's clock and this machine's clock before and after the store's answer, all Unix ms. `None`: no clock.
    pub(super) fn clock(store_ms: Option<i64>, sent_ms: i64, answered_ms: i64) -> Self {
        let Some(store_ms) = store_ms else {
            let message = "the store has no clock: windows go by the clock of this machine";
            return Self::ok("clock", message).with(Facts::Skew(None));
        };
        // The store answered between two looks at this machine's clock.
        let travel_ms = answered_ms.saturating_sub(sent_ms);
        let skew_ms = sent_ms.saturating_add(travel_ms / 2).saturating_sub(store_ms);
        let by_ms = skew_ms.unsigned_abs();
        let (level, then) = match by_ms {
            WRONG_MS.. => (Level::Error, ": correct this machine's clock"),
            NOTICED_MS.. => (Level::Warning, ", so its IDs do not sort among those of other machines"),
            _ => (Level::Ok, ""),
        };
        let direction = if skew_ms < 0 { "behind" } else { "ahead of" };
        let message = format!("this machine's clock is {by_ms} ms {direction} the store's{then}");
        Self::new(level, "clock", message).with(Facts::Skew(Some(skew_ms)))
    }

    /// The namespace, and whether it is known: a new namespace has no record.
    pub(super) fn namespace(name: &str, is_known: bool) -> Self {
        let state = if is_known { "has this layout" } else { "is new: the first claim writes its layout down" };
        Self::ok("namespace", format!("{name} {state}"))
    }

    /// The findings about settings of an engine: each unsafe setting, or all settings if they are safe.
    pub(super) fn settings(engine: Engine, found: &[(String, String)], accepted: Accepted) -> Vec<Self> {
        let value = |name: &str| {
            found.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        let risks: Vec<_> = engine.findings(value).map(|risk| Self::risk(&risk, accepted)).collect();
        if !risks.is_empty() {
            return risks;
        }
        let mut parts: Vec<String> = Vec::new();
        for name in engine.settings() {
            let part = value(name).filter(|value| !value.is_empty()).map(|value| format!("{name}={value}"));
            parts.extend(part.filter(|part| !parts.contains(part)));
        }
        let colon = if parts.is_empty() { "" } else { ": " };
        let message = format!("the server keeps confirmed writes{colon}{}", parts.join(", "));
        vec![Self::ok("durability", message).with(Facts::Settings(found.to_vec()))]
    }

    /// A setting under which confirmed writes can be lost.
    fn risk(risk: &Unsafe<'_>, accepted: Accepted) -> Self {
        let Accepting { lossy, standby, .. } = Accepting::URL;
        let (when, option) = match risk.kind() {
            Kind::Crash if accepted.lossy => ("a crash", lossy),
            Kind::Failover if accepted.lossy => ("a failover", lossy),
            Kind::Failover if accepted.standby => ("a failover", standby),
            _ => return Self::error("durability", risk.refusal(&Accepting::URL).to_string()),
        };
        Self::warning("durability", format!("{risk}, so {when} can lose confirmed writes, which {option} accepts"))
    }

    /// The findings about nodes.
    pub(super) fn nodes(outlook: &Outlook, tally: &Tally) -> Vec<Self> {
        let node = match *outlook {
            Outlook::Gets(node) => Some(node),
            _ => None,
        };
        let (level, message) = match outlook {
            Outlook::Gets(_) | Outlook::GetsRandom => (Level::Ok, free(node, tally)),
            Outlook::Held(error, record) => {
                let label = record.as_ref().map(Record::label_text).filter(|label| !label.is_empty());
                let holder = label.map(|label| format!(" (its holder is {label})")).unwrap_or_default();
                (Level::Warning, format!("{error}{holder}"))
            }
            Outlook::Refused(error) => (Level::Error, error.to_string()),
        };
        let facts = Facts::Nodes { node, nodes: tally.nodes, free: tally.free(), held: tally.held };
        let mut findings = vec![Self::new(level, "node", message).with(facts)];
        if tally.far > 0 {
            let message = format!(
                "{} {} taken until a time far ahead, because a clock was ahead: snowmint lease ls lists the nodes, and \
                 snowmint lease release resets a node whose holder is stopped",
                counted(tally.far, "node"),
                is(tally.far)
            );
            findings.push(Self::warning("node", message));
        }
        if tally.faulty > 0 {
            let message = format!(
                "{} {} left out, because the record is not valid",
                counted(tally.faulty, "node"),
                is(tally.faulty)
            );
            findings.push(Self::warning("node", message));
        }
        findings
    }
}

fn free(node: Option<u32>, tally: &Tally) -> String {
    let node = node.map_or_else(|| "a random node".to_owned(), |node| format!("node {node}"));
    let (free, nodes) = (Grouped(tally.free()), Grouped(tally.nodes));
    let some = |count: u64, state: &str| match count {
        0 => String::new(),
        count => format!(", {} {} {state}", Grouped(count), is(count)),
    };
    let held = some(tally.held, "held");
    let expiring = some(tally.expiring, "free soon, when the window of a dead holder ends");
    format!("a claim gets {node}: {free} of {nodes} nodes are free{held}{expiring}")
}

/// Returns the day of an instant, or `after 9999`.
fn day(unix_ms: i64) -> String {
    let text = Rfc3339(unix_ms).to_string();
    text.split_once('T')
        .filter(|(day, _)| day.len() == 10)
        .map_or_else(|| "after 9999".to_owned(), |(day, _)| day.to_owned())
}

/// Returns a count with its noun: `1 node`, `1,024 nodes`.
fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", Grouped(count), if count == 1 { "" } else { "s" })
}

const fn is(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use snowmint_core::bytes::label;
    use snowmint_core::layouts::{SAFE53, SNOWMINT};
    use snowmint_core::lease::{NamespaceRecord, SlotNodes, StoreNodes};
    use snowmint_core::{Nodes, Window};

    use super::*;

    const NOW_MS: i64 = 1_772_323_200_123;

    fn record(end_ms: i64, released: bool) -> Record {
        let window = Window { start_ms: 0, end_ms };
        Record { released, serial: 1, window, nonce: 5, label: label("web-3"), layout: 0 }
    }

    #[test]
    fn a_look_at_a_store_says_what_a_claim_gets() {
        let records = [(0, record(NOW_MS + 1, false)), (1, record(NOW_MS, false)), (2, record(NOW_MS, true))];
        let look = |wanted, records: &[(u32, Record)]| {
            let namespace = NamespaceRecord { nodes: 3, ..NamespaceRecord::default() };
            let mut nodes = StoreNodes::new(&SAFE53, wanted, 30_000, Some(namespace), None);
            for (node, record) in records {
                nodes.see(*node, Some((record, 1)), NOW_MS);
            }
            let (outlook, tally) = nodes.end(NOW_MS, Some(NOW_MS));
            Finding::nodes(&outlook, &tally).remove(0)
        };
        let found = look(Nodes::ALL, &records);
        assert_eq!(
            (found.level, &*found.message),
            (Level::Ok, "a claim gets node 2: 7 of 8 nodes are free, 1 is held")
        );
        let found = look(Nodes::one(0), &records);
        assert_eq!(found.level, Level::Warning);
        assert!(found.message.starts_with("node 0 is held until 2026-03-01T00:00:00.124Z: "), "{found:?}");
        assert!(found.message.ends_with(" (its holder is web-3)"), "{found:?}");
        // A record of another client can have any label.
        let mut forged = record(NOW_MS + 1, false);
        forged.label[..10].copy_from_slice(b"\x1b[2J\nok  x");
        let found = look(Nodes::one(0), &[(0, forged), records[1], records[2]]);
        assert!(found.message.ends_with(r" (its holder is \u{1b}[2J\nok  x)"), "{found:?}");
        let found = look(Nodes::ALL, &records[..1]);
        assert!(found.level == Level::Error && found.message.contains("records have vanished"), "{found:?}");
        let held: Vec<_> = (0..8).map(|node| (node, record(NOW_MS + 500, false))).collect();
        let found = look(Nodes::ALL, &held);
        assert!(found.level == Level::Error && found.message.contains("the next is free in 500 ms"), "{found:?}");
    }

    #[test]
    fn a_look_at_slots_says_what_a_claim_gets() {
        let look = |wanted, slots: &[(u32, Option<Record>, bool)]| {
            let mut nodes = SlotNodes::new(&SAFE53, wanted);
            for (node, record, is_locked) in slots {
                nodes.see(*node, record.as_ref(), *is_locked, NOW_MS);
            }
            let (outlook, tally) = nodes.end();
            Finding::nodes(&outlook, &tally)
        };
        let slots = [
            (0, Some(record(NOW_MS + 1, false)), true),
            (1, Some(record(NOW_MS + 1, false)), false),
            (2, Some(record(i64::MAX, false)), false),
            (3, Some(record(NOW_MS, false)), false),
            (5, None, false),
        ];
        let [node, far, faulty] = &look(Nodes::ALL, &slots)[..] else { panic!("three findings") };
        assert_eq!(
            node.message,
            "a claim gets node 3: 4 of 8 nodes are free, 1 is held, 1 is free soon, when the window of a dead holder ends"
        );
        assert_eq!(node.facts, Facts::Nodes { node: Some(3), nodes: 8, free: 4, held: 1 });
        assert!(far.message.starts_with("1 node is taken until a time far ahead"), "{far:?}");
        assert_eq!(faulty.message, "1 node is left out, because the record is not valid");
        assert!(look(Nodes::one(7), &slots)[0].message.starts_with("a claim gets node 7: "));
        assert!(look(Nodes::one(0), &slots)[0].message.contains("its holder is web-3"));
        let all: Vec<_> = (0..8).map(|node| (node, Some(record(NOW_MS + 1, false)), true)).collect();
        assert!(look(Nodes::ALL, &all)[0].message.starts_with("all 8 nodes are taken"));
    }

    fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_unsafe_setting_is_reported_and_accepted_ones_are_warnings() {
        let settings = owned(&[
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("synchronous_commit", "on"),
            ("pg_is_in_recovery()", "false"),
            ("asynchronous_standby", "second"),
        ]);
        let levels = |accepted| {
            let found = Finding::settings(Engine::Postgres, &settings, accepted);
            found.iter().map(|finding| finding.level).collect::<Vec<_>>()
        };
        assert_eq!(levels(Accepted::default()), [Level::Error; 3]);
        assert_eq!(levels(Accepted { standby: true, lossy: false }), [Level::Error, Level::Error, Level::Warning]);
        assert_eq!(levels(Accepted { standby: false, lossy: true }), [Level::Warning; 3]);
        let all = Accepted { standby: true, lossy: true };
        let found = Finding::settings(Engine::Postgres, &owned(&[("pg_is_in_recovery()", "true")]), all);
        assert!(
            found.iter().any(|each| each.level == Level::Error && each.message.contains("connect to the primary")),
            "no option accepts a standby: {found:?}"
        );
    }

    #[test]
    fn safe_settings_are_listed_once_and_without_empty_ones() {
        let settings = owned(&[
            ("synchronous", "2"),
            ("journal_mode", "wal"),
            ("file", "/srv/ids.db"),
            ("fullfsync", ""),
            ("other", "1"),
        ]);
        let found = Finding::settings(Engine::Sqlite, &settings, Accepted::default());
        let message = "the server keeps confirmed writes: file=/srv/ids.db, journal_mode=wal, synchronous=2";
        assert!(found.len() == 1 && found[0].message.starts_with(message), "{found:?}");
        assert_eq!(found[0].facts, Facts::Settings(settings));
    }

    #[test]
    fn a_clock_counts_by_its_skew() {
        let clock = |skew_ms: i64| Finding::clock(Some(NOW_MS), NOW_MS + skew_ms - 10, NOW_MS + skew_ms + 10);
        assert_eq!(clock(-999).level, Level::Ok);
        assert_eq!(clock(1000).level, Level::Warning);
        let wrong = clock(-3_600_000);
        assert_eq!((wrong.level, wrong.facts), (Level::Error, Facts::Skew(Some(-3_600_000))));
        assert_eq!(
            wrong.message,
            "this machine's clock is 3600000 ms behind the store's: correct this machine's clock"
        );
        assert_eq!(Finding::clock(None, 0, 0).facts, Facts::Skew(None));
    }

    #[test]
    fn a_layout_that_is_over_must_be_replaced() {
        let level = |now_ms| Finding::layout(&SNOWMINT, now_ms).level;
        assert_eq!(level(NOW_MS), Level::Ok);
        assert_eq!(level(SNOWMINT.ends_at_ms() - 1000), Level::Warning);
        assert_eq!(level(SNOWMINT.ends_at_ms() + 1), Level::Error);
        assert_eq!(level(0), Level::Error);
        let message = "snowmint: 1,024 nodes, 4,096,000 IDs a second each, until 2094-09-07";
        assert_eq!(Finding::layout(&SNOWMINT, NOW_MS).message, message);
        let endless = Layout::parse("time:50,node:1;epoch=0;tick=7s").expect("a layout");
        assert!(Finding::layout(&endless, NOW_MS).message.ends_with(", until after 9999"));
    }

    #[test]
    fn an_error_is_about_what_it_names() {
        let topic = |kind| Finding::refused(&Error::new(kind, "a message")).topic;
        assert_eq!(topic(ErrorKind::StoreUnavailable), "store");
        assert_eq!(topic(ErrorKind::NodesExhausted), "node");
        assert_eq!(topic(ErrorKind::UnsafeStore), "durability");
    }
}
