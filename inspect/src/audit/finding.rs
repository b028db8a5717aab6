//! The findings of an audit: kinds, messages and cures.

use core::fmt;

use snowmint_core::shown::Grouped;
use snowmint_core::time::Rfc3339;

use super::terms::Order;

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// The time field of the layout ran over.
    LayoutEnded,
    /// IDs passed through a double.
    Truncated,
    /// IDs have bits that the layout does not have.
    Outside,
    /// IDs have a time before the system began.
    BeforeBegin,
    /// IDs have a time in the future.
    Future,
    /// A process and its forked child minted with the same node.
    Forked,
    /// Two processes, or generators of one process, minted with the same node at once.
    SharedNode,
    /// The clock of a node stepped back.
    ClockBack,
    /// The sequence of a node wrapped inside a tick.
    Wrapped,
    /// IDs occur more than once.
    Duplicates,
}

impl Kind {
    /// All kinds, in the order of a report.
    pub const ALL: [Self; 10] = [
        Self::LayoutEnded,
        Self::Truncated,
        Self::Outside,
        Self::BeforeBegin,
        Self::Future,
        Self::Forked,
        Self::SharedNode,
        Self::ClockBack,
        Self::Wrapped,
        Self::Duplicates,
    ];

    /// Returns the word for people and programs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::Kind;
    /// assert_eq!(Kind::ClockBack.name(), "clock_back");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::LayoutEnded => "layout_ended",
            Self::Truncated => "truncated",
            Self::Outside => "outside",
            Self::BeforeBegin => "before_begin",
            Self::Future => "future",
            Self::Forked => "forked",
            Self::SharedNode => "shared_node",
            Self::ClockBack => "clock_back",
            Self::Wrapped => "wrapped",
            Self::Duplicates => "duplicates",
        }
    }

    /// Returns the cure: a change that would have prevented a finding of this kind.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::Kind;
    /// assert!(Kind::Truncated.cure().contains("as text"));
    /// ```
    pub const fn cure(self) -> &'static str {
        match self {
            Self::LayoutEnded => {
                "a layout whose last tick is far away (snowmint layouts shows it), and a generator that fails with \
                 TIME_OVERFLOW after it"
            }
            Self::Truncated => {
                "IDs as text or bigint on the whole way: JSON numbers of JavaScript, and float columns, hold 53 bits; or \
                 a layout of 53 bits, such as safe53"
            }
            Self::Outside => "reading these IDs with the layout that minted them: snowmint inspect ID names it",
            Self::BeforeBegin => {
                "a correct clock (NTP), or windows granted by a store, which never grants past time again"
            }
            Self::Future => {
                "a correct clock (NTP), or windows granted by a store, which refuses clocks that are more than an hour ahead"
            }
            Self::Forked => {
                "a generator that its forked child cannot use (snowmint's cannot: the child leases another node), or one \
                 made after the fork"
            }
            Self::SharedNode => {
                "leased nodes, which two live processes never hold at once, and one generator for the whole process instead \
                 of one for each call"
            }
            Self::ClockBack => {
                "windows of time written down before the first ID in them: a generator then waits or fails with \
                 CLOCK_BACKWARDS, and so does the next process on its node"
            }
            Self::Wrapped => {
                "a sequence that waits for the next tick instead of counting modulo its size, and a layout with more \
                 sequence bits or shorter ticks"
            }
            Self::Duplicates => {
                "leased nodes and windows; a unique index on the column reports the first duplicate when it is written"
            }
        }
    }
}

