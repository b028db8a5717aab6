//! Fences: after a lossy failover or a restored backup every window and counter of a store continues above all lost ones.
//!
//! Stop all holders first. They may start again as soon as the fence is written; claims of nodes wait until the time of the
//! fence, or fail. The fence leaves a [`Floor`] in the store, where nodes, counters, sequences and sections without a record
//! begin. All nodes are released: a holder that was suspended and not stopped finds at its next renewal that it lost its node.

mod height;

use std::collections::BTreeSet;
use std::time::Duration;

use snowmint_core::lease::{FenceTime, Floor, NamespaceRecord};
use snowmint_core::segment::LAST;
use snowmint_core::sequence::{Rules, State};
use snowmint_core::shown::Shown;
use snowmint_core::{SystemHost, Window, lease, section};
use tokio::time::sleep;

pub use self::height::Fence;
use crate::error::Error;
use crate::grant::claim::read_nodes;
use crate::numbers::definition;
use crate::numbers::{Key, Sections, Segments, Tickets};
use crate::store::counter::skip;
use crate::store::floor::read_floor;
use crate::store::key::{key, name};
use crate::store::{CounterStore, WriteOutcome};

/// How long a service may go on with the floor that it has read, in ms.
pub const NOTICE_MS: u64 = 500;

/// A fence that was raised.
///
/// # Examples
/// ```
/// use snowmint_stores::fence::{Fence, raise};
/// use snowmint_stores::{Key, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// Key::raise(&*store, "visits", 41).await?;
/// let raised = raise(&*store, &Fence::skipping(1000)).await?;
/// assert!(raised.counts.contains(&("keys", 1)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Raised {
    /// The time from which on nodes are granted, Unix ms.
    pub until_ms: i64,
    /// How many windows and counters were raised, by kind.
    pub counts: Vec<(&'static str, usize)>,
}

/// Raises the end of every window and every counter.
///
/// # Errors
/// Before the first write: `InvalidText` for an invalid name, the errors of [`FenceTime`], and `StoreUnavailable`, also
/// for a store without any record. Later: `StoreUnavailable`, and `Exhausted` if a counter would pass 2^63-1. A
/// repeated call does no harm.
///
/// # Examples
/// ```
/// use snowmint_stores::fence::{Fence, raise};
/// use snowmint_stores::{Key, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// Key::raise(&*store, "visits", 41).await?;
/// let raised = raise(&*store, &Fence::skipping(1000)).await?;
/// assert_eq!(Key::mark(&*store, "visits").await?, Some(1041));
/// # Ok(())
/// # }
/// ```
pub async fn raise(store: &dyn CounterStore, fence: &Fence) -> Result<Raised, Error> {
    // Before anything is raised, which nothing lowers again.
    fence.tickets.iter().try_for_each(|name| key("tickets/", name).map(drop))?;
    fence.sets.iter().try_for_each(|name| key("sections/", name).map(drop))?;
    Segments::tags(store).await?;
    let until_ms = time(store, fence).await?;
    raise_floor(store, fence, until_ms).await?;
    // After this pause every running service has read the floor: it starts new names above the floor.
    sleep(Duration::from_millis(2 * NOTICE_MS)).await;
    let counts = vec![
        ("leases", leases(store, until_ms).await?),
        ("segments", segments(store, fence).await?),
        ("keys", keys(store, fence).await?),
        ("sequences", sequences(store, fence).await?),
        ("sections", sections(store, fence).await?),
        ("tickets", tickets(store, fence).await?),
    ];
    Ok(Raised { until_ms, counts })
}

/// Looks at all records of nodes, and returns the time of the fence.
async fn time(store: &dyn CounterStore, fence: &Fence) -> Result<i64, Error> {
    let now_ms = store.clock_ms().await?.unwrap_or(i64::MIN).max(SystemHost::unix_ms());
    let mut time = FenceTime::new(now_ms, fence.reach_ms.unwrap_or(Window::MAX_MS));
    fence.slots_end_ms.inspect(|end_ms| time.see_end(*end_ms));
    let namespaces = store.list("layouts/").await?;
    if namespaces.is_empty() && fence.slots_end_ms.is_none() && !fence.accepts_empty && has_no_numbers(store).await? {
        return Err(refused(store, "", FenceTime::empty()));
    }
    for (namespace, found) in namespaces {
        if fence.reach_ms.is_none() {
            let (_, record) = NamespaceRecord::read(&found.value).map_err(|error| refused(store, "", error))?;
            time.see_namespace(&record);
        }
        let nodes = read_nodes(store.name(), store.list(&format!("leases/{namespace}/")).await?)?;
        for (node, (record, _)) in nodes.iter().filter_map(|(node, there)| Some((node, there.as_ref()?))) {
            time.see(*node, record).map_err(|error| {
                let namespace = name(&namespace).unwrap_or_default();
                refused(store, &format!(", namespace {}, held by {}", Shown(&namespace), record.label_text()), error)
            })?;
        }
    }
    time.until(fence.until_ms).map_err(|error| refused(store, "", error))
}

