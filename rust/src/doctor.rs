//! `snowmint doctor`: examines the place where a generator would run, for command lines in every language.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use snowmint_core::durability::Accepting;
use snowmint_core::lease::{Outlook, SlotNodes, Tally};
use snowmint_core::{ErrorKind, SystemHost};
use snowmint_inspect::doctor::{Accepted, Finding, Level, Origin, judge};
use snowmint_inspect::render::Format;
use snowmint_stores::{Error, Look, RecordStore, ServerSettings, Terms, look, refuse_lossy_place, refuse_lossy_slots};

use crate::environment::Environment;
use crate::generator::options::{LeaseOptions, LeaseStore, Source};
use crate::lease::backend::Backend;
use crate::slots::{SlotDirectory, Slots};

/// Examines what a generator with these options would do here, and writes a line for each finding. Returns whether nothing
/// must be mended.
///
/// It connects to the store as a generator does, which makes missing tables. It claims no node, and makes no slots.
///
/// # Errors
/// The errors of `out`.
///
/// # Examples
/// ```
/// use snowmint_inspect::render::Format;
/// use snowmint::{Environment, LeaseOptions, doctor};
/// let mut text = String::new();
/// let is_well = doctor::examine(LeaseOptions::new().node(5), &Environment::default(), &mut text, Format::Plain)?;
/// assert!(is_well);
/// assert!(text.contains("note  node        node 5, given by --node "));
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn examine(
    options: LeaseOptions,
    environment: &Environment,
    out: &mut impl fmt::Write,
    format: Format,
) -> Result<bool, fmt::Error> {
    let mut report = Report { out, format, is_well: true, broken: Ok(()) };
    // A wrong layout is the error of `resolve`.
    if let Ok(layout) = environment.layout(options.layout) {
        report.add(&Finding::Layout(&layout, SystemHost::unix_ms()));
    }
    let (options, store) = looking(options, environment);
    let node = if options.node.is_some() { Origin::Node } else { Origin::NodeVariable };
    match options.resolve(environment, false) {
        Err(error) => report.refused(&error),
        Ok(Source::Vouched(number)) => report.add(&Finding::Vouched(number, node)),
        Ok(Source::Leased(key)) => match &key.backend {
            Backend::Slots(directory) => slots(&mut report, directory, store.origin, &key.terms),
            Backend::Lessor(lessor, _) => {
                let (asked, namespace) = (Arc::clone(lessor), key.terms.namespace.clone());
                match key.backend.call(async move { asked.check(&namespace).await }) {
                    Ok(()) => report.add(&Finding::Service(lessor.name(), store.origin)),
                    Err(error) => report.refused(&error),
                }
            }
            backend => {
                if let Err(error) = over_store(&mut report, backend, &store, &key.terms) {
                    report.refused(&error);
                }
            }
        },
    }
    report.broken.map(|()| report.is_well)
}

/// The findings so far.
struct Report<'a, W> {
    out: &'a mut W,
    format: Format,
    is_well: bool,
    broken: fmt::Result,
}

impl<W: fmt::Write> Report<'_, W> {
    fn add(&mut self, finding: &Finding<'_>) {
        self.is_well &= finding.level() != Level::Mend;
        self.broken = self.broken.and_then(|()| finding.write(self.out, self.format));
    }

    fn refused(&mut self, error: &Error) {
        self.add(&Finding::Refused(error.kind(), &error.to_string()));
    }

    /// Adds the judgement of a place of files.
    fn place(&mut self, path: &str, judged: Result<(), Error>, is_allowed: bool) {
        match judged {
            Ok(()) => self.add(&Finding::Place(path)),
            Err(error) if is_allowed => self.add(&Finding::Allowed(&error.to_string())),
            Err(error) => self.refused(&error),
        }
    }

    fn nodes(&mut self, outlook: &Outlook, tally: &Tally) {
        for finding in Finding::of_nodes(outlook, tally) {
            self.add(&finding);
        }
    }
}

/// The store of the options, and the risks that its URL accepts.
struct Wanted {
    origin: Origin,
    accepted: Accepted,
}

/// Returns the options for a look, which also opens stores that a claim refuses.
fn looking(mut options: LeaseOptions, environment: &Environment) -> (LeaseOptions, Wanted) {
    let origin = match (&options.store, &environment.store, &environment.state_dir) {
        (Some(_), ..) => Origin::Store,
        (None, Some(_), _) => Origin::StoreVariable,
        (None, None, Some(_)) => Origin::StateDirectory,
        (None, None, None) => Origin::Default,
    };
    let mut accepted = Accepted::default();
    if options.store.is_none() {
        options.store = environment.store.clone().map(LeaseStore::Url);
    }
    if let Some(LeaseStore::Url(url)) = &mut options.store
        && !["file:", "http:", "https:"].iter().any(|scheme| url.starts_with(scheme))
    {
        let given = |option: &str| url.split(['?', '&']).skip(1).any(|each| each == option);
        accepted = Accepted { lossy: given("allow_unsafe=true"), standby: given("allow_standby=true") };
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str("allow_unsafe=true");
    }
    (options, Wanted { origin, accepted })
}

