//! `snowmint doctor`: examines the place where a generator would run.

mod finding;

use std::path::Path;
use std::sync::Arc;

use snowmint_core::durability::Accepting;
use snowmint_core::lease::{Outlook, SlotNodes};
use snowmint_core::{ErrorKind, SystemHost};
use snowmint_stores::host::{Look, Terms, look, refuse_lossy_place, refuse_lossy_slots};
use snowmint_stores::{Error, RecordStore, ServerSettings};

use self::finding::Accepted;
pub use self::finding::{Facts, Finding, Level};
use crate::environment::Environment;
use crate::generator::options::LeaseOptions;
use crate::generator::source::Source;
use crate::lease::backend::Backend;
use crate::lease::connector::{Connector, wait_for};
use crate::lease::store::{Given, LeaseStore};
use crate::slots::{SlotDirectory, Slots};

/// Examines this place for a generator with these options, and returns the findings. A generator works here if no
/// finding has [`Level::Error`].
///
/// It connects to the store as a generator does, which makes missing tables. It claims no node, and makes no slots.
///
/// # Examples
/// ```
/// use snowmint::host::doctor::{self, Level};
/// use snowmint::LeaseOptions;
/// use snowmint::host::Environment;
/// let findings = doctor::examine(LeaseOptions::new().node(5), &Environment::default());
/// let [layout, node] = &findings[..] else { panic!("two findings") };
/// assert_eq!((layout.level, node.level, node.topic), (Level::Ok, Level::Warning, "node"));
/// assert!(node.message.starts_with("node 5, given by --node "));
/// ```
pub fn examine(options: LeaseOptions, environment: &Environment) -> Vec<Finding> {
    let mut report = Vec::new();
    // A wrong layout is the error of `resolve`.
    if let Ok(layout) = environment.layout(options.layout) {
        report.push(Finding::layout(&layout, SystemHost::unix_ms()));
    }
    let (options, store) = looking(options, environment);
    let node = if options.nodes.is_some() { "--node" } else { "SNOWMINT_NODE" };
    let by = store.origin.map(|origin| format!(", by {origin}")).unwrap_or_default();
    let examined = options.resolve(environment, false).and_then(|source| {
        match source {
            Source::Vouched(number) => report.push(Finding::vouched(number, node)),
            Source::Leased(key) => {
                let backend = &key.backend;
                let (records, has_own): (Arc<dyn Connector>, _) = match backend {
                    Backend::Reserved(reservations) => {
                        (reservations.store(), reserved(&mut report, &reservations.slots, &key.terms)?)
                    }
                    other => (Arc::new(other.clone()), false),
                };
                if let Backend::Slots(directory) = backend {
                    slots(&mut report, directory, &by, &key.terms)?;
                } else if let Backend::Lessor(lessor, _) = backend {
                    let (asked, namespace) = (Arc::clone(lessor), key.terms.namespace.clone());
                    wait_for(&*records, async move { asked.check(&namespace).await }, || {})?;
                    let message = format!(
                        "{}{by}, grants the nodes by its own clock. This command claims no node there: run snowmint doctor \
                         with the store of the service",
                        lessor.name()
                    );
                    report.push(Finding::warning("store", message));
                } else {
                    let (asked, terms, accepted) = (Arc::clone(&records), key.terms.clone(), store.accepted);
                    let examine = async move {
                        let mut found = Vec::new();
                        let examined = over_store(&mut found, &*asked.record_store().await?, &by, accepted, &terms).await;
                        Ok::<_, Error>((found, examined))
                    };
                    let (found, examined) = wait_for(&*records, examine, || {})?;
                    // A claim gets a node of the directory first.
                    report.extend(found.into_iter().filter(|found| !has_own || found.topic != "node"));
                    examined?;
                }
            }
        }
        Ok(())
    });
    report.extend(examined.err().map(|error| Finding::refused(&error)));
    report
}

/// The store of the options, and the risks that its URL accepts.
struct Wanted {
    /// The option or variable that names the store.
    origin: Option<&'static str>,
    accepted: Accepted,
}

/// Returns the options for a look, which also opens stores that a claim refuses.
fn looking(mut options: LeaseOptions, environment: &Environment) -> (LeaseOptions, Wanted) {
    let origin = match (&options.store, &environment.store, &environment.state_dir) {
        (Some(_), ..) => Some("--store"),
        (None, Some(_), _) => Some("SNOWMINT_STORE"),
        (None, None, Some(_)) => Some("SNOWMINT_STATE_DIR"),
        (None, None, None) => None,
    };
    let mut accepted = Accepted::default();
    if options.store.is_none() {
        options.store = environment.store.clone().map(LeaseStore::from);
    }
    if let Some(LeaseStore(Given::Url(url))) = &mut options.store
        && !["file:", "http:", "https:"].iter().any(|scheme| url.starts_with(scheme))
    {
        let given = |option: &str| url.split(['?', '&']).skip(1).any(|each| each == option);
        accepted = Accepted { lossy: given("allow_unsafe=true"), standby: given("allow_standby=true") };
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str("allow_unsafe=true");
    }
    (options, Wanted { origin, accepted })
}

