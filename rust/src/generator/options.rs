//! The options of a generator, and where its node comes from.

use std::fmt;
use std::sync::Arc;

use snowmint_core::{ErrorKind, Layout, Options, Window, layouts};
use snowmint_stores::{Error, Namespace, Terms};

use crate::environment::{Environment, shown};
use crate::lease::backend::Backend;
use crate::lease::key::{ClockId, LeaseKey};
use crate::lease::on_lost::OnLost;
use crate::slots::SlotDirectory;

/// The options of a generator. The environment and defaults fill in what is missing.
#[derive(Clone)]
pub struct LeaseOptions {
    /// The layout of the IDs: [`layouts::SNOWMINT`] by default.
    pub layout: Layout,
    /// The node, checked by [`Layout::node`]. `SNOWMINT_NODE` by default, or any free node.
    pub node: Option<u32>,
    /// The store of the lease. `SNOWMINT_STORE` by default, or the slots of this machine.
    pub store: Option<LeaseStore>,
    /// Connects to a store whose URL this build has no engine for, also that of `SNOWMINT_STORE`.
    pub connect: Option<Connect>,
    /// The namespace of the lease. `SNOWMINT_NAMESPACE` by default, or one for each layout.
    pub namespace: Option<String>,
    /// How the generator treats its clock.
    pub options: Options,
    /// The length of the windows, in ms: at least 1000 and four ticks, at most an hour with `max_ahead_ms`. 3000 by default
    /// for slots, and 30,000 for stores.
    pub window_ms: Option<u64>,
    /// Nodes that the lease does not get.
    pub exclude: Vec<u32>,
    /// Is called when the lease is lost.
    pub on_lost: Option<OnLost>,
    /// The caller's clock. `None` is the system's.
    pub clock: Option<ClockId>,
}

impl Default for LeaseOptions {
    fn default() -> Self {
        Self {
            layout: layouts::SNOWMINT,
            node: None,
            store: None,
            connect: None,
            namespace: None,
            options: Options::DEFAULT,
            window_ms: None,
            exclude: Vec::new(),
            on_lost: None,
            clock: None,
        }
    }
}

/// The store of a lease.
#[derive(Clone, PartialEq, Eq)]
pub enum LeaseStore {
    /// A URL: `file:DIRECTORY` for slots, or that of an engine whose feature is on.
    Url(String),
    /// A store or lessor of the caller.
    Backend(Backend),
}

impl<T: Into<String>> From<T> for LeaseStore {
    fn from(url: T) -> Self {
        Self::Url(url.into())
    }
}

// A URL may have a password.
impl fmt::Debug for LeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => shown(url).fmt(f),
            Self::Backend(backend) => backend.fmt(f),
        }
    }
}

/// Connects to the store of a URL.
#[derive(Clone)]
pub struct Connect(Arc<Connecting>);

type Connecting = dyn Fn(&str) -> Result<Backend, Error> + Send + Sync;

impl Connect {
    /// Calls `connect`, which returns the same store for the same URL.
    pub fn new(connect: impl Fn(&str) -> Result<Backend, Error> + Send + Sync + 'static) -> Self {
        Self(Arc::new(connect))
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connect")
    }
}

/// Where the node of a generator comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// From the caller, who vouches for it.
    Vouched(u32),
    Leased(Arc<LeaseKey>),
}

// A URL may have a password.
impl fmt::Debug for LeaseOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseOptions")
            .field("layout", &self.layout.to_string())
            .field("node", &self.node)
            .field("store", &self.store)
            .field("namespace", &self.namespace)
            .field("options", &self.options)
            .field("window_ms", &self.window_ms)
            .finish_non_exhaustive()
    }
}

