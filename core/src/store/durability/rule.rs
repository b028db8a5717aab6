//! A rule about one setting: its safe values, its risk, and the advice.

use super::Kind;

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) kind: Kind,
    pub(super) setting: &'static str,
    pub(super) right: Right,
    /// Whether an engine without this setting is safe.
    pub(super) may_lack: bool,
    /// Another setting, and the values of it that remove the risk.
    pub(super) unless: Option<(&'static str, Right)>,
    /// The meaning of the value: follows it in a message.
    pub(super) note: &'static str,
    /// The advice; for a failover also its price, in a clause with "which".
    pub(super) cure: &'static str,
}

/// The safe values of a setting. Case does not matter.
#[derive(Debug)]
pub(super) enum Right {
    OneOf(&'static [&'static str]),
    NoneOf(&'static [&'static str]),
    NotBeginning(&'static str),
}

pub(super) const OFF: &[&str] = &["0", "off"];
pub(super) const ON: &[&str] = &["1", "on"];

pub(super) const fn rule(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Crash, setting, right, may_lack: false, unless: None, note, cure }
}

pub(super) const fn failover(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Failover, ..rule(setting, right, note, cure) }
}

pub(super) const fn reader(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Reader, ..rule(setting, right, note, cure) }
}

/// A word of Redis on a rewrite of its append-only file.
pub(super) const fn rewrite(setting: &'static str) -> Rule {
    let note = ", its append-only file is not complete";
    Rule { may_lack: true, ..rule(setting, Right::OneOf(&["0"]), note, "wait until the rewrite ends") }
}

/// A table that a crash empties; an engine reports no other tables. The value says why.
pub(super) const fn table(setting: &'static str, cure: &'static str) -> Rule {
    Rule { may_lack: true, ..rule(setting, Right::OneOf(&[]), "", cure) }
}

/// The beginning of the settings that are tables.
pub(super) const TABLE: &str = "table ";

impl Right {
    /// Returns whether a value is safe.
    pub(super) fn has(&self, value: &str) -> bool {
        let among = |all: &[&str]| all.iter().any(|each| each.eq_ignore_ascii_case(value));
        match self {
            Self::OneOf(right) => among(right),
            Self::NoneOf(wrong) => !among(wrong),
            Self::NotBeginning(wrong) => {
                !value.get(..wrong.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(wrong))
            }
        }
    }
}
