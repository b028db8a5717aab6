//! From what the caller and the environment say to where the node comes from.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use snowmint_core::{ErrorKind, Layout, Options, Window};

pub use crate::environment::Environment;
use crate::error::Error;
use crate::file::Place;
use crate::given::Given;
use crate::lease::OnLost;
use crate::namespace::Namespace;
use crate::process::LeaseKey;

/// What a caller wants of a generator; what is not given has the default.
#[derive(Clone, Default)]
pub struct Config {
    /// A node, checked by [`Layout::node`], that no other generator has.
    pub node: Option<u32>,
    /// The store to lease from.
    pub store: Option<LeaseStore>,
    /// How to come by a store for a URL that this build has no engine for, also that of `SNOWMINT_STORE`.
    pub connect: Option<Connect>,
    /// The namespace of the lease; by default there is one for each layout.
    pub namespace: Option<String>,
    /// How to deal with the clock.
    pub options: Options,
    /// How long the windows of the lease are, in ms: 3000 for slots, 30,000 for engines, 1000 and four ticks at least,
    /// and with `max_ahead_ms` an hour at most.
    pub window_ms: Option<u64>,
    /// Nodes that a lease is not to get.
    pub exclude: Vec<u32>,
    /// Told when the lease is lost.
    pub on_lost: Option<OnLost>,
    /// Which clock the host reads: generators share states and leases only on the same one. 0 is the system's.
    pub clock: usize,
}

/// A store to lease from.
#[derive(Clone, PartialEq, Eq)]
pub enum LeaseStore {
    /// The one of that URL: `file:DIRECTORY` for slots, or that of an engine whose feature is on.
    Url(String),
    /// One of the caller's own.
    Given(Given),
}

impl<T: Into<String>> From<T> for LeaseStore {
    fn from(url: T) -> Self {
        Self::Url(url.into())
    }
}

// A password may be in a URL.
impl fmt::Debug for LeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => shown(url).fmt(f),
            Self::Given(given) => given.fmt(f),
        }
    }
}

/// Makes a store of a URL.
#[derive(Clone)]
pub struct Connect(Arc<Connecting>);

type Connecting = dyn Fn(&str) -> Result<Given, Error> + Send + Sync;

impl Connect {
    /// By that function, which gives the same store for the same URL.
    pub fn new(connect: impl Fn(&str) -> Result<Given, Error> + Send + Sync + 'static) -> Self {
        Self(Arc::new(connect))
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connect")
    }
}

/// Where leases are kept.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Keeper {
    /// Slots of this machine.
    Slots(Place),
    /// The engine of that URL.
    #[cfg(feature = "engines")]
    Engine(String),
    Given(Given),
}

// A password may be in a URL.
impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slots(place) => place.fmt(f),
            #[cfg(feature = "engines")]
            Self::Engine(url) => shown(url).fmt(f),
            Self::Given(given) => given.fmt(f),
        }
    }
}

impl Keeper {
    /// Whether its own clock counts.
    pub(crate) const fn has_clock(&self) -> bool {
        matches!(self, Self::Given(given) if given.has_clock())
    }
}

/// As much of a URL as may be shown.
pub(crate) fn shown(url: &str) -> &str {
    match url.split_once(':') {
        Some((scheme, _)) if scheme != "file" => scheme,
        _ => url,
    }
}

/// Where the node comes from.
#[derive(Debug)]
pub(crate) enum Plan {
    /// From the caller, who vouches for it.
    Vouched(u32),
    Leased(Terms),
}

/// What is leased, and how.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) key: Arc<LeaseKey>,
    pub(crate) window_ms: u64,
    pub(crate) on_lost: Option<OnLost>,
}

// A password may be in a URL.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("node", &self.node)
            .field("store", &self.store)
            .field("namespace", &self.namespace)
            .field("options", &self.options)
            .field("window_ms", &self.window_ms)
            .finish_non_exhaustive()
    }
}

impl Plan {
    /// Whether the clock of who grants the lease counts.
    pub(crate) fn has_clock(&self) -> bool {
        matches!(self, Self::Leased(terms) if terms.key.keeper.has_clock())
    }
}