/// Examines the slots of this machine.
fn slots<W: fmt::Write>(report: &mut Report<'_, W>, directory: &SlotDirectory, origin: Origin, terms: &Terms) {
    let path = directory.path.display().to_string();
    let exists = directory.path.is_dir();
    report.add(&Finding::Slots { path: &path, origin, shared: directory.shared, exists });
    match &directory.warning {
        Some(warning) => report.add(&Finding::Tolerated(warning)),
        None => report.place(&path, refuse_lossy_slots(&directory.path), directory.allow_unsafe),
    }
    let found = directory.refuse_unusable().and_then(|()| {
        let slots = Slots::of_directory(directory.clone());
        let record = slots.record(&terms.namespace, &terms.layout)?;
        if let Some(record) = &record {
            slots.refuse_vanished(&terms.namespace, record)?;
        }
        Ok((record, slots.list(Some(terms.namespace.directory()))?))
    });
    let (record, listed) = match found {
        Ok(found) => found,
        Err(error) => return report.refused(&error),
    };
    report.add(&Finding::Namespace(&terms.namespace.to_string(), record.is_some()));
    let now_ms = SystemHost::unix_ms();
    let mut nodes = SlotNodes::new(&terms.layout, terms.node);
    for slot in &listed {
        nodes.see(slot.node, slot.record.as_ref(), slot.held, now_ms);
    }
    let (mut outlook, tally) = nodes.end();
    if directory.warning.is_some() && terms.node.is_none() && matches!(outlook, Outlook::Gets(_)) {
        outlook = Outlook::GetsRandom;
    }
    report.nodes(&outlook, &tally);
}

/// What a store says of itself.
struct Examined {
    name: String,
    settings: Result<Option<ServerSettings>, Error>,
    nodes: Result<Nodes, Error>,
}

/// The clock of a store, and the nodes of a namespace.
struct Nodes {
    sent_ms: i64,
    store_ms: Option<i64>,
    answered_ms: i64,
    look: Look,
}

async fn ask(store: &dyn RecordStore, terms: &Terms) -> Result<Nodes, Error> {
    let sent_ms = SystemHost::unix_ms();
    let store_ms = store.clock_ms().await?;
    let answered_ms = SystemHost::unix_ms();
    Ok(Nodes { sent_ms, store_ms, answered_ms, look: look(store, terms, store_ms).await? })
}

/// Examines a store and its server.
fn over_store<W: fmt::Write>(
    report: &mut Report<'_, W>,
    backend: &Backend,
    wanted: &Wanted,
    terms: &Terms,
) -> Result<(), Error> {
    let (asked, own_terms) = (backend.clone(), terms.clone());
    let Examined { name, settings, nodes } = backend.call(async move {
        let store = asked.record_store().await?;
        let settings = match store.settings().await {
            Err(error) if error.kind() != ErrorKind::UnsafeStore => return Err(error),
            settings => settings,
        };
        Ok(Examined { name: store.name().to_owned(), settings, nodes: ask(&*store, &own_terms).await })
    })?;
    report.add(&Finding::Store(&name, wanted.origin));
    match settings {
        Ok(Some(ServerSettings { engine, values })) => {
            let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            judge(engine, &values, wanted.accepted, &Accepting::URL, |finding| report.add(finding));
            if let Some((_, file)) = values.iter().find(|(name, file)| *name == "file" && !file.is_empty()) {
                let refused = refuse_lossy_place(&name, Path::new(file), Accepting::URL.lossy);
                report.place(file, refused, wanted.accepted.lossy);
            }
        }
        Ok(None) => report.add(&Finding::NoSettings),
        Err(error) if wanted.accepted.lossy => report.add(&Finding::Allowed(&error.to_string())),
        Err(error) => report.refused(&error),
    }
    let Nodes { sent_ms, store_ms, answered_ms, look: Look { namespace, outlook, tally } } = nodes?;
    report.add(&Finding::Clock { store_ms, sent_ms, answered_ms });
    report.add(&Finding::Namespace(&terms.namespace.to_string(), namespace.is_some()));
    report.nodes(&outlook, &tally);
    Ok(())
}