/// One finding. Its message is the [`Display`](fmt::Display).
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Finding, Kind};
/// let mut finding = Finding::new(Kind::ClockBack);
/// finding.node = Some(3);
/// finding.times = 1;
/// finding.ids = 250;
/// finding.by_ms = 1500;
/// finding.from_ms = Some(1_790_000_000_000);
/// assert_eq!(
///     finding.to_string(),
///     "the clock of node 3 stepped back by 1,500 ms at 2026-09-21T14:13:20.000Z (line 1): 250 IDs lie in time that \
///      had passed"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// The node; `None` if the finding is about the whole input.
    pub node: Option<u32>,
    /// The number of IDs that show the fault.
    pub ids: u64,
    /// The number of IDs that occur more than once because of the fault.
    pub repeated: u64,
    /// How often it happened: steps of a clock, ticks with a wrapped sequence, or surplus lines of duplicates.
    pub times: u64,
    /// The length of the longest step back, ms.
    pub by_ms: u64,
    /// The first ID that shows the fault.
    pub id: u64,
    /// The line of that ID, from 1.
    pub line: u64,
    /// The time of the first ID that shows the fault, Unix ms; `None` without a time.
    pub from_ms: Option<i64>,
    /// The time of the last ID that shows the fault, Unix ms; `None` without a time.
    pub to_ms: Option<i64>,
    /// The IDs of the node before the second process came, if the log shows them.
    pub before: u64,
    /// How many IDs of other findings repeat: for [`Kind::Duplicates`], how many have their cause in another finding.
    pub explained: u64,
    /// The order of the IDs. Without one the cause of repeated IDs stays unknown; sorted IDs do not show clocks.
    pub order: Order,
    /// Whether every sequence of the node is 0, as when each call makes a generator: for [`Kind::SharedNode`].
    pub fresh: bool,
    /// Whether another cause explains the IDs as well: for [`Kind::Truncated`] and [`Kind::SharedNode`], doubles and
    /// generators that are made for each call; for [`Kind::Future`], another layout.
    pub either: bool,
}

impl Finding {
    /// Makes a finding without numbers.
    ///
    /// # Examples
    /// As for the type.
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            node: None,
            ids: 0,
            repeated: 0,
            times: 0,
            by_ms: 0,
            id: 0,
            line: 1,
            from_ms: None,
            to_ms: None,
            before: 0,
            explained: 0,
            order: Order::Written,
            fresh: false,
            either: false,
        }
    }

    /// Widens the time of the finding to an instant, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Finding, Kind};
    /// let mut finding = Finding::new(Kind::Future);
    /// finding.reach(5);
    /// finding.reach(3);
    /// assert_eq!((finding.from_ms, finding.to_ms), (Some(3), Some(5)));
    /// ```
    pub fn reach(&mut self, unix_ms: i64) {
        self.from_ms = Some(self.from_ms.map_or(unix_ms, |from| from.min(unix_ms)));
        self.to_ms = Some(self.to_ms.map_or(unix_ms, |to| to.max(unix_ms)));
    }

    /// Counts an ID that shows the fault, at a place of the log. The first one becomes the example.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Finding, Kind};
    /// let mut finding = Finding::new(Kind::Outside);
    /// finding.add(7, 3);
    /// finding.add(9, 4);
    /// assert_eq!((finding.ids, finding.id, finding.line), (2, 7, 3));
    /// ```
    pub const fn add(&mut self, id: u64, line: u64) {
        if self.ids == 0 {
            (self.id, self.line) = (id, line);
        }
        self.ids += 1;
    }
}