impl Config {
    pub(crate) fn plan(self, layout: &Layout, environment: &Environment) -> Result<Plan, Error> {
        let leased = self.store.is_some() || self.namespace.is_some();
        if let Some(node) = self.node {
            if leased {
                return Err(Error::told(
                    ErrorKind::InvalidNode,
                    "a node comes from the caller or from a lease: give a node, or a store and namespace, not both",
                ));
            }
            return Ok(Plan::Vouched(node));
        }
        if let Some(text) = environment.node.as_ref().filter(|_| !leased) {
            let node = layout.parse_node(text);
            return node
                .map(Plan::Vouched)
                .map_err(|error| Error::told(ErrorKind::InvalidNode, format!("SNOWMINT_NODE is {text:?}: {error}")));
        }
        let store = self.store.or_else(|| environment.store.clone().map(LeaseStore::Url));
        let keeper = match store {
            Some(LeaseStore::Url(url)) => keeper_of(&url, self.connect.as_ref())?,
            Some(LeaseStore::Given(given)) => Keeper::Given(given),
            None => Keeper::Slots(Place::of_machine(environment)?),
        };
        if let Keeper::Given(lessor) = &keeper
            && lessor.has_clock()
            && self.clock != 0
        {
            return Err(Error::told(
                ErrorKind::InvalidNode,
                format!("{} leases by its own clock, which generators go by: give no clock", lessor.name()),
            ));
        }
        let length_ms = if let Keeper::Slots(_) = keeper { Window::SLOT_MS } else { Window::ENGINE_MS };
        let namespace = match self.namespace.as_ref().or(environment.namespace.as_ref()) {
            Some(name) => Namespace::named(name)?,
            None => Namespace::of_layout(layout),
        };
        Ok(Plan::Leased(Terms {
            window_ms: Window::length_ms(layout, self.window_ms, length_ms, self.options.max_ahead_ms)?,
            key: Arc::new(LeaseKey {
                keeper,
                namespace,
                numbers: layout.numbers(),
                clock: self.clock,
                exclude: self.exclude,
            }),
            on_lost: self.on_lost,
        }))
    }
}

/// Where the leases of the store of a URL are kept.
fn keeper_of(url: &str, connect: Option<&Connect>) -> Result<Keeper, Error> {
    if url.starts_with("file:") {
        return place_of(url).map(Keeper::Slots);
    }
    #[cfg(feature = "engines")]
    let found =
        crate::engines::find(&crate::store::url::Url::parse(url)?.scheme).map(|_| Keeper::Engine(url.to_owned()));
    #[cfg(not(feature = "engines"))]
    let found = place_of(url).map(Keeper::Slots);
    match (found, connect) {
        (Err(_), Some(Connect(connect))) => connect(url).map(Keeper::Given),
        (found, _) => found,
    }
}

