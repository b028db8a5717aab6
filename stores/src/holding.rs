//! Holding a node over a store: core's machines for claim, renewal and release, for whoever drives the futures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use snowmint_core::lease::{Claiming, Floor, Keep, Keeping, LABEL_BYTES, Pin, Record, Terms, Todo};
use snowmint_core::store::Reply;
use snowmint_core::{Error as CoreError, ErrorKind, Layout, SystemHost, Window};

use crate::ask::ask;
use crate::error::Error;
use crate::file::Refused;
use crate::label::label_with_host;
use crate::namespace::Namespace;
use crate::process::{Process, process};
use crate::store::key::key;
use crate::store::{Store, Wrote};
use crate::token::token;

/// What a holder wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) namespace: Namespace,
    pub(crate) layout: Layout,
    pub(crate) now_ms: i64,
    pub(crate) max_ahead_ms: u64,
    pub(crate) window_ms: u64,
    /// How long to try again where the store does not answer a write, in ms.
    pub(crate) max_wait_ms: u64,
    /// Whether `now_ms` is of the system's clock.
    pub(crate) system_clock: bool,
    /// Nodes not to be taken.
    pub(crate) excluded: Vec<u32>,
    pub(crate) holder: Holder,
}

/// Who wants it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    /// Random, and new for each claim.
    pub(crate) token: u128,
    /// The process that the token stands for: a forked child is another holder.
    pub(crate) process: &'static Process,
    /// For people.
    pub(crate) label: [u8; LABEL_BYTES],
    /// The node held last, if any: it is preferred.
    pub(crate) last_node: Option<u32>,
}

impl Holder {
    /// This process, for the first time.
    pub(crate) fn this_process() -> Result<Self, Error> {
        Ok(Self { token: token()?, process: process(), label: Record::label(&label_with_host()), last_node: None })
    }

    pub(crate) fn label_text(&self) -> String {
        String::from_utf8_lossy(&self.label).trim_end_matches('\0').to_owned()
    }
}

/// A node that is held: its record, and where that is.
#[derive(Debug)]
pub(crate) struct Holding {
    store: Arc<dyn Store>,
    key: String,
    keeping: Keeping,
    process: &'static Process,
}

/// What a holder gets.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) holding: Holding,
    pub(crate) skew_ms: Option<i64>,
    /// Records that are none.
    pub(crate) skipped: Vec<String>,
}

/// What came of a renewal.
#[derive(Debug)]
pub(crate) enum Renewed {
    /// The window, by how many ms this clock is ahead of the store's, and what a failover of the store could lose.
    Window(Window, Option<i64>, Option<Error>),
    /// There was no answer, or the clock is off: the window stays as it is, try again.
    Later(Error),
    /// Somebody else has the node.
    Lost(Error),
}