fn refused(store: &dyn CounterStore, place: &str, error: snowmint_core::Error) -> Error {
    Error::new(error.kind(), format!("{}{place}: {error}", store.name()))
}

async fn has_no_numbers(store: &dyn CounterStore) -> Result<bool, Error> {
    Ok(store.read(Floor::KEY).await?.is_none()
        && store.list("definitions/").await?.is_empty()
        && Segments::tags(store).await?.is_empty()
        && Key::names(store).await?.is_empty()
        && Sections::sets(store).await?.is_empty()
        && Tickets::names(store).await?.is_empty())
}

async fn leases(store: &dyn CounterStore, until_ms: i64) -> Result<usize, Error> {
    let mut count = 0;
    for (namespace, _) in store.list("layouts/").await? {
        let prefix = format!("leases/{namespace}/");
        let nodes = read_nodes(store.name(), store.list(&prefix).await?)?;
        for node in nodes.iter().filter(|(_, record)| record.is_some()).map(|(node, _)| node) {
            let key = format!("{prefix}{node}");
            let raised = change(store, &key, |bytes| {
                let mut record = lease::Record::from_bytes(bytes)?;
                record.window.end_ms = record.window.end_ms.max(until_ms);
                record.released = true;
                record.serial = record.serial.saturating_add(1);
                Ok(record.to_bytes().to_vec())
            });
            count += usize::from(raised.await?);
        }
        // Last, as vanished records stop all claims until this count is right.
        change(store, &format!("layouts/{namespace}"), |bytes| {
            let (layout, record) = NamespaceRecord::read(bytes)?;
            let record = NamespaceRecord { nodes: nodes.len() as u64, ..record.raised(until_ms) };
            Ok([layout, record.to_string().as_bytes()].concat())
        })
        .await?;
    }
    Ok(count)
}

async fn raise_floor(store: &dyn CounterStore, fence: &Fence, until_ms: i64) -> Result<(), Error> {
    loop {
        let found = store.read(Floor::KEY).await?;
        let (floor, version) = match &found {
            Some(found) => (read_floor(store, found)?.raised(until_ms, fence.skip), found.version),
            None => (Floor { until_ms, skip: fence.skip }, 0),
        };
        if store.write(Floor::KEY, floor.to_string().as_bytes(), version).await? != WriteOutcome::Conflict {
            return Ok(());
        }
    }
}

async fn segments(store: &dyn CounterStore, fence: &Fence) -> Result<usize, Error> {
    let tags = Segments::tags(store).await?;
    for tag in &tags {
        if let Some(table) = store.segments() {
            skip(fence.skip, async |amount| Ok(table.fetch(tag, amount).await?.unwrap_or_default())).await?;
        } else {
            let key = key("segments/", tag)?;
            let start = definition::read_tag(store, &key).await?.map_or(0, |row| row.next);
            skip(fence.skip, async |amount| store.add(&key, amount, start).await).await?;
        }
    }
    Ok(tags.len())
}

async fn keys(store: &dyn CounterStore, fence: &Fence) -> Result<usize, Error> {
    let names = Key::names(store).await?;
    for name in &names {
        Key::skip(store, name, fence.skip).await?;
    }
    Ok(names.len())
}

async fn tickets(store: &dyn CounterStore, fence: &Fence) -> Result<usize, Error> {
    let mut names = Tickets::names(store).await?;
    names.extend(fence.tickets.iter().cloned());
    for name in &names {
        let key = key("tickets/", name)?;
        skip(fence.skip, async |amount| store.add(&key, amount, 0).await).await?;
    }
    Ok(names.len())
}

async fn sequences(store: &dyn CounterStore, fence: &Fence) -> Result<usize, Error> {
    let mut count = 0;
    for (part, _) in store.list("definitions/").await? {
        let Some(options) = definition::read_sequence(store, &format!("definitions/{part}")).await? else { continue };
        let rules = Rules::new(&options)?;
        let raised = |state: State| rules.skip(state, fence.skip);
        let key = format!("sequences/{part}");
        let there = change(store, &key, |bytes| Ok(raised(State::from_bytes(bytes)?).to_bytes().to_vec())).await?;
        if !there {
            store.write(&key, &raised(rules.initial()).to_bytes(), 0).await?;
        }
        count += 1;
    }
    Ok(count)
}

