//! The options of a generator, and where its node comes from.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use snowmint_core::{ErrorKind, Layout, Options, SequenceStart, Window};
use snowmint_stores::host::{Namespace, Terms};
use snowmint_stores::{Error, RecordStore};

use crate::clock::Clock;
use crate::environment::{Environment, shown};
use crate::lease::backend::Backend;
use crate::lease::key::{ClockId, LeaseKey};
use crate::lease::on_lost::OnLost;
use crate::slots::SlotDirectory;

/// The options of a leased generator. The environment and defaults fill in missing options.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use snowmint::{LeaseOptions, layouts::TWITTER};
/// let options = LeaseOptions::new().layout(TWITTER).store("file:/var/lib/ids").max_wait(Duration::from_millis(200));
/// assert_eq!(options.options.max_wait_ms, 200);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct LeaseOptions {
    /// The layout of the IDs. `SNOWMINT_LAYOUT` by default, or [`layouts::SNOWMINT`](snowmint_core::layouts::SNOWMINT).
    pub layout: Option<Layout>,
    /// The node, checked by [`Layout::node`]. `SNOWMINT_NODE` by default, or any free node.
    pub node: Option<u32>,
    /// The store of the lease. `SNOWMINT_STORE` by default, or the slots of this machine.
    pub store: Option<LeaseStore>,
    /// Connects to a store, given here or in `SNOWMINT_STORE`, for whose URL this build has no engine.
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
    /// The caller's clock, for hosts that read it themselves. `None` is the system's.
    pub clock: Option<ClockId>,
    /// The caller's clock, if the generator reads it.
    pub(crate) read: Option<Clock>,
}

impl LeaseOptions {
    /// Makes options of which all are missing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the layout of the IDs.
    #[must_use]
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Sets the node: no other one is leased. [`Layout::node`] and [`Layout::parse_node`] make it of fields.
    #[must_use]
    pub const fn node(mut self, node: u32) -> Self {
        self.node = Some(node);
        self
    }

    /// Sets the store: a URL, or a store of the caller by [`LeaseStore::own`] or [`LeaseStore::blocking`].
    #[must_use]
    pub fn store(mut self, store: impl Into<LeaseStore>) -> Self {
        self.store = Some(store.into());
        self
    }

    /// Sets the namespace, 1 to 64 of `a-z A-Z 0-9 . _ -`: leases of one never have the same node, leases of two may.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets how the generator treats its clock.
    #[must_use]
    pub const fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets how far IDs may run ahead of the clock, in whole ms: 0 by default.
    #[must_use]
    pub fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.options.max_ahead_ms = whole_ms(max_ahead);
        self
    }

    /// Sets how long one call may wait, in whole ms: 1000 by default.
    #[must_use]
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.options.max_wait_ms = whole_ms(max_wait);
        self
    }

    /// Sets where the sequence begins in a new tick.
    #[must_use]
    pub const fn sequence_start(mut self, start: SequenceStart) -> Self {
        self.options.sequence_start = start;
        self
    }

    /// Sets the length of the windows, in whole ms; see [`window_ms`](Self::window_ms).
    #[must_use]
    pub fn window(mut self, window: Duration) -> Self {
        self.window_ms = Some(whole_ms(window));
        self
    }

    /// Adds nodes that the lease does not get, such as those of a system that this one replaces.
    #[must_use]
    pub fn exclude(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        self.exclude.extend(nodes);
        self
    }

    /// Sets the function that is called with the reason when the lease is lost, once, on a separate thread.
    #[must_use]
    pub fn on_lost(mut self, callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_lost = Some(OnLost::new(callback));
        self
    }

    /// Sets the clock. Without one it is the system's.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock.id());
        self.read = Some(clock);
        self
    }
}