/// The directory of `file:DIRECTORY`, with `?allow_unsafe=true` if need be.
pub(crate) fn place_of(url: &str) -> Result<Place, Error> {
    let unknown = || {
        // No more of it, as it may have a password.
        let scheme = url.split(':').next().unwrap_or_default();
        Error::told(
            ErrorKind::StoreUnavailable,
            format!("no such store: {scheme:?}. Give file:DIRECTORY, or file:DIRECTORY?allow_unsafe=true"),
        )
    };
    let path = url.strip_prefix("file:").ok_or_else(unknown)?;
    // `file:///srv` and `file:/srv` are the same.
    let path = path.strip_prefix("//").unwrap_or(path);
    let (path, allow_unsafe) = match path.split_once('?') {
        None => (path, false),
        Some((path, "allow_unsafe=true")) => (path, true),
        Some((path, "allow_unsafe=false")) => (path, false),
        Some(_) => return Err(unknown()),
    };
    if path.is_empty() { Err(unknown()) } else { Place::named(Path::new(path), allow_unsafe) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snowmint_core::layouts::TWITTER;

    fn plan(config: Config, environment: &Environment) -> Result<Plan, Error> {
        config.plan(&TWITTER, environment)
    }

    fn leased(config: Config, environment: &Environment) -> Terms {
        match plan(config, environment).expect("a plan") {
            Plan::Leased(terms) => terms,
            Plan::Vouched(node) => panic!("node {node} was vouched"),
        }
    }

    #[test]
    fn arguments_come_before_the_environment_and_a_node_before_a_store() {
        let environment = Environment {
            node: Some("datacenter=1,worker=2".into()),
            store: Some("file:/srv/a".into()),
            namespace: Some("orders".into()),
            ..Environment::default()
        };
        assert!(matches!(plan(Config { node: Some(7), ..Config::default() }, &environment), Ok(Plan::Vouched(7))));
        assert!(matches!(plan(Config::default(), &environment), Ok(Plan::Vouched(34))));
        let terms = leased(Config { namespace: Some("mails".into()), ..Config::default() }, &environment);
        assert_eq!(Ok(terms.key.keeper.clone()), Place::named(Path::new("/srv/a"), false).map(Keeper::Slots));
        assert_eq!(terms.key.namespace.to_string(), "mails");
        let without_node = Environment { node: None, ..environment };
        let config = Config { store: Some("file:///srv/b?allow_unsafe=true".into()), ..Config::default() };
        let terms = leased(config, &without_node);
        assert_eq!(Ok(terms.key.keeper.clone()), Place::named(Path::new("/srv/b"), true).map(Keeper::Slots));
        assert_eq!(terms.key.namespace.to_string(), "orders");
        assert_eq!(terms.window_ms, 3000);
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_kind() {
        let with_node = |text: &str| Environment { node: Some(text.into()), ..Environment::default() };
        let none = Environment::default();
        let store = |url: &str| Config { store: Some(url.into()), ..Config::default() };
        let cases = [
            (Config::default(), with_node("1024"), ErrorKind::InvalidNode, "SNOWMINT_NODE is \"1024\""),
            (Config::default(), with_node(""), ErrorKind::InvalidNode, "SNOWMINT_NODE is \"\""),
            (Config { node: Some(1), ..store("file:/srv") }, none.clone(), ErrorKind::InvalidNode, "not both"),
            (store("oracle://db"), none.clone(), ErrorKind::StoreUnavailable, "no such store: "),
            (store("file:"), none.clone(), ErrorKind::StoreUnavailable, "file:DIRECTORY"),
            (store("file:/srv?fsync=no"), none.clone(), ErrorKind::StoreUnavailable, "file:DIRECTORY"),
            (
                Config { namespace: Some("a/b".into()), ..store("file:/srv") },
                none.clone(),
                ErrorKind::InvalidNode,
                "a/b",
            ),
            (
                Config { window_ms: Some(999), ..store("file:/srv") },
                none.clone(),
                ErrorKind::InvalidLayout,
                "1000 or more",
            ),
            (
                Config { options: Options { max_ahead_ms: u64::MAX, ..Options::DEFAULT }, ..store("file:/srv") },
                none,
                ErrorKind::InvalidLayout,
                "3600000 or less with max_ahead_ms",
            ),
        ];
        for (config, environment, kind, part) in cases {
            let error = plan(config.clone(), &environment).expect_err(part);
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn no_text_shows_a_password() {
        let url = "postgres://me:secret@db/app";
        let config = Config { store: Some(url.into()), ..Config::default() };
        let environment = Environment { store: Some(url.into()), ..Environment::default() };
        let planned = match plan(config.clone(), &environment) {
            Ok(plan) => format!("{plan:?}"),
            Err(error) => error.to_string(),
        };
        let other = plan(Config { store: Some("oracle://me:secret@db".into()), ..Config::default() }, &environment);
        let other = other.expect_err("no such store");
        let texts = format!("{config:?} {environment:?} {planned} {other}");
        assert!(!texts.contains("secret"), "{texts}");
        assert!(texts.contains("postgres") && texts.contains("oracle"), "{texts}");
    }
}