async fn sections(store: &dyn CounterStore, fence: &Fence) -> Result<usize, Error> {
    let mut count = 0;
    let mut sets: BTreeSet<_> = Sections::sets(store).await?.into_iter().collect();
    sets.extend(fence.sets.iter().cloned());
    for set in &sets {
        let prefix = key("sections/", set)? + "/";
        for (number, _) in store.list(&prefix).await? {
            let key = format!("{prefix}{number}");
            let raised = change(store, &key, |bytes| {
                let mut record = section::Record::from_bytes(bytes)?;
                record.max_seq = record.max_seq.saturating_add(fence.skip).min(LAST);
                record.renewals = record.renewals.saturating_add(1);
                Ok(record.to_bytes().to_vec())
            });
            count += usize::from(raised.await?);
        }
    }
    Ok(count)
}

/// Replaces a record by a function of it. Returns `false` without a record.
async fn change(
    store: &dyn CounterStore,
    key: &str,
    to: impl Fn(&[u8]) -> Result<Vec<u8>, snowmint_core::Error>,
) -> Result<bool, Error> {
    loop {
        let Some(found) = store.read(key).await? else { return Ok(false) };
        let bytes =
            to(&found.value).map_err(|error| Error::unavailable(store.name(), format_args!("{key}: {error}")))?;
        if store.write(key, &bytes, found.version).await? != WriteOutcome::Conflict {
            return Ok(true);
        }
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use std::sync::Arc;

    use snowmint_core::layouts::SNOWMINT;
    use snowmint_core::sequence::Options;
    use snowmint_core::{ErrorKind, Integer, Nodes};

    use super::*;
    use crate::engines::memory::Memory;
    use crate::grant::{Claimer, Leases, Namespace, Terms};
    use crate::numbers::{SectionsOptions, SegmentsOptions, Sequences};
    use crate::store::Tag;
    use crate::store::floor::skipped;

    #[tokio::test]
    async fn windows_and_counters_continue_above_the_fence() {
        let store: Arc<dyn CounterStore> = Memory::named("");
        let terms = Terms {
            namespace: Namespace::named("orders").expect("a name"),
            layout: SNOWMINT,
            nodes: Nodes::ALL,
            exclude: Vec::new(),
            max_ahead_ms: 0,
            max_wait_ms: 1000,
            window_ms: 1000,
            system_clock: true,
        };
        let claimer = Claimer { nonce: 1, label: "test".to_owned(), last_node: None };
        let leases = Leases::new(store.clone());
        let granted = leases.claim(&terms, &claimer, None).await.expect("a node");
        let key = Key::open(Arc::clone(&store), "k", 10, SegmentsOptions::default()).await.expect("a key");
        key.next().await.expect("a number");
        let row = Tag { next: 1, step: 10, description: String::new() };
        Segments::create(&*store, "t", &row).await.expect("a tag");
        let sequences = Sequences::new(Arc::clone(&store));
        let down = Options { increment: -2, ..Options::DEFAULT };
        sequences.create("down", &down).await.expect("a sequence");
        assert_eq!(sequences.next("down").await, Ok(-1));
        let users = Sections::new(Arc::clone(&store), "users", SectionsOptions::default()).expect("an allocator");
        users.next(Integer::from(5u64)).await.expect("a number");
        users.close().await.expect("closed");
        let before = store.read("sections/users/0").await.expect("it answers").expect("a record");
        let before = section::Record::from_bytes(&before.value).expect("a record").max_seq;

        for name in ["x", "y"] {
            let tickets = Tickets::over(vec![Arc::clone(&store)], name).expect("tickets");
            assert_eq!(tickets.next().await, Ok(1));
        }

        let until_ms = granted.window.end_ms + 5000;
        let fence = Fence { until_ms: Some(until_ms), tickets: vec!["x".to_owned()], ..Fence::skipping(1_000_000) };
        let held = raise(&*store, &fence).await.expect_err("the holder may be alive");
        assert!(held.kind() == ErrorKind::InvalidNode && held.to_string().contains("node 0 may have a live"), "{held}");
        leases.reset("orders", granted.node, granted.window.end_ms).await.expect("released");
        let early = Fence { until_ms: Some(granted.window.end_ms - 1), ..fence.clone() };
        let refused = raise(&*store, &early).await.expect_err("before the newest end").to_string();
        assert!(refused.contains("too early"), "{refused}");
        let raised = raise(&*store, &fence).await.expect("raised");
        assert_eq!(raised.until_ms, until_ms);
        assert!(
            raised.counts.iter().all(|(what, count)| *count == if *what == "tickets" { 2 } else { 1 }),
            "{raised:?}"
        );

        assert_eq!(leases.list("orders").await.expect("a list")[0].1.window.end_ms, until_ms);
        let key = Key::open(Arc::clone(&store), "k", 10, SegmentsOptions::default()).await.expect("a key");
        assert!(key.next().await.expect("a number") > 1_000_000);
        let segments = Segments::open(Arc::clone(&store), "t", SegmentsOptions::default()).await.expect("a tag");
        assert_eq!(segments.next().await, Ok(1_000_001));
        assert_eq!(Sequences::new(Arc::clone(&store)).next("down").await, Ok(-2_000_003));
        for name in ["x", "y"] {
            let tickets = Tickets::over(vec![Arc::clone(&store)], name).expect("tickets");
            assert_eq!(tickets.next().await, Ok(1_000_002));
        }
        let users = Sections::new(Arc::clone(&store), "users", SectionsOptions::default()).expect("an allocator");
        assert_eq!(users.next(Integer::from(5u64)).await, Ok(before + 1_000_001));
    }

    #[tokio::test]
    async fn a_counter_near_its_end_goes_to_the_end() {
        let store: Arc<dyn CounterStore> = Memory::named("");
        Key::raise(&*store, "k", LAST - 5).await.expect("raised");
        store.add("tickets/x", LAST, 0).await.expect("the end");
        Segments::create(&*store, "t", &Tag { next: LAST - 1, step: 1, description: String::new() })
            .await
            .expect("a tag");
        let fence = Fence { accepts_empty: true, tickets: vec!["x".to_owned()], ..Fence::skipping(10) };
        raise(&*store, &fence).await.expect("raised");
        for counter in ["keys/k", "tickets/x", "segments/t"] {
            assert_eq!(store.add(counter, 0, 0).await, Ok(LAST), "{counter}");
        }
    }

    #[tokio::test]
    async fn counters_without_a_record_begin_after_the_fence() {
        let store: Arc<dyn CounterStore> = Memory::named("");
        let empty = raise(&*store, &Fence::skipping(600)).await.expect_err("is this the restored one?");
        assert!(empty.to_string().contains("is this the restored one?"), "{empty}");
        let before_ms = SystemHost::unix_ms();
        let first = raise(&*store, &Fence { accepts_empty: true, ..Fence::skipping(600) }).await.expect("raised");
        assert!(first.until_ms >= before_ms + 3_600_000, "{first:?}");
        raise(&*store, &Fence::skipping(400)).await.expect("raised: it has a fence");
        assert_eq!(skipped(&*store).await, Ok(1000));

        let key = Key::open(Arc::clone(&store), "k", 10, SegmentsOptions::default()).await.expect("a key");
        assert_eq!(key.next().await, Ok(1001));
        let row = Tag { next: 7, step: 10, description: String::new() };
        Segments::create(&*store, "t", &row).await.expect("a tag");
        let segments = Segments::open(Arc::clone(&store), "t", SegmentsOptions::default()).await.expect("a tag");
        assert_eq!(segments.next().await, Ok(1007));
        let sequences = Sequences::new(Arc::clone(&store));
        sequences.create("down", &Options { increment: -2, ..Options::DEFAULT }).await.expect("a sequence");
        assert_eq!((sequences.next("down").await, sequences.next("new").await), (Ok(-2001), Ok(1001)));
        let tickets = Tickets::over(vec![Arc::clone(&store)], "x").expect("tickets");
        assert_eq!((tickets.next().await, tickets.next().await), (Ok(1001), Ok(1002)));
        let users = Sections::new(Arc::clone(&store), "users", SectionsOptions::default()).expect("an allocator");
        assert_eq!(users.next(Integer::from(5u64)).await, Ok(1001));

        // Existing counters continue.
        key.close().await.expect("closed");
        let key = Key::open(Arc::clone(&store), "k", 10, SegmentsOptions::default()).await.expect("a key");
        assert!(key.next().await.expect("a number") < 1020);
        let tickets = Tickets::over(vec![Arc::clone(&store)], "x").expect("tickets");
        assert_eq!(tickets.next().await, Ok(1003));
        assert_eq!(Sequences::new(Arc::clone(&store)).next("new").await, Ok(1002));
    }
}
