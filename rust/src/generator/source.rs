//! Where the node of a generator comes from.

use std::sync::Arc;

use snowmint_core::lease::Reservation;
use snowmint_core::{ErrorKind, Nodes, Options, Window};
use snowmint_stores::Error;
use snowmint_stores::host::{Namespace, Terms};

use super::options::LeaseOptions;
use crate::environment::Environment;
use crate::lease::backend::Backend;
use crate::lease::key::LeaseKey;
use crate::lease::store::{Given, LeaseStore};
use crate::slots::SlotDirectory;

/// Where the node of a generator comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// From the caller, who vouches for it.
    Vouched(u32),
    Leased(Arc<LeaseKey>),
}

impl LeaseOptions {
    /// Refuses options that no lease can have here, and a directory that cannot have slots. Asks no store.
    ///
    /// # Errors
    /// As for a lease before it asks its store.
    #[doc(hidden)]
    pub fn refuse_unusable(self, environment: &Environment) -> Result<(), Error> {
        match self.resolve(environment, true)? {
            Source::Leased(key) => key.backend.slots().map_or(Ok(()), SlotDirectory::refuse_unusable),
            Source::Vouched(_) => Ok(()),
        }
    }

    /// Resolves the options against environment and defaults.
    ///
    /// A node without a store and a namespace is vouched for by the caller. With `leases` that holds only for
    /// `SNOWMINT_NODE`: a node in the options is leased from the slots.
    pub(crate) fn resolve(self, environment: &Environment, leases: bool) -> Result<Source, Error> {
        let layout = environment.layout(self.layout)?;
        let leases = leases && self.nodes.is_some();
        let store = self.store.or_else(|| environment.store.clone().map(LeaseStore::from));
        let namespace = self.namespace.as_ref().or(environment.namespace.as_ref());
        let is_vouched = !leases && snowmint_core::lease::is_vouched(store.is_some(), namespace.is_some());
        let of_layout = |nodes: Nodes| {
            if is_vouched {
                layout.only_node(nodes).map(Nodes::one)
            } else {
                layout.refuse_nodes(nodes).map(|()| nodes)
            }
        };
        let nodes =
            match (self.nodes, &environment.node) {
                (None, Some(text)) => Some(layout.parse_nodes(text).and_then(of_layout).map_err(|error| {
                    Error::new(ErrorKind::InvalidNode, format!("SNOWMINT_NODE is {text:?}: {error}"))
                })?),
                (nodes, _) => nodes.map(of_layout).transpose()?,
            };
        if let Some(node) = nodes.and_then(Nodes::single)
            && is_vouched
        {
            if self.reserve_ms.is_some() {
                return Err(Reservation::no_store().into());
            }
            return Ok(Source::Vouched(node));
        }
        let backend = match store.map(|store| store.0) {
            Some(Given::Url(url)) => match (Backend::of_url(&url), &self.connect) {
                (Err(_), Some(given)) => given.connect(&url)?,
                (backend, _) => backend?,
            },
            Some(Given::Backend(backend)) => backend,
            None => Backend::Slots(SlotDirectory::of_machine(environment)?),
        };
        if backend.has_clock() && self.clock.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidNode,
                format!("{} leases by its own clock, which generators read: give no clock", backend.name()),
            ));
        }
        let Options { max_ahead_ms, max_wait_ms, .. } = self.options;
        let of_environment = environment.reserve.as_ref().filter(|_| self.reserve_ms.is_none());
        let named = |error: Error| match of_environment {
            Some(text) => Error::new(error.kind(), format!("SNOWMINT_RESERVE is {text:?}: {error}")),
            None => error,
        };
        let reserve_ms = match of_environment {
            Some(text) => Some(Reservation::parse_ms(text).map_err(|error| named(error.into()))?),
            None => self.reserve_ms,
        };
        let backend = match reserve_ms {
            Some(reserve_ms) => {
                backend.reserved(&SlotDirectory::of_machine(environment)?, reserve_ms).map_err(named)?
            }
            None => backend,
        };
        let default_ms = if backend.slots().is_some() { Window::SLOT_MS } else { Window::ENGINE_MS };
        let window_ms = Window::length_ms(&layout, self.window_ms, default_ms, max_ahead_ms)?;
        if let Some(reserve_ms) = reserve_ms {
            Reservation::refuse_length(reserve_ms, window_ms.saturating_add(max_ahead_ms))
                .map_err(|error| named(error.into()))?;
        }
        let terms = Terms {
            namespace: namespace.map_or_else(|| Ok(Namespace::of_layout(&layout)), |name| Namespace::named(name))?,
            layout,
            nodes: nodes.unwrap_or(Nodes::ALL),
            exclude: self.exclude,
            max_ahead_ms,
            max_wait_ms,
            window_ms,
            system_clock: self.clock.is_none(),
        };
        Ok(Source::Leased(Arc::new(LeaseKey { backend, clock: self.clock, terms })))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

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
        let key = leased(options().store("file:///srv/b?allow_unsafe=true"), &environment);
        assert_eq!((&key.backend, key.terms.namespace.to_string()), (&slots("/srv/b", true), "orders".to_owned()));
        assert_eq!((key.terms.window_ms, key.terms.nodes), (3000, Nodes::ALL));
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
            assert_eq!(leased(options, environment).terms.nodes, Nodes::one(34));
        }
        let slots = Environment { state_dir: Some("/srv/slots".into()), ..none };
        let always = options().node(34).resolve(&slots, true).expect("resolved");
        assert!(matches!(always, Source::Leased(key) if key.terms.nodes == Nodes::one(34)));
        assert!(matches!(options().resolve(&in_environment, true), Ok(Source::Vouched(34))));
    }

    #[test]
    fn a_part_of_a_node_is_leased_and_vouched_for_by_nobody() {
        let part = TWITTER.parse_nodes("datacenter=1").expect("a part");
        let in_environment = Environment { node: Some("datacenter=1".into()), ..Environment::default() };
        let with_store = Environment { store: Some("file:/srv/a".into()), ..in_environment.clone() };
        assert_eq!(leased(options().nodes(part).namespace("mails"), &Environment::default()).terms.nodes, part);
        assert_eq!(leased(options(), &with_store).terms.nodes, part);
        let alone = options().nodes(part).resolve(&Environment::default(), false).expect_err("a part");
        assert!(alone.to_string().starts_with("worker is missing: "), "{alone}");
        let alone = options().resolve(&in_environment, true).expect_err("a part");
        assert!(alone.to_string().starts_with("SNOWMINT_NODE is \"datacenter=1\": worker is missing: "), "{alone}");
        let slots = Environment { state_dir: Some("/srv/slots".into()), ..Environment::default() };
        assert!(matches!(options().nodes(part).resolve(&slots, true), Ok(Source::Leased(_))));
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