impl LeaseOptions {
    /// Resolves the options against environment and defaults.
    ///
    /// A node without a store and a namespace is vouched for by the caller. With `leases` that holds only for
    /// `SNOWMINT_NODE`: a node in the options is leased from the slots.
    pub(crate) fn resolve(self, environment: &Environment, leases: bool) -> Result<Source, Error> {
        let layout = self.layout;
        let leases = leases && self.node.is_some();
        let node =
            match (self.node, &environment.node) {
                (None, Some(text)) => Some(layout.parse_node(text).map_err(|error| {
                    Error::told(ErrorKind::InvalidNode, format!("SNOWMINT_NODE is {text:?}: {error}"))
                })?),
                (node, _) => node,
            };
        let store = self.store.or_else(|| environment.store.clone().map(LeaseStore::Url));
        let namespace = self.namespace.as_ref().or(environment.namespace.as_ref());
        if let Some(node) = node
            && !leases
            && snowmint_core::lease::is_vouched(node, store.is_some(), namespace.is_some())
        {
            return Ok(Source::Vouched(node));
        }
        let backend = match store {
            Some(LeaseStore::Url(url)) => match (Backend::of_url(&url), &self.connect) {
                (Err(_), Some(Connect(connect))) => connect(&url)?,
                (backend, _) => backend?,
            },
            Some(LeaseStore::Backend(backend)) => backend,
            None => Backend::Slots(SlotDirectory::of_machine(environment)?),
        };
        if backend.has_clock() && self.clock.is_some() {
            return Err(Error::told(
                ErrorKind::InvalidNode,
                format!("{} leases by its own clock, which generators read: give no clock", backend.name()),
            ));
        }
        let default_ms = if let Backend::Slots(_) = backend { Window::SLOT_MS } else { Window::ENGINE_MS };
        let Options { max_ahead_ms, max_wait_ms, .. } = self.options;
        let terms = Terms {
            namespace: namespace.map_or_else(|| Ok(Namespace::of_layout(&layout)), |name| Namespace::named(name))?,
            layout,
            node,
            exclude: self.exclude,
            max_ahead_ms,
            max_wait_ms,
            window_ms: Window::length_ms(&layout, self.window_ms, default_ms, max_ahead_ms)?,
            system_clock: self.clock.is_none(),
        };
        Ok(Source::Leased(Arc::new(LeaseKey { backend, clock: self.clock, terms })))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use snowmint_core::layouts::TWITTER;

    use super::*;

    fn options() -> LeaseOptions {
        LeaseOptions { layout: TWITTER, ..LeaseOptions::default() }
    }

    fn leased(options: LeaseOptions, environment: &Environment) -> Arc<LeaseKey> {
        match options.resolve(environment, false).expect("resolved") {
            Source::Leased(key) => key,
            Source::Vouched(node) => panic!("node {node} was vouched"),
        }
    }

    fn slots(path: &str, allow_unsafe: bool) -> Backend {
        Backend::Slots(SlotDirectory::named(Path::new(path), allow_unsafe).expect("a path"))
    }

    #[test]
    fn arguments_come_before_the_environment() {
        let environment = Environment {
            store: Some("file:/srv/a".into()),
            namespace: Some("orders".into()),
            ..Environment::default()
        };
        let key = leased(LeaseOptions { namespace: Some("mails".into()), ..options() }, &environment);
        assert_eq!((&key.backend, key.terms.namespace.to_string()), (&slots("/srv/a", false), "mails".to_owned()));
        let store = Some("file:///srv/b?allow_unsafe=true".into());
        let key = leased(LeaseOptions { store, ..options() }, &environment);
        assert_eq!((&key.backend, key.terms.namespace.to_string()), (&slots("/srv/b", true), "orders".to_owned()));
        assert_eq!((key.terms.window_ms, key.terms.node), (3000, None));
    }

    #[test]
    fn a_node_is_leased_with_a_store_or_namespace_and_vouched_alone() {
        let none = Environment::default();
        let in_environment = Environment { node: Some("datacenter=1,worker=2".into()), ..none.clone() };
        let with_store = Environment { store: Some("file:/srv/a".into()), ..in_environment.clone() };
        let vouched = |options: LeaseOptions, environment: &Environment| {
            matches!(options.resolve(environment, false), Ok(Source::Vouched(34)))
        };
        assert!(vouched(LeaseOptions { node: Some(34), ..options() }, &none));
        assert!(vouched(options(), &in_environment));
        assert!(!vouched(options(), &with_store));
        let named = LeaseOptions { namespace: Some("mails".into()), store: Some("file:/srv/a".into()), ..options() };
        for (options, environment) in [(options(), &with_store), (named, &in_environment)] {
            assert_eq!(leased(options, environment).terms.node, Some(34));
        }
        let slots = Environment { state_dir: Some("/srv/slots".into()), ..none };
        let always = LeaseOptions { node: Some(34), ..options() }.resolve(&slots, true).expect("resolved");
        assert!(matches!(always, Source::Leased(key) if key.terms.node == Some(34)));
        assert!(matches!(options().resolve(&in_environment, true), Ok(Source::Vouched(34))));
    }

    #[test]
    fn wrong_options_are_refused_by_kind() {
        let with_node = |text: &str| Environment { node: Some(text.into()), ..Environment::default() };
        let none = Environment::default();
        let store = |url: &str| LeaseOptions { store: Some(url.into()), ..options() };
        let ahead = Options { max_ahead_ms: u64::MAX, ..Options::DEFAULT };
        let cases = [
            (options(), with_node("1024"), ErrorKind::InvalidNode, "SNOWMINT_NODE is \"1024\""),
            (options(), with_node(""), ErrorKind::InvalidNode, "SNOWMINT_NODE is \"\""),
            (store("oracle://db"), none.clone(), ErrorKind::StoreUnavailable, "no such store: "),
            (store("file:"), none.clone(), ErrorKind::StoreUnavailable, "file:DIRECTORY"),
            (store("file:/srv?fsync=no"), none.clone(), ErrorKind::StoreUnavailable, "file:DIRECTORY"),
            (
                LeaseOptions { namespace: Some("a/b".into()), ..store("file:/srv") },
                none.clone(),
                ErrorKind::InvalidNode,
                "a/b",
            ),
            (
                LeaseOptions { window_ms: Some(999), ..store("file:/srv") },
                none.clone(),
                ErrorKind::InvalidLayout,
                "at least 1000",
            ),
            (
                LeaseOptions { options: ahead, ..store("file:/srv") },
                none,
                ErrorKind::InvalidLayout,
                "at most 3600000 with max_ahead_ms",
            ),
        ];
        for (options, environment, kind, part) in cases {
            let error = options.resolve(&environment, false).expect_err(part);
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn no_text_shows_a_password() {
        let url = "postgres://me:secret@db/app";
        let options = |url: &str| LeaseOptions { store: Some(url.into()), ..options() };
        let environment = Environment { store: Some(url.into()), ..Environment::default() };
        let resolved = match options(url).resolve(&environment, false) {
            Ok(source) => format!("{source:?}"),
            Err(error) => error.to_string(),
        };
        let other = options("oracle://me:secret@db").resolve(&environment, false).expect_err("no such store");
        let texts = format!("{:?} {environment:?} {resolved} {other}", options(url));
        assert!(!texts.contains("secret"), "{texts}");
        assert!(texts.contains("postgres") && texts.contains("oracle"), "{texts}");
    }
}
