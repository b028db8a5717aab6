//! The reasons why files are not safe at a path, and the messages about them.

use core::fmt;

use super::file_system::FileSystem;
use super::variables::{CONTAINER, ONE_PERSON, Orchestrator};
use crate::store::durability::Refusal;

/// The reason why files at a path are not safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt<'a> {
    pub(super) path: &'a str,
    pub(super) why: Why<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why<'a> {
    Orchestrated(Orchestrator),
    Container(Mark<'a>),
    Elsewhere,
    FileSystem(FileSystem),
    Volume(&'static str),
}

/// The sign of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark<'a> {
    Root(&'a str),
    File(&'a str),
    Variable,
}

/// A private place where one person works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerated<'a> {
    pub(super) doubt: Doubt<'a>,
    pub(super) sign: &'static str,
}

/// Writes the reason as a clause: `/var/lib/ids is on overlayfs, which ...`.
impl fmt::Display for Doubt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path;
        match self.why {
            Why::Orchestrated(Orchestrator { name, unit, .. }) => {
                write!(f, "in {name} {path} is private to each {unit}")
            }
            Why::Container(mark) => {
                write!(f, "in a container (found by {mark}) other containers may not see {path}")
            }
            Why::Elsewhere => write!(f, "{path} is mounted for this process alone, or for this and few others"),
            Why::FileSystem(FileSystem { name, note }) => write!(f, "{path} is on {name}{note}"),
            Why::Volume(kind) => write!(f, "{path} is on {kind}"),
        }
    }
}

impl fmt::Display for Mark<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(kind) => write!(f, "its root on {kind}"),
            Self::File(path) => f.write_str(path),
            Self::Variable => write!(f, "the variable {CONTAINER}"),
        }
    }
}

impl<'a> Doubt<'a> {
    /// Returns the same doubt with another name for the path, such as `the file`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/tmp/ids", file_system: 0x0102_1994, ..Facts::default() };
    /// let doubt = facts.lossy().expect("memory").called("the file");
    /// assert!(doubt.to_string().starts_with("the file is on tmpfs, "));
    /// ```
    #[must_use]
    pub const fn called(self, name: &'a str) -> Self {
        Self { path: name, ..self }
    }

    /// Returns the message that refuses the default directory of slots.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::{Facts, Variables, Verdict};
    /// let variables = Variables::read(|name| name == "NOMAD_ALLOC_ID");
    /// let facts = Facts { path: "/var/lib/ids", variables, ..Facts::default() };
    /// let Verdict::Refused(doubt) = facts.default_place() else { panic!("Nomad") };
    /// assert!(doubt.refuse_slots().to_string().contains("set SNOWMINT_STORE, or pass a store"));
    /// ```
    pub const fn refuse_slots(&'a self) -> impl fmt::Display + 'a {
        DefaultPlaceRefusal {
            doubt: self,
            rest: "set SNOWMINT_STORE, or pass a store, such as postgres://HOST/DATABASE, that all generators share. Or set \
                   SNOWMINT_STATE_DIR to a directory of a named volume that all containers of the machine share",
        }
    }

    /// Returns the message that refuses the default database of a service.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::{Facts, Variables, Verdict};
    /// let variables = Variables::read(|name| name == "NOMAD_ALLOC_ID");
    /// let facts = Facts { path: "/var/lib/ids", variables, ..Facts::default() };
    /// let Verdict::Refused(doubt) = facts.default_place() else { panic!("Nomad") };
    /// assert!(doubt.refuse_database().to_string().contains("name a store that all servers share"));
    /// ```
    pub const fn refuse_database(&'a self) -> impl fmt::Display + 'a {
        DefaultPlaceRefusal {
            doubt: self,
            rest: "name a store that all servers share, such as --store postgres://HOST/DATABASE. Or name --store sqlite:PATH \
                   on a named volume that stays and that all containers of the machine share",
        }
    }

    /// Returns the message that refuses files that the caller named. `option` is the option that accepts the place.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::Facts;
    /// let facts = Facts { path: "/tmp/ids", file_system: 0x0102_1994, ..Facts::default() };
    /// let doubt = facts.lossy().expect("memory");
    /// assert!(doubt.refuse_named("allow_unsafe=true").to_string().ends_with("or pass allow_unsafe=true"));
    /// ```
    pub const fn refuse_named(&'a self, option: &'a str) -> Refusal<'a, &'a Self> {
        const CURE: &str = "name a path on a local disk or a named volume that stays and that all generators share (a test \
                            or CI job whose IDs are thrown away may allow it)";
        Refusal { found: self, cure: CURE, option }
    }
}

struct DefaultPlaceRefusal<'a> {
    doubt: &'a Doubt<'a>,
    rest: &'static str,
}

impl fmt::Display for DefaultPlaceRefusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doubt, self.rest)
    }
}

impl<'a> Tolerated<'a> {
    /// Returns the warning about slots in the default directory.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::{Facts, Verdict};
    /// let mounts = "27 1 0:30 / / rw - overlay overlay rw,lowerdir=/image";
    /// let facts = Facts { path: "/var/lib/ids", mounts, terminal: true, ..Facts::default() };
    /// let Verdict::Tolerated(tolerated) = facts.default_place() else { panic!("a container") };
    /// assert!(tolerated.warn_of_slots().to_string().contains("set SNOWMINT_STORE"));
    /// ```
    pub const fn warn_of_slots(&'a self) -> impl fmt::Display + 'a {
        Warned {
            tolerated: self,
            rest: "the node is random, and an ID of another container can be equal. Before their IDs come together, set \
                   SNOWMINT_STORE to a store that all generators share",
        }
    }

    /// Returns the warning about the default database of a service.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::{Facts, Verdict};
    /// let mounts = "27 1 0:30 / / rw - overlay overlay rw,lowerdir=/image";
    /// let facts = Facts { path: "/root/ids.db", mounts, terminal: true, ..Facts::default() };
    /// let Verdict::Tolerated(tolerated) = facts.default_place() else { panic!("a container") };
    /// assert!(tolerated.warn_of_database().to_string().contains("SNOWMINT_STORE"));
    /// ```
    pub const fn warn_of_database(&'a self) -> impl fmt::Display + 'a {
        Warned {
            tolerated: self,
            rest: "the numbers are lost with the container, and another server can give the same ones. Name a store that stays \
                   by --store or SNOWMINT_STORE",
        }
    }
}

struct Warned<'a> {
    tolerated: &'a Tolerated<'a>,
    rest: &'static str,
}

impl fmt::Display for Warned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tolerated { doubt, sign } = self.tolerated;
        let is_set = if ONE_PERSON.contains(sign) { " is set" } else { "" };
        write!(f, "{doubt}, which is accepted because {sign}{is_set}: {}", self.rest)
    }
}