/// Claims a node; the window is durable by then.
pub(crate) async fn claim_node(store: Arc<dyn Store>, wanted: &Wanted) -> Result<Grant, Refused> {
    let Wanted { namespace, layout, now_ms, system_clock, .. } = wanted;
    let terms = Terms {
        layout,
        max_ahead_ms: wanted.max_ahead_ms,
        window_ms: wanted.window_ms,
        last_node: wanted.holder.last_node,
        token: wanted.holder.token,
        label: wanted.holder.label,
    };
    let layout_key = key("layouts/", namespace.directory())?;
    let prefix = key("leases/", namespace.directory())? + "/";
    let told =
        |error: CoreError| Error::told(error.kind(), format!("{}, namespace {namespace}: {error}", store.name()));
    let (mut skipped, mut no_answer, mut pinned_text) = (Vec::new(), None::<Error>, String::new());
    let mut claiming = Claiming::new(terms, *system_clock);
    let mut todo = Claiming::FIRST;
    store.refuse_standby().await?;
    let (since, patience) = (Instant::now(), Duration::from_millis(wanted.max_wait_ms));
    loop {
        wanted.holder.process.refuse_child()?;
        todo = match todo {
            Todo::ReadLayout => {
                let found = store.read(&layout_key).await?;
                claiming.pinned(match &found {
                    Some(found) => {
                        let (text, pin) = pin(&*store, &layout_key, &found.value, namespace, layout)?;
                        pinned_text = text;
                        Some((pin, found.version))
                    }
                    None => None,
                })
            }
            Todo::ReadFloor => {
                let floor = store.read(Floor::KEY).await?.map(|found| Floor::read(&found.value)).transpose();
                pinned_text = layout.to_string();
                claiming.floor(floor.map_err(&told)?)
            }
            Todo::WriteLayout(pin, version) => {
                let wrote = store.write(&layout_key, format!("{pinned_text}{pin}").as_bytes(), version).await;
                claiming.pinning(match wrote {
                    Ok(Wrote::Version(version)) => Reply::Written(version),
                    Ok(Wrote::Conflict) => Reply::Conflict,
                    Err(error) if error.kind() == ErrorKind::StoreUnavailable => {
                        no_answer = Some(error);
                        Reply::Unknown
                    }
                    Err(error) => return Err(error.into()),
                })
            }
            Todo::List => {
                if let Some(error) = no_answer.take_if(|_| since.elapsed() >= patience) {
                    return Err(error.into());
                }
                let mut nodes = list(&*store, &prefix).await?;
                let records = nodes.len() as u64;
                skipped = nodes.iter().filter(|(_, record)| record.is_none()).map(|(node, _)| *node).collect();
                nodes.extend(wanted.excluded.iter().map(|node| (*node, None)));
                for (node, record) in &nodes {
                    match record {
                        Some((record, version)) => claiming.see(*node, record, *version, *now_ms),
                        None => claiming.skip(*node),
                    }
                }
                claiming.seen(*now_ms, records)
            }
            Todo::Clock => claiming.clock(store.clock_ms().await?, SystemHost::unix_ms()),
            Todo::Ask(node, asked) => {
                let (reply, error) = ask(&*store, &format!("{prefix}{node}"), asked).await?;
                match reply {
                    Reply::Unknown => no_answer = error,
                    // A read answers, and leaves open why a write before it was not done.
                    Reply::Record(..) => {}
                    _ => no_answer = None,
                }
                claiming.replied(reply)
            }
            Todo::Lease(lease, skew_ms) => {
                let keeping = Keeping::new(lease, *system_clock);
                let name = |node: &u32| format!("{}: {prefix}{node}", store.name());
                let skipped = skipped.iter().map(name).collect();
                let key = format!("{prefix}{}", lease.node());
                let holding = Holding { store, key, keeping, process: wanted.holder.process };
                return Ok(Grant { holding, skew_ms, skipped });
            }
            Todo::Wait(wait_ms, error) => return Err(Refused::NotYet(wait_ms, told(error))),
            Todo::Taken(error) => return Err(Refused::Taken(told(error))),
            Todo::Unanswered => {
                return Err(no_answer.unwrap_or_else(|| Error::unavailable(store.name(), "no answer")).into());
            }
            Todo::Refused(error) => return Err(told(error).into()),
        }
    }
}

/// The records of a namespace by node, with their versions; nothing in the place of one that is none.
pub(crate) async fn list(store: &dyn Store, prefix: &str) -> Result<BTreeMap<u32, Option<(Record, u64)>>, Error> {
    let mut nodes = BTreeMap::new();
    for (part, found) in store.list(prefix).await? {
        let Ok(node) = part.parse() else { continue };
        let record = match Record::from_bytes(&found.value) {
            Ok(record) => Some((record, found.version)),
            // What a later version wrote may mean that nothing here is as it seems.
            Err(error) if error.is_later_version() => return Err(Error::unavailable(store.name(), error)),
            Err(_) => None,
        };
        nodes.insert(node, record);
    }
    Ok(nodes)
}

/// Returns the text of the layout in a namespace's record, which has to be `layout`, and the numbers behind it.
pub(crate) fn pin(
    store: &dyn Store,
    key: &str,
    found: &[u8],
    namespace: &Namespace,
    layout: &Layout,
) -> Result<(String, Pin), Error> {
    let no_layout = || Error::unavailable(store.name(), format_args!("what is at {key} is no layout"));
    let (text, pin) = Pin::read(found).map_err(|_| no_layout())?;
    let pinned = Layout::parse(text).map_err(|_| no_layout())?;
    if !pinned.same_numbers(layout) {
        return Err(namespace.has_another_layout(&pinned));
    }
    Ok((pinned.to_string(), pin))
}

impl Holding {
    /// The node of a record that is there, for one who has shown its token.
    #[cfg(feature = "engines")]
    pub(crate) fn resume(store: Arc<dyn Store>, key: String, node: u32, (record, version): (Record, u64)) -> Self {
        let keeping = Keeping::new(snowmint_core::lease::Lease::resume(node, record, version, 0), true);
        Self { store, key, keeping, process: process() }
    }