/// Returns the judgement of a place of files.
fn place(path: &str, judged: Result<(), Error>, is_allowed: bool) -> Finding {
    match judged {
        Ok(()) => Finding::ok("durability", format!("{path} is on a file system that keeps what is written")),
        Err(error) if is_allowed => Finding::allowed(&error),
        Err(error) => Finding::refused(&error),
    }
}

/// Examines the slots of this machine.
fn slots(report: &mut Vec<Finding>, directory: &SlotDirectory, by: &str, terms: &Terms) -> Result<(), Error> {
    let path = directory.path.display().to_string();
    let shared = if directory.shared { ", which all users share" } else { "" };
    let missing = if directory.path.is_dir() { "" } else { "; the first lease makes the directory" };
    report.push(Finding::ok("store", format!("slots of this machine in {path}{by}{shared}{missing}")));
    report.push(match &directory.warning {
        Some(warning) => Finding::warning("durability", warning),
        None => place(&path, refuse_lossy_slots(&directory.path), directory.allow_unsafe),
    });
    directory.refuse_unusable()?;
    let slots = Slots::of_directory(directory.clone());
    let record = slots.record(&terms.namespace, &terms.layout)?;
    if let Some(record) = &record {
        slots.refuse_vanished(&terms.namespace, record)?;
    }
    let listed = slots.list(Some(terms.namespace.directory()))?;
    report.push(Finding::namespace(&terms.namespace.to_string(), record.is_some()));
    let now_ms = SystemHost::unix_ms();
    let mut nodes = SlotNodes::new(&terms.layout, terms.nodes);
    for slot in &listed {
        nodes.see(slot.node, slot.record.as_ref(), slot.held, now_ms);
    }
    let (mut outlook, tally) = nodes.end();
    if directory.warning.is_some() && terms.nodes.single().is_none() && matches!(outlook, Outlook::Gets(_)) {
        outlook = Outlook::GetsRandom;
    }
    report.extend(Finding::nodes(&outlook, &tally));
    Ok(())
}

/// Examines the nodes that a store has reserved for a directory of this machine. Returns whether at least one of these
/// nodes is free.
fn reserved(report: &mut Vec<Finding>, directory: &SlotDirectory, terms: &Terms) -> Result<bool, Error> {
    let path = directory.path.display().to_string();
    report.push(match &directory.warning {
        Some(warning) => Finding::warning("durability", warning),
        None => place(&path, refuse_lossy_slots(&directory.path), directory.allow_unsafe),
    });
    directory.refuse_unusable()?;
    let now_ms = SystemHost::unix_ms();
    let mut slots = Slots::of_directory(directory.clone()).list(Some(terms.namespace.directory()))?;
    slots.retain(|slot| slot.reserved.is_some_and(|reserved| reserved.end_ms > now_ms));
    report.push(Finding::reserved(&path, &slots));
    Ok(slots.iter().any(|slot| !slot.held))
}

/// Examines a store and its server.
async fn over_store(
    report: &mut Vec<Finding>,
    store: &dyn RecordStore,
    by: &str,
    accepted: Accepted,
    terms: &Terms,
) -> Result<(), Error> {
    let settings = match store.settings().await {
        Err(error) if error.kind() != ErrorKind::UnsafeStore => return Err(error),
        settings => settings,
    };
    report.push(Finding::ok("store", format!("{}{by}", store.name())));
    match settings {
        Ok(Some(ServerSettings { engine, values, .. })) => {
            report.extend(Finding::settings(engine, &values, accepted));
            if let Some((_, file)) = values.iter().find(|(name, file)| name == "file" && !file.is_empty()) {
                let refused = refuse_lossy_place(store.name(), Path::new(file), Accepting::URL.lossy);
                report.push(place(file, refused, accepted.lossy));
            }
        }
        Ok(None) => {
            let message = "the store reports no settings that say whether it keeps confirmed writes";
            report.push(Finding::warning("durability", message));
        }
        Err(error) if accepted.lossy => report.push(Finding::allowed(&error)),
        Err(error) => report.push(Finding::refused(&error)),
    }
    let sent_ms = SystemHost::unix_ms();
    let store_ms = store.clock_ms().await?;
    report.push(Finding::clock(store_ms, sent_ms, SystemHost::unix_ms()));
    let Look { namespace, outlook, tally } = look(store, terms, store_ms).await?;
    report.push(Finding::namespace(&terms.namespace.to_string(), namespace.is_some()));
    report.extend(Finding::nodes(&outlook, &tally));
    Ok(())
}
