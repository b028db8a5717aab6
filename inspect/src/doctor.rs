//! Findings of `snowmint doctor`, which examines the place where a generator would run. The same in every language.
//!
//! A driver reads options, store and machine, and writes each answer as a [`Finding`]. The finding judges the answer. If
//! the level of a finding is [`Level::Mend`], a generator would fail here, or could repeat IDs.

use core::fmt::{self, Write};

use crate::render::{Escaped, Format, end, grouped};
use snowmint_core::ErrorKind;
use snowmint_core::Layout;
use snowmint_core::durability::{Accepting, Engine, Finding as Unsafe, Kind};
use snowmint_core::lease::{Outlook, Record, Tally};
use snowmint_core::shown::Shown;

/// The skew of a clock that people would notice in the order of IDs, in ms.
const NOTICED_MS: u64 = 1000;
/// The skew of a clock that is wrong, in ms. Stores refuse grants of clocks that are this far ahead.
const WRONG_MS: u64 = 60 * 60 * 1000;
/// A layout that ends within a year needs a successor now.
const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

/// How a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing is wrong.
    Fine,
    /// A generator works. The operator should know the fact.
    Note,
    /// Something must be mended first.
    Mend,
}

impl Level {
    /// Returns the word for people.
    const fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Mend => "mend",
        }
    }
}

/// The option or environment variable that gives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--store`.
    Store,
    /// `--node`.
    Node,
    /// `SNOWMINT_STORE`.
    StoreVariable,
    /// `SNOWMINT_NODE`.
    NodeVariable,
    /// `SNOWMINT_STATE_DIR`.
    StateDirectory,
    /// None of them: the default.
    Default,
}

impl Origin {
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::Store => Some("--store"),
            Self::Node => Some("--node"),
            Self::StoreVariable => Some("SNOWMINT_STORE"),
            Self::NodeVariable => Some("SNOWMINT_NODE"),
            Self::StateDirectory => Some("SNOWMINT_STATE_DIR"),
            Self::Default => None,
        }
    }
}

/// The risks that the store's URL accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Whether all settings are accepted: `allow_unsafe`.
    pub lossy: bool,
    /// Whether settings that matter in a failover are accepted: `allow_standby`.
    pub standby: bool,
}