    pub(crate) const fn node(&self) -> u32 {
        self.keeping.node()
    }

    /// The window that is durable.
    pub(crate) const fn window(&self) -> Window {
        self.keeping.window()
    }

    /// What a failover of the store could lose.
    pub(crate) fn standby_risk(&self) -> Option<Error> {
        self.store.standby_risk()
    }

    /// Moves the window's end up.
    pub(crate) async fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Renewed {
        let keep = self.keeping.renew(now_ms, last_ms, reach_ms);
        self.follow(keep).await
    }

    /// Gives the node back, with nothing used from `end_ms` on. If it cannot be written, the window runs out by itself.
    pub(crate) async fn release(mut self, end_ms: i64) -> Renewed {
        let keep = self.keeping.release(end_ms);
        self.follow(keep).await
    }

    async fn follow(&mut self, mut keep: Keep) -> Renewed {
        let mut no_answer = None;
        loop {
            if let Err(forked) = self.process.refuse_child() {
                return Renewed::Later(forked);
            }
            keep = match keep {
                Keep::Clock => match self.store.clock_ms().await {
                    Ok(store_ms) => self.keeping.clock(store_ms, SystemHost::unix_ms()),
                    Err(error) => return Renewed::Later(error),
                },
                Keep::Ask(asked) => match ask(&*self.store, &self.key, asked).await {
                    Ok((reply, error)) => {
                        no_answer = error;
                        self.keeping.replied(reply)
                    }
                    Err(error) => return Renewed::Later(error),
                },
                Keep::Window(window, skew_ms) => return Renewed::Window(window, skew_ms, self.standby_risk()),
                Keep::Later(Some(error)) => return Renewed::Later(Error::unavailable(self.store.name(), error)),
                Keep::Later(None) => {
                    return Renewed::Later(
                        no_answer.unwrap_or_else(|| Error::unavailable(self.store.name(), "no answer")),
                    );
                }
                Keep::Lost(error) => return Renewed::Lost(Error::unavailable(self.store.name(), error)),
                Keep::Released => return Renewed::Window(self.keeping.window(), None, None),
            }
        }
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use snowmint_core::layouts::SNOWMINT;

    use super::*;
    use crate::engines::memory::Memory;
    use crate::store::{Found, Version};

    /// A store whose namespace has its layout, and that reads and does not write.
    #[derive(Debug)]
    struct Full(Arc<dyn Store>, AtomicU32);

    #[async_trait]
    impl Store for Full {
        fn name(&self) -> &'static str {
            "a full store"
        }

        async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
            self.0.read(key).await
        }

        async fn write(&self, _: &str, _: &[u8], _: Version) -> Result<Wrote, Error> {
            let writes = self.1.fetch_add(1, Ordering::Relaxed);
            Err(Error::unavailable(self.name(), format_args!("write {writes} is too much")))
        }

        async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
            self.0.list(prefix).await
        }

        async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
            self.0.add(counter, delta, start).await
        }

        async fn lower(&self, counter: &str, expected: u64, to: u64) -> Result<bool, Error> {
            self.0.lower(counter, expected, to).await
        }

        async fn clock_ms(&self) -> Result<Option<i64>, Error> {
            self.0.clock_ms().await
        }
    }

    #[tokio::test]
    async fn a_store_that_does_not_write_is_asked_three_times_within_the_wait_and_its_last_reason_told() {
        let memory = Memory::named("");
        memory.write("layouts/orders", SNOWMINT.to_string().as_bytes(), 0).await.expect("written");
        for (max_wait_ms, last) in [(600_000, 2), (0, 0)] {
            let wanted = Wanted {
                namespace: Namespace::named("orders").expect("a name"),
                layout: SNOWMINT,
                now_ms: SystemHost::unix_ms(),
                max_ahead_ms: 0,
                window_ms: 5000,
                max_wait_ms,
                system_clock: true,
                excluded: Vec::new(),
                holder: Holder::this_process().expect("a token"),
            };
            let store = Arc::new(Full(memory.clone(), AtomicU32::new(0)));
            let error = claim_node(store, &wanted).await.expect_err("nothing is written").into_error();
            let told = format!("a full store: write {last} is too much");
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::StoreUnavailable, told));
        }
    }
}