fn whole_ms(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

impl Default for LeaseOptions {
    fn default() -> Self {
        Self {
            layout: None,
            node: None,
            store: None,
            connect: None,
            namespace: None,
            options: Options::DEFAULT,
            window_ms: None,
            exclude: Vec::new(),
            on_lost: None,
            clock: None,
            read: None,
        }
    }
}

/// The store of a lease.
#[derive(Clone, PartialEq, Eq)]
pub enum LeaseStore {
    /// A URL: `file:DIRECTORY` for slots, or the URL of an engine whose feature is on.
    Url(String),
    /// A store or lessor of the caller.
    Backend(Backend),
}

impl LeaseStore {
    /// Makes it of a store of the caller whose calls wait on a runtime of tokio. Generators share a lease if they have this
    /// value or a clone of it.
    #[cfg(feature = "engines")]
    pub fn own(store: Arc<dyn RecordStore>) -> Self {
        Self::Backend(Backend::AsyncStore(store, number()))
    }

    /// Makes it of a store of the caller whose calls block: each of its futures is ready when it is first asked. Generators
    /// share a lease if they have this value or a clone of it.
    pub fn blocking(store: impl RecordStore) -> Self {
        Self::Backend(Backend::blocking(store, number()))
    }
}

/// Returns the number of another store of the caller.
fn number() -> usize {
    static STORES: AtomicUsize = AtomicUsize::new(0);
    STORES.fetch_add(1, Ordering::Relaxed)
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

    /// Connects to the store of a URL.
    ///
    /// # Errors
    /// The errors of the function.
    pub fn connect(&self, url: &str) -> Result<Backend, Error> {
        self.0(url)
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
            .field("layout", &self.layout.map(|layout| layout.to_string()))
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
        let layout = environment.layout(self.layout)?;
        let leases = leases && self.node.is_some();
        let node =
            match (self.node, &environment.node) {
                (None, Some(text)) => Some(layout.parse_node(text).map_err(|error| {
                    Error::told(ErrorKind::InvalidNode, format!("SNOWMINT_NODE is {text:?}: {error}"))
                })?),
                (node, _) => node.map(|node| layout.node(node.into())).transpose()?,
            };
        let store = self.store.or_else(|| environment.store.clone().map(LeaseStore::Url));
        let namespace = self.namespace.as_ref().or(environment.namespace.as_ref());
        if let Some(node) = node
            && !leases
            && snowmint_core::lease::is_vouched(store.is_some(), namespace.is_some())
        {
            return Ok(Source::Vouched(node));
        }
        let backend = match store {
            Some(LeaseStore::Url(url)) => match (Backend::of_url(&url), &self.connect) {
                (Err(_), Some(given)) => given.connect(&url)?,
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

    use snowmint_core::layouts::{LEAF, SNOWMINT, TWITTER};

    use super::*;

    fn options() -> LeaseOptions {
        LeaseOptions::new().layout(TWITTER)
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
        let key = leased(options().namespace("mails"), &environment);
        assert_eq!((&key.backend, key.terms.namespace.to_string()), (&slots("/srv/a", false), "mails".to_owned()));
        let store = Some("file:///srv/b?allow_unsafe=true".into());
        let key = leased(LeaseOptions { store, ..options() }, &environment);
        assert_eq!((&key.backend, key.terms.namespace.to_string()), (&slots("/srv/b", true), "orders".to_owned()));
        assert_eq!((key.terms.window_ms, key.terms.node), (3000, None));
    }

    #[test]
    fn a_layout_of_the_environment_counts_where_none_is_given() {
        let of = |layout: &str| Environment { layout: Some(layout.into()), ..Environment::default() };
        let named = || LeaseOptions::new().store("file:/srv/a");
        assert_eq!(leased(named(), &of("leaf")).terms.layout, LEAF);
        assert_eq!(leased(named(), &of("time:43,sequence:12;epoch=0")).terms.layout.bits(), 55);
        assert_eq!(leased(named().layout(TWITTER), &of("leaf")).terms.layout, TWITTER);
        assert_eq!(leased(named(), &Environment::default()).terms.layout, SNOWMINT);
        let error = named().resolve(&of("tweeter"), false).expect_err("no such layout");
        assert_eq!(error.kind(), ErrorKind::InvalidLayout);
        assert!(error.to_string().starts_with("SNOWMINT_LAYOUT is \"tweeter\": no such preset"), "{error}");
    }

    #[test]
    fn a_node_is_leased_with_a_store_or_namespace_and_vouched_alone() {
        let none = Environment::default();
        let in_environment = Environment { node: Some("datacenter=1,worker=2".into()), ..none.clone() };
        let with_store = Environment { store: Some("file:/srv/a".into()), ..in_environment.clone() };
        let vouched = |options: LeaseOptions, environment: &Environment| {
            matches!(options.resolve(environment, false), Ok(Source::Vouched(34)))
        };
        assert!(vouched(options().node(34), &none));
        assert!(vouched(options(), &in_environment));
        assert!(!vouched(options(), &with_store));
        let named = options().namespace("mails").store("file:/srv/a");
        for (options, environment) in [(options(), &with_store), (named, &in_environment)] {
            assert_eq!(leased(options, environment).terms.node, Some(34));
        }
        let slots = Environment { state_dir: Some("/srv/slots".into()), ..none };
        let always = options().node(34).resolve(&slots, true).expect("resolved");
        assert!(matches!(always, Source::Leased(key) if key.terms.node == Some(34)));
        assert!(matches!(options().resolve(&in_environment, true), Ok(Source::Vouched(34))));
    }

    #[test]
    fn wrong_options_are_refused_by_kind() {
        let with_node = |text: &str| Environment { node: Some(text.into()), ..Environment::default() };
        let none = Environment::default();
        let store = |url: &str| options().store(url);
        let ahead = Options { max_ahead_ms: u64::MAX, ..Options::DEFAULT };
        let cases = [
            (options(), with_node("1024"), ErrorKind::InvalidNode, "SNOWMINT_NODE is \"1024\""),
            (options(), with_node(""), ErrorKind::InvalidNode, "SNOWMINT_NODE is \"\""),
            (store("oracle://db"), none.clone(), ErrorKind::InvalidStore, "no such store: "),
            (store("file:"), none.clone(), ErrorKind::InvalidStore, "file:DIRECTORY"),
            (store("file:/srv?fsync=no"), none.clone(), ErrorKind::InvalidStore, "file:DIRECTORY"),
            (store("file:/srv").namespace("a/b"), none.clone(), ErrorKind::InvalidNode, "a/b"),
            (
                store("file:/srv").window(Duration::from_millis(999)),
                none.clone(),
                ErrorKind::InvalidLayout,
                "at least 1000",
            ),
            (store("file:/srv").options(ahead), none, ErrorKind::InvalidLayout, "at most 3600000 with max_ahead_ms"),
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
        let options = |url: &str| options().store(url);
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