/// One fact that the doctor found.
#[derive(Clone, Copy, Debug)]
pub enum Finding<'a> {
    /// The layout, at this time (Unix ms).
    Layout(&'a Layout, i64),
    /// The node that the caller vouches for.
    Vouched(u32, Origin),
    /// The store answers. Its engine and address, and the origin of its URL.
    Store(&'a str, Origin),
    /// The directory of slots.
    Slots {
        /// The path.
        path: &'a str,
        /// The origin of the path.
        origin: Origin,
        /// Whether every user of the machine shares the directory.
        shared: bool,
        /// Whether the directory exists.
        exists: bool,
    },
    /// The place of files, which keeps writes.
    Place(&'a str),
    /// The settings of a store's server. All of them keep confirmed writes.
    Settings(Engine, &'a [(&'a str, &'a str)]),
    /// A setting under which confirmed writes can be lost, and the options that accept it.
    Unsafe(&'a Unsafe<'a>, Accepted, &'a Accepting),
    /// The store reports no settings.
    NoSettings,
    /// The store's clock, and this machine's before and after the store's answer, all Unix ms. `None`: no clock.
    Clock {
        /// The store's clock.
        store_ms: Option<i64>,
        /// This machine's clock when the question was sent.
        sent_ms: i64,
        /// This machine's clock when the answer came.
        answered_ms: i64,
    },
    /// The namespace, and whether it is known: a new namespace has no record.
    Namespace(&'a str, bool),
    /// The outlook of a claim.
    Node(&'a Outlook, &'a Tally),
    /// Nodes that were granted under a clock that was ahead.
    Far(u64),
    /// Nodes without a valid record.
    Faulty(u64),
    /// A service grants the nodes.
    Service(&'a str, Origin),
    /// The warning that a generator would give about the place of its slots.
    Tolerated(&'a str),
    /// An error that a generator would meet without `allow_unsafe`: its sentence.
    Allowed(&'a str),
    /// An error that a generator would meet: its kind and sentence.
    Refused(ErrorKind, &'a str),
}

/// Returns the findings about settings of an engine: each unsafe setting, or all settings if they are safe.
///
/// # Examples
/// ```
/// use snowmint_inspect::doctor::{Accepted, Level, judge};
/// use snowmint_core::durability::{Accepting, Engine};
/// let found = [("file", "/srv/ids.db"), ("journal_mode", "memory"), ("synchronous", "2")];
/// let mut texts = Vec::new();
/// judge(Engine::Sqlite, &found, Accepted::default(), &Accepting::URL, |finding| {
///     texts.push((finding.level(), finding.to_string()));
/// });
/// assert_eq!(texts.len(), 2);
/// assert_eq!(texts[0].0, Level::Mend);
/// assert!(texts[0].1.starts_with("journal_mode=memory, so confirmed writes can be lost"));
/// ```
pub fn judge(
    engine: Engine,
    found: &[(&str, &str)],
    accepted: Accepted,
    accepting: &Accepting,
    mut report: impl FnMut(&Finding<'_>),
) {
    let value = |name: &str| found.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
    let mut is_safe = true;
    for finding in engine.findings(value) {
        is_safe = false;
        report(&Finding::Unsafe(&finding, accepted, accepting));
    }
    if is_safe {
        report(&Finding::Settings(engine, found));
    }
}

impl<'a> Finding<'a> {
    /// Returns the findings about nodes.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::SlotNodes;
    /// use snowmint_inspect::doctor::Finding;
    /// let (outlook, tally) = SlotNodes::new(&snowmint_core::layouts::SAFE53, None).end();
    /// let told: Vec<_> = Finding::of_nodes(&outlook, &tally).map(|finding| finding.to_string()).collect();
    /// assert_eq!(told, ["a claim gets node 0: 8 of 8 nodes are free"]);
    /// ```
    pub fn of_nodes(outlook: &'a Outlook, tally: &'a Tally) -> impl Iterator<Item = Self> {
        let far = (tally.far > 0).then_some(Self::Far(tally.far));
        let faulty = (tally.faulty > 0).then_some(Self::Faulty(tally.faulty));
        [Some(Self::Node(outlook, tally)), far, faulty].into_iter().flatten()
    }
}

impl Finding<'_> {
    /// Returns how the finding counts.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::doctor::{Finding, Level, Origin};
    /// assert_eq!(Finding::Store("Redis at cache:6379", Origin::StoreVariable).level(), Level::Fine);
    /// ```
    pub fn level(&self) -> Level {
        match *self {
            Self::Layout(layout, now_ms) if layout.refuse_outside(now_ms).is_err() => Level::Mend,
            Self::Layout(layout, now_ms) if layout.ends_at_ms().saturating_sub(now_ms) < YEAR_MS => Level::Note,
            Self::Clock { store_ms: Some(store_ms), sent_ms, answered_ms } => {
                match skew_ms(store_ms, sent_ms, answered_ms).unsigned_abs() {
                    WRONG_MS.. => Level::Mend,
                    NOTICED_MS.. => Level::Note,
                    _ => Level::Fine,
                }
            }
            Self::Unsafe(finding, accepted, _) if !is_accepted(finding, accepted) => Level::Mend,
            Self::Node(Outlook::Refused(_), _) | Self::Refused(..) => Level::Mend,
            Self::Vouched(..)
            | Self::Unsafe(..)
            | Self::NoSettings
            | Self::Node(Outlook::Held(..), _)
            | Self::Far(_)
            | Self::Faulty(_)
            | Self::Tolerated(_)
            | Self::Allowed(_)
            | Self::Service(..) => Level::Note,
            _ => Level::Fine,
        }
    }

    /// Returns what the finding is about: a word for people and programs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_inspect::doctor::Finding;
    /// assert_eq!(Finding::NoSettings.topic(), "durability");
    /// assert_eq!(Finding::Refused(ErrorKind::StoreUnavailable, "no answer").topic(), "store");
    /// ```
    pub const fn topic(&self) -> &'static str {
        match self {
            Self::Layout(..) | Self::Refused(ErrorKind::InvalidLayout, _) => "layout",
            Self::Clock { .. } | Self::Refused(ErrorKind::BeforeEpoch | ErrorKind::TimeOverflow, _) => "clock",
            Self::Vouched(..)
            | Self::Node(..)
            | Self::Far(_)
            | Self::Faulty(_)
            | Self::Refused(ErrorKind::InvalidNode | ErrorKind::NodesExhausted, _) => "node",
            Self::Settings(..)
            | Self::Unsafe(..)
            | Self::NoSettings
            | Self::Place(_)
            | Self::Tolerated(_)
            | Self::Allowed(_)
            | Self::Refused(ErrorKind::UnsafeStore, _) => "durability",
            Self::Namespace(..) => "namespace",
            Self::Store(..) | Self::Slots { .. } | Self::Service(..) | Self::Refused(..) => "store",
        }
    }

    /// Writes a line: level, topic and sentence, or an object of JSON with these and the numbers of the finding.
    ///
    /// # Errors
    /// The errors of `out`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::doctor::Finding;
    /// use snowmint_inspect::render::Format;
    /// let clock = Finding::Clock { store_ms: Some(10_000), sent_ms: 9_990, answered_ms: 10_014 };
    /// let mut text = String::new();
    /// clock.write(&mut text, Format::Plain)?;
    /// assert_eq!(text, "ok    clock       this machine's clock is 2 ms ahead of the store's\n");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    pub fn write(&self, out: &mut impl Write, format: Format) -> fmt::Result {
        let (level, topic) = (self.level().name(), self.topic());
        match format {
            Format::Json => {
                write!(out, "{{\"level\": \"{level}\", \"topic\": \"{topic}\", \"told\": \"")?;
                write!(Escaped(out), "{self}")?;
                out.write_char('"')?;
                self.write_members(out)?;
                out.write_str("}\n")
            }
            Format::Bold if self.level() == Level::Mend => {
                writeln!(out, "\x1b[1m{level:<4}\x1b[0m  {topic:<10}  {self}")
            }
            Format::Bold | Format::Plain => writeln!(out, "{level:<4}  {topic:<10}  {self}"),
        }
    }

    /// Writes the numbers of the finding as members of JSON.
    fn write_members(&self, out: &mut impl Write) -> fmt::Result {
        match *self {
            Self::Vouched(node, _) => write!(out, ", \"node\": {node}"),
            Self::Clock { store_ms, sent_ms, answered_ms } => match store_ms {
                Some(store_ms) => write!(out, ", \"skew_ms\": {}", skew_ms(store_ms, sent_ms, answered_ms)),
                None => out.write_str(", \"skew_ms\": null"),
            },
            Self::Settings(_, found) => {
                out.write_str(", \"settings\": {")?;
                for (place, (name, value)) in found.iter().enumerate() {
                    out.write_str(if place == 0 { "\"" } else { ", \"" })?;
                    Escaped(out).write_str(name)?;
                    out.write_str("\": \"")?;
                    Escaped(out).write_str(value)?;
                    out.write_char('"')?;
                }
                out.write_char('}')
            }
            Self::Node(outlook, tally) => {
                match outlook {
                    Outlook::Gets(node) => write!(out, ", \"node\": {node}")?,
                    Outlook::GetsRandom | Outlook::Held(..) | Outlook::Refused(_) => {
                        out.write_str(", \"node\": null")?;
                    }
                }
                let Tally { nodes, held, .. } = tally;
                write!(out, ", \"nodes\": {nodes}, \"free\": {}, \"held\": {held}", tally.free())
            }
            _ => Ok(()),
        }
    }
}

/// Returns how far this machine's clock is ahead of the store's, in ms: the store answered between two looks at it.
const fn skew_ms(store_ms: i64, sent_ms: i64, answered_ms: i64) -> i64 {
    let travel_ms = answered_ms.saturating_sub(sent_ms);
    sent_ms.saturating_add(travel_ms / 2).saturating_sub(store_ms)
}

const fn is_accepted(finding: &Unsafe<'_>, accepted: Accepted) -> bool {
    match finding.kind() {
        Kind::Reader | Kind::Ending => false,
        Kind::Crash => accepted.lossy,
        Kind::Failover => accepted.lossy || accepted.standby,
    }
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Stores, servers and holders have written parts of the sentence.
        write!(f, "{}", Shown(Sentence(self)))
    }
}

/// The sentence of a finding, with texts of others as they are.
struct Sentence<'a>(&'a Finding<'a>);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Finding::Layout(layout, now_ms) => write_layout(f, layout, now_ms),
            Finding::Vouched(node, origin) => write!(
                f,
                "node {node}, {}without a store or a namespace: nothing keeps other generators from this node, or a \
                 restart from times before it: name a store or a namespace to lease the node",
                given(origin)
            ),
            Finding::Store(name, origin) => {
                write!(f, "{name}{}", by(origin))
            }
            Finding::Slots { path, origin, shared, exists } => {
                write!(f, "slots of this machine in {path}{}", by(origin))?;
                f.write_str(if shared { ", which all users share" } else { "" })?;
                f.write_str(if exists { "" } else { "; the first lease makes the directory" })
            }
            Finding::Place(path) => write!(f, "{path} is on a file system that keeps what is written"),
            Finding::Settings(engine, found) => write_settings(f, engine, found),
            Finding::Unsafe(finding, accepted, accepting) if is_accepted(finding, accepted) => {
                let option = if accepted.lossy { accepting.lossy } else { accepting.standby };
                let when = if finding.kind() == Kind::Failover { "a failover" } else { "a crash" };
                write!(f, "{finding}, so {when} can lose confirmed writes, which {option} accepts")
            }
            Finding::Unsafe(finding, _, accepting) => write!(f, "{}", finding.refusal(accepting)),
            Finding::NoSettings => {
                f.write_str("the store reports no settings that tell whether it keeps confirmed writes")
            }
            Finding::Clock { store_ms: None, .. } => {
                f.write_str("the store has no clock: windows go by the clock of this machine")
            }
            Finding::Clock { store_ms: Some(store_ms), sent_ms, answered_ms } => {
                write_clock(f, skew_ms(store_ms, sent_ms, answered_ms))
            }
            Finding::Namespace(name, true) => write!(f, "{name} has this layout"),
            Finding::Namespace(name, false) => write!(f, "{name} is new: the first claim writes its layout down"),
            Finding::Node(outlook, tally) => write_node(f, outlook, tally),
            Finding::Far(count) => write!(
                f,
                "{} taken until a time far ahead, because a clock was ahead: snowmint lease ls lists the nodes, and \
                 snowmint lease release resets a node whose holder is stopped",
                are(count, "node")
            ),
            Finding::Faulty(count) => write!(f, "{} left out, because the record is not valid", are(count, "node")),
            Finding::Service(name, origin) => write!(
                f,
                "{name}{}, grants the nodes by its own clock. This command claims no node there: run snowmint doctor with \
                 the store of the service",
                by(origin)
            ),
            Finding::Allowed(sentence) => write!(f, "accepted by allow_unsafe: {sentence}"),
            Finding::Tolerated(sentence) | Finding::Refused(_, sentence) => f.write_str(sentence),
        }
    }
}

fn write_layout(f: &mut fmt::Formatter<'_>, layout: &Layout, now_ms: i64) -> fmt::Result {
    match layout.name() {
        Some(name) => write!(f, "{name}: ")?,
        None => write!(f, "{layout}: ")?,
    }
    if let Err(error) = layout.refuse_outside(now_ms) {
        return write!(f, "{error}");
    }
    let nodes = counted(layout.nodes(), "node");
    let ids = grouped(layout.ids_per_second());
    write!(f, "{nodes}, {ids} IDs a second each, until {:.10}", end(Some(layout.ends_at_ms())))
}

fn write_settings(f: &mut fmt::Formatter<'_>, engine: Engine, found: &[(&str, &str)]) -> fmt::Result {
    f.write_str("the server keeps confirmed writes")?;
    let mut separator = ": ";
    for (place, name) in engine.settings().enumerate() {
        let value = found.iter().find(|(known, value)| known.eq_ignore_ascii_case(name) && !value.is_empty());
        let is_first = !engine.settings().take(place).any(|earlier| earlier == name);
        if let Some((_, value)) = value.filter(|_| is_first) {
            write!(f, "{separator}{name}={value}")?;
            separator = ", ";
        }
    }
    Ok(())
}

fn write_clock(f: &mut fmt::Formatter<'_>, skew_ms: i64) -> fmt::Result {
    let by_ms = skew_ms.unsigned_abs();
    let direction = if skew_ms < 0 { "behind" } else { "ahead of" };
    write!(f, "this machine's clock is {by_ms} ms {direction} the store's")?;
    match by_ms {
        WRONG_MS.. => f.write_str(": correct this machine's clock"),
        NOTICED_MS.. => f.write_str(", so its IDs do not sort among those of other machines"),
        _ => Ok(()),
    }
}

fn write_node(f: &mut fmt::Formatter<'_>, outlook: &Outlook, tally: &Tally) -> fmt::Result {
    match outlook {
        Outlook::Gets(_) | Outlook::GetsRandom => {
            let (free, nodes) = (grouped(tally.free()), grouped(tally.nodes));
            match outlook {
                Outlook::Gets(node) => write!(f, "a claim gets node {node}")?,
                _ => f.write_str("a claim gets a random node")?,
            }
            write!(f, ": {free} of {nodes} nodes are free")?;
            if tally.held > 0 {
                write!(f, ", {} held", is(tally.held))?;
            }
            if tally.expiring > 0 {
                write!(f, ", {} free soon, when the window of a dead holder ends", is(tally.expiring))?;
            }
            Ok(())
        }
        Outlook::Held(error, record) => {
            write!(f, "{error}")?;
            match record.as_ref().map(Record::label_text) {
                Some(label) if !label.is_empty() => write!(f, " (its holder is {label})"),
                _ => Ok(()),
            }
        }
        Outlook::Refused(error) => write!(f, "{error}"),
    }
}

const fn given(origin: Origin) -> Given {
    Given { before: "given by ", name: origin.name(), after: " " }
}

const fn by(origin: Origin) -> Given {
    Given { before: ", by ", name: origin.name(), after: "" }
}

/// The origin of a value as a part of a sentence.
struct Given {
    before: &'static str,
    name: Option<&'static str>,
    after: &'static str,
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.map_or(Ok(()), |name| write!(f, "{}{name}{}", self.before, self.after))
    }
}

/// A count with its noun: `1 node`, `1,024 nodes`.
struct Counted(u64, &'static str, &'static str, &'static str);

fn counted(count: u64, noun: &'static str) -> Counted {
    Counted(count, noun, "", "")
}

fn are(count: u64, noun: &'static str) -> Counted {
    Counted(count, noun, " is", " are")
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, noun, one, many) = self;
        let (plural, verb) = if *count == 1 { ("", one) } else { ("s", many) };
        write!(f, "{} {noun}{plural}{verb}", grouped(*count))
    }
}

/// A count with its verb: `1 is`, `2 are`.
struct Is(u64);

const fn is(count: u64) -> Is {
    Is(count)
}

impl fmt::Display for Is {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", grouped(self.0), if self.0 == 1 { "is" } else { "are" })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::{String, ToString};
    use std::vec::Vec;

    use super::*;
    use snowmint_core::Window;
    use snowmint_core::bytes::label;
    use snowmint_core::layouts::{SAFE53, SNOWMINT};
    use snowmint_core::lease::{NamespaceRecord, SlotNodes, StoreNodes};

    const NOW_MS: i64 = 1_772_323_200_123;

    fn record(end_ms: i64, released: bool) -> Record {
        let window = Window { start_ms: 0, end_ms };
        Record { released, serial: 1, window, nonce: 5, label: label("web-3"), layout: 0 }
    }

    fn told(finding: &Finding<'_>) -> (Level, String) {
        (finding.level(), finding.to_string())
    }

    #[test]
    fn a_look_at_a_store_tells_what_a_claim_gets() {
        let records = [(0, record(NOW_MS + 1, false)), (1, record(NOW_MS, false)), (2, record(NOW_MS, true))];
        let look = |node, records: &[(u32, Record)]| {
            let namespace = NamespaceRecord { nodes: 3, floor_ms: None, removed: false };
            let mut nodes = StoreNodes::new(&SAFE53, node, 30_000, Some(namespace), None);
            for (node, record) in records {
                nodes.see(*node, Some((record, 1)), NOW_MS);
            }
            let (outlook, tally) = nodes.end(NOW_MS, Some(NOW_MS));
            told(&Finding::Node(&outlook, &tally))
        };
        let (level, sentence) = look(None, &records);
        assert_eq!((level, sentence.as_str()), (Level::Fine, "a claim gets node 2: 7 of 8 nodes are free, 1 is held"));
        let (level, sentence) = look(Some(0), &records);
        assert_eq!(level, Level::Note);
        assert!(sentence.starts_with("node 0 is held until 2026-03-01T00:00:00.124Z: "), "{sentence}");
        assert!(sentence.ends_with(" (its holder is web-3)"), "{sentence}");
        // A record of another client can have any label.
        let mut forged = record(NOW_MS + 1, false);
        forged.label[..10].copy_from_slice(b"\x1b[2J\nok  x");
        let (_, sentence) = look(Some(0), &[(0, forged), records[1], records[2]]);
        assert!(sentence.ends_with(r" (its holder is \u{1b}[2J\nok  x)"), "{sentence}");
        let (level, sentence) = look(None, &records[..1]);
        assert_eq!(level, Level::Mend);
        assert!(sentence.contains("records have vanished"), "{sentence}");
        let held: Vec<_> = (0..8).map(|node| (node, record(NOW_MS + 500, false))).collect();
        let (level, sentence) = look(None, &held);
        assert_eq!(level, Level::Mend);
        assert!(sentence.contains("the next is free in 500 ms"), "{sentence}");
    }

    #[test]
    fn a_look_at_slots_tells_what_a_claim_gets() {
        let look = |node, slots: &[(u32, Option<Record>, bool)]| {
            let mut nodes = SlotNodes::new(&SAFE53, node);
            for (node, record, is_locked) in slots {
                nodes.see(*node, record.as_ref(), *is_locked, NOW_MS);
            }
            let (outlook, tally) = nodes.end();
            (told(&Finding::Node(&outlook, &tally)).1, tally)
        };
        let slots = [
            (0, Some(record(NOW_MS + 1, false)), true),
            (1, Some(record(NOW_MS + 1, false)), false),
            (2, Some(record(i64::MAX, false)), false),
            (3, Some(record(NOW_MS, false)), false),
            (5, None, false),
        ];
        let (sentence, tally) = look(None, &slots);
        assert_eq!(
            sentence,
            "a claim gets node 3: 4 of 8 nodes are free, 1 is held, 1 is free soon, when the window of a dead holder ends"
        );
        assert_eq!((tally.far, tally.faulty), (1, 1));
        assert_eq!(look(Some(7), &slots).0.split(':').next(), Some("a claim gets node 7"));
        assert!(look(Some(0), &slots).0.contains("its holder is web-3"));
        let all: Vec<_> = (0..8).map(|node| (node, Some(record(NOW_MS + 1, false)), true)).collect();
        assert!(look(None, &all).0.starts_with("all 8 nodes are taken"));
    }

    #[test]
    fn every_unsafe_setting_is_reported_and_accepted_ones_are_notes() {
        let settings = [
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("synchronous_commit", "on"),
            ("pg_is_in_recovery()", "false"),
            ("asynchronous_standby", "second"),
        ];
        let levels = |accepted| {
            let mut levels = Vec::new();
            judge(Engine::Postgres, &settings, accepted, &Accepting::URL, |finding| levels.push(finding.level()));
            levels
        };
        assert_eq!(levels(Accepted::default()), [Level::Mend; 3]);
        assert_eq!(levels(Accepted { standby: true, lossy: false }), [Level::Mend, Level::Mend, Level::Note]);
        assert_eq!(levels(Accepted { standby: false, lossy: true }), [Level::Note; 3]);
        let reader = [("pg_is_in_recovery()", "true")];
        let mut sentences = Vec::new();
        let all = Accepted { standby: true, lossy: true };
        judge(Engine::Postgres, &reader, all, &Accepting::URL, |finding| sentences.push(told(finding)));
        assert!(
            sentences.iter().any(|(level, told)| *level == Level::Mend && told.contains("connect to the primary")),
            "no option accepts a standby: {sentences:?}"
        );
    }

    #[test]
    fn safe_settings_are_listed_once_and_without_empty_ones() {
        let settings =
            [("synchronous", "2"), ("journal_mode", "wal"), ("file", "/srv/ids.db"), ("fullfsync", ""), ("other", "1")];
        let mut texts = Vec::new();
        judge(Engine::Sqlite, &settings, Accepted::default(), &Accepting::URL, |finding| texts.push(told(finding)));
        let sentence = "the server keeps confirmed writes: file=/srv/ids.db, journal_mode=wal, synchronous=2";
        assert!(texts.len() == 1 && texts[0].1.starts_with(sentence), "{texts:?}");
    }

    #[test]
    fn a_clock_counts_by_its_skew() {
        let clock = |skew_ms: i64| {
            let (sent_ms, answered_ms) = (NOW_MS + skew_ms - 10, NOW_MS + skew_ms + 10);
            Finding::Clock { store_ms: Some(NOW_MS), sent_ms, answered_ms }
        };
        assert_eq!(clock(-999).level(), Level::Fine);
        assert_eq!(clock(1000).level(), Level::Note);
        assert_eq!(clock(-3_600_000).level(), Level::Mend);
        assert_eq!(
            clock(-3_600_000).to_string(),
            "this machine's clock is 3600000 ms behind the store's: correct this machine's clock"
        );
    }

    #[test]
    fn a_layout_that_is_over_must_be_replaced() {
        assert_eq!(Finding::Layout(&SNOWMINT, NOW_MS).level(), Level::Fine);
        assert_eq!(Finding::Layout(&SNOWMINT, SNOWMINT.ends_at_ms() - 1000).level(), Level::Note);
        assert_eq!(Finding::Layout(&SNOWMINT, SNOWMINT.ends_at_ms() + 1).level(), Level::Mend);
        assert_eq!(Finding::Layout(&SNOWMINT, 0).level(), Level::Mend);
        let sentence = Finding::Layout(&SNOWMINT, NOW_MS).to_string();
        assert_eq!(sentence, "snowmint: 1,024 nodes, 4,096,000 IDs a second each, until 2094-09-07");
    }

    #[test]
    fn json_has_the_numbers_of_a_finding() {
        let written = |finding: &Finding<'_>| {
            let mut text = String::new();
            finding.write(&mut text, Format::Json).expect("written");
            text
        };
        assert_eq!(
            written(&Finding::Refused(ErrorKind::StoreUnavailable, "no \"db\"")),
            "{\"level\": \"mend\", \"topic\": \"store\", \"told\": \"no \\\"db\\\"\"}\n"
        );
        let (outlook, tally) = SlotNodes::new(&SAFE53, Some(5)).end();
        assert!(
            written(&Finding::Node(&outlook, &tally))
                .ends_with(", \"node\": 5, \"nodes\": 8, \"free\": 8, \"held\": 0}\n")
        );
        let settings = [("fsync", "on"), ("a", "b")];
        assert!(
            written(&Finding::Settings(Engine::Postgres, &settings))
                .ends_with(", \"settings\": {\"fsync\": \"on\", \"a\": \"b\"}}\n")
        );
    }
}
