//! The messages that refuse a store.

use core::fmt;

use super::rule::TABLE;
use super::{Finding, Kind};

/// The options that accept risks, in the spelling of the caller's language.
#[derive(Clone, Copy, Debug)]
pub struct Accepting {
    /// The option that accepts all settings, such as `allow_unsafe=true`.
    pub lossy: &'static str,
    /// The option that accepts settings of [`Kind::Failover`], such as `allow_standby=true`.
    pub standby: &'static str,
}

impl Accepting {
    /// The spelling in URLs, Rust and Python.
    pub const URL: Self = Self { lossy: "allow_unsafe=true", standby: "allow_standby=true" };
    /// The spelling in JavaScript.
    pub const JAVASCRIPT: Self = Self { lossy: "allowUnsafe: true", standby: "allowStandby: true" };
}

impl<'a> Finding<'a> {
    /// Returns the risk of the setting.
    pub const fn kind(&self) -> Kind {
        self.rule.kind
    }

    /// Returns the message that refuses a store with this setting: the setting, the risk, and what to do.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::{Accepting, Engine};
    /// let finding = Engine::Postgres.refuse(|_| Some("off")).expect("a server that can lose writes");
    /// assert_eq!(
    ///     finding.refusal(&Accepting::URL).to_string(),
    ///     "fsync=off, so confirmed writes can be lost: set fsync=on in postgresql.conf and reload it, or pass \
    ///      allow_unsafe=true"
    /// );
    /// ```
    pub const fn refusal(&'a self, accepting: &'a Accepting) -> impl fmt::Display + 'a {
        Message { found: self, accepting }
    }
}

struct Message<'a> {
    found: &'a Finding<'a>,
    accepting: &'a Accepting,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, accepting } = self;
        let cure = found.rule.cure;
        match found.rule.kind {
            Kind::Crash => Refusal { found, cure, option: accepting.lossy }.fmt(f),
            Kind::Failover => write!(
                f,
                "{found}, so a failover can lose confirmed writes: {cure}, or pass {} if `snowmint fence` follows every \
                 failover",
                accepting.standby
            ),
            Kind::Reader | Kind::Ending => write!(f, "{found}, so it is not the server to write to: {cure}"),
        }
    }
}

/// Writes the setting and its value: `fsync=off`, `the table snowmint.records is unlogged`.
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) if self.rule.setting.starts_with(TABLE) => write!(f, "the {} is {value}", self.rule.setting),
            Some(value) => write!(f, "{}={value}{}", self.rule.setting, self.rule.note),
            None => write!(f, "{} is not reported", self.rule.setting),
        }
    }
}

/// The message that refuses a store, the same in every language.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a, Found, Cure = &'a str> {
    /// The reason: a setting, a table, a file system.
    pub found: Found,
    /// What to do.
    pub cure: Cure,
    /// The option that accepts the risk, such as `allow_unsafe=true`.
    pub option: &'a str,
}

impl<Found: fmt::Display, Cure: fmt::Display> fmt::Display for Refusal<'_, Found, Cure> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, cure, option } = self;
        write!(f, "{found}, so confirmed writes can be lost: {cure}, or pass {option}")
    }
}