/// A number of things, with an `s` unless it is one.
struct Many(u64, &'static str);

impl fmt::Display for Many {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", Grouped(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ids, id, line) = (Many(self.ids, "ID"), self.id, self.line);
        let (has, lies) = if self.ids == 1 { ("has", "lies") } else { ("have", "lie") };
        let first = format_args!("first {id} (line {line})");
        let from = Rfc3339(self.from_ms.unwrap_or_default());
        let to = Rfc3339(self.to_ms.unwrap_or_default());
        let node = self.node.unwrap_or_default();
        match self.kind {
            Kind::LayoutEnded => write!(
                f,
                "the time of the layout has ended and began anew: {ids} {lies} at its begin (up to {to}) or {has} the bit \
                 above the time, {first}, and others near its end"
            )?,
            Kind::Truncated => {
                let looks = if self.ids == 1 { "looks" } else { "look" };
                write!(f, "{ids} above 2^53 {looks} like a double, with low bits or last digits of 0: {first}")?;
                if self.either {
                    f.write_str("; either this, or each call made a new generator: the IDs do not show which")?;
                }
            }
            Kind::Outside => write!(f, "{ids} {has} bits that the layout does not have: {first}")?,
            Kind::BeforeBegin => write!(f, "{ids} {has} a time before the system began, from {from} to {to}: {first}")?,
            Kind::Future => {
                write!(f, "{ids} {has} a time in the future, from {from} to {to}: {first}")?;
                if self.either {
                    f.write_str(
                        "; nearly all IDs have one, so the layout may be another: snowmint inspect ID names it",
                    )?;
                }
            }
            Kind::Forked => write!(
                f,
                "a process and its forked child, or a copy of it, seem to mint with node {node} from {from} (line {line}) \
                 to {to}"
            )?,
            Kind::SharedNode if self.fresh => {
                write!(
                    f,
                    "each call seems to make a new generator, or several processes share node {node}: every sequence is 0, \
                     from {from} (line {line}) to {to}"
                )?;
                if self.either {
                    f.write_str("; either this, or the IDs passed through a double: the IDs do not show which")?;
                }
            }
            Kind::SharedNode => {
                write!(f, "two processes seem to mint with node {node} from {from} (line {line}) to {to}")?;
                if self.before > 0 {
                    write!(f, ", after {} of one: a second process, or a forked child", Many(self.before, "ID"))?;
                }
                if matches!(self.order, Order::Ascending | Order::Descending) {
                    f.write_str("; or the clock of the node stepped back, which sorted IDs do not show")?;
                }
            }
            Kind::ClockBack => {
                write!(f, "the clock of node {node} stepped back ")?;
                let by = Grouped(self.by_ms);
                match self.times {
                    1 => write!(f, "by {by} ms at {from}")?,
                    times => write!(f, "{} times, by up to {by} ms, first at {from}", Grouped(times))?,
                }
                write!(f, " (line {line}): {ids} {lies} in time that had passed")?;
            }
            Kind::Wrapped => write!(
                f,
                "the sequence of node {node} wrapped inside {} from {from} (line {line}) to {to}",
                Many(self.times, "tick")
            )?,
            Kind::Duplicates => {
                write!(
                    f,
                    "{ids} {} more than once, with {}: {first}",
                    if self.ids == 1 { "occurs" } else { "occur" },
                    Many(self.times, "surplus line")
                )?;
                return match (self.order == Order::Unordered, self.explained) {
                    (true, _) => f.write_str(
                        "; without the order of the log the cause is unknown: a shared node, a fork or a clock",
                    ),
                    (false, explained) if explained == self.ids => f.write_str("; the findings above say why"),
                    (false, 0) => f.write_str("; a line was written twice, or two processes share the node"),
                    (false, explained) => {
                        write!(f, "; the findings above explain {} of them", Grouped(explained))
                    }
                };
            }
        }
        if self.repeated > 0 {
            write!(f, "; {} repeat{}", Many(self.repeated, "ID"), if self.repeated == 1 { "s" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString as _;

    use super::*;

    #[test]
    fn every_kind_has_a_separate_name_and_cure() {
        for (place, kind) in Kind::ALL.iter().enumerate() {
            let others = &Kind::ALL[..place];
            assert!(others.iter().all(|other| other.name() != kind.name() && other.cure() != kind.cure()));
            assert!(others.iter().all(|other| other < kind), "the order of a report");
        }
    }

    #[test]
    fn a_second_cause_is_named_where_the_ids_do_not_show_which() {
        let shared = Finding { order: Order::Ascending, ..Finding::new(Kind::SharedNode) };
        assert!(shared.to_string().ends_with("; or the clock of the node stepped back, which sorted IDs do not show"));
        let future = Finding { either: true, ..Finding::new(Kind::Future) };
        assert!(future.to_string().ends_with("so the layout may be another: snowmint inspect ID names it"));
    }

    #[test]
    fn duplicates_say_whether_their_cause_is_known() {
        let mut found = Finding { ids: 2, times: 3, ..Finding::new(Kind::Duplicates) };
        assert!(
            found.to_string().starts_with("2 IDs occur more than once, with 3 surplus lines: first 0 (line 1); a line")
        );
        found.explained = 1;
        assert!(found.to_string().ends_with("explain 1 of them"));
        found.explained = 2;
        assert!(found.to_string().ends_with("; the findings above say why"));
        found.order = Order::Unordered;
        assert!(found.to_string().contains("without the order"));
    }
}
