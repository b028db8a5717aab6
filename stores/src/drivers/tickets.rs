//! Tickets: one number a round trip, from one of several servers, any of which may be down.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::store::Reply;
use snowmint_core::ticket::{Form, MAX_SERVERS, Take, Turn};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::{MAX_WAIT_MS, Owner, lock};
use crate::error::Error;
use crate::key::{key, name};
use crate::steady::steady_ms;
use crate::store::{Store, TicketServer};

/// Where the names of tickets are written down.
const NAMES: &str = "tickets-there/";

/// Numbers from `increment` servers that know nothing of each other: each counts in steps of `increment` from its own
/// offset.
///
/// They are unique over all servers and clients. Order between servers is not kept.
#[derive(Debug)]
pub struct Tickets {
    machine: Mutex<snowmint_core::ticket::Tickets>,
    servers: Vec<Arc<dyn TicketServer>>,
    calls: AtomicU64,
    max_wait_ms: u64,
    owner: Owner,
}

impl Tickets {
    /// Counters of that name in stores, the first with offset 1 and so on, as many as the increment.
    ///
    /// # Errors
    /// `InvalidId`, unless there are 1 to 32 stores; `InvalidText` for a name that is not 1 to 128 bytes long.
    pub fn over(stores: Vec<Arc<dyn Store>>, name: &str) -> Result<Self, Error> {
        let key = key("tickets/", name)?;
        let offsets: Vec<u64> = (1..).take(stores.len().min(MAX_SERVERS + 1)).collect();
        let server =
            |store| -> Arc<dyn TicketServer> { Arc::new(Counter { store, key: key.clone(), queue: Arc::default() }) };
        Self::new(stores.into_iter().map(server).collect(), Form::Counter, &offsets, offsets.len() as u64)
    }

    /// Writes a name down, for a store lists no counters, and who raises all of them has to know which there are.
    ///
    /// # Errors
    /// `InvalidText` for a name that is not 1 to 128 bytes long; `StoreUnavailable`.
    pub async fn note(store: &dyn Store, name: &str) -> Result<(), Error> {
        store.write(&key(NAMES, name)?, b"ticket 1\n", 0).await.map(drop)
    }

    /// The names that were written down, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn names(store: &dyn Store) -> Result<Vec<String>, Error> {
        Ok(store.list(NAMES).await?.iter().filter_map(|(part, _)| name(part)).collect())
    }

    /// Servers with their offsets: Flickr's tables are of the form [`Form::Ticket`].
    ///
    /// # Errors
    /// `InvalidId`, unless there are 1 to 32 servers, and as many offsets from 1 to the increment, all different.
    pub fn new(
        servers: Vec<Arc<dyn TicketServer>>,
        form: Form,
        offsets: &[u64],
        increment: u64,
    ) -> Result<Self, Error> {
        let machine = snowmint_core::ticket::Tickets::new(form, increment, offsets)?;
        if servers.len() != offsets.len() {
            let (servers, offsets) = (servers.len(), offsets.len());
            return Err(Error::told(
                ErrorKind::InvalidId,
                format!("{servers} ticket servers need as many offsets, not {offsets}"),
            ));
        }
        Ok(Self {
            machine: Mutex::new(machine),
            servers,
            calls: AtomicU64::new(0),
            max_wait_ms: MAX_WAIT_MS,
            owner: Owner::this_process(),
        })
    }

    /// With another bound for a call, in ms, in place of 1000. Each server that is asked gets an equal part of what is left.
    #[must_use]
    pub fn with_max_wait_ms(self, max_wait_ms: u64) -> Self {
        Self { max_wait_ms, ..self }
    }

    /// The next ticket, from the servers in turn, those that failed lately last. An answer that comes too late is left out.
    ///
    /// # Errors
    /// `StoreUnavailable`, if no server answers, with what each of them said, or one counts in another way than it should;
    /// `Exhausted` past 2^63-1; `Forked`.
    pub async fn next(&self) -> Result<u64, Error> {
        self.owner.check()?;
        let deadline = Instant::now() + Duration::from_millis(self.max_wait_ms);
        let mut take = Take::from(self.calls.fetch_add(1, Ordering::Relaxed));
        let mut reply: Option<Reply<Infallible>> = None;
        let mut failures: Vec<Error> = Vec::new();
        loop {
            let turn = lock(&self.machine).next(&mut take, reply, steady_ms());
            let place = match turn {
                Ok(Turn::Done(ticket)) => return Ok(ticket),
                Ok(Turn::Ask(place)) => place,
                Err(error) => return Err(explain(error, &failures)),
            };
            let Some(server) = self.servers.get(place) else { return Err(snowmint_core::Error::closed().into()) };
            // At most 32.
            let untried = u32::try_from(self.servers.len() - failures.len()).unwrap_or(1).max(1);
            let part = deadline.saturating_duration_since(Instant::now()) / untried;
            reply = Some(match timeout(part, server.take()).await {
                Ok(Ok(answer)) => Reply::Sum(answer),
                Ok(Err(error)) => {
                    failures.push(error);
                    Reply::Unknown
                }
                Err(_) => {
                    let ms = part.as_millis();
                    failures.push(Error::unavailable(server.name(), format_args!("no answer within {ms} ms")));
                    Reply::Unknown
                }
            });
        }
    }
}

/// Adds what the servers said.
fn explain(error: snowmint_core::Error, failures: &[Error]) -> Error {
    if failures.is_empty() {
        return error.into();
    }
    let said: Vec<_> = failures.iter().map(ToString::to_string).collect();
    Error::told(error.kind(), format!("{error}: {}", said.join("; ")))
}

/// A counter of a store, with one write for all who ask at a time: who comes while one is under way is served by the next.
///
/// Each number is durable before anybody has it, and none is fetched ahead.
#[derive(Debug)]
struct Counter {
    store: Arc<dyn Store>,
    key: String,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    callers: Vec<Caller>,
    /// Whether a task serves them.
    served: bool,
}

type Caller = oneshot::Sender<Result<u64, Error>>;

/// What serves the callers, until there are none.
struct Serving {
    queue: Arc<Mutex<Queue>>,
    over: bool,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It ended with its runtime: who waits is told by the loss of the sender, and the next caller begins anew.
        if !self.over {
            *lock(&self.queue) = Queue::default();
        }
    }
}

impl Serving {
    /// Those who wait now.
    fn callers(&mut self) -> Vec<Caller> {
        let mut queue = lock(&self.queue);
        let mut callers = std::mem::take(&mut queue.callers);
        // Who gave up needs no number.
        callers.retain(|caller| !caller.is_closed());
        queue.served = !callers.is_empty();
        self.over = callers.is_empty();
        callers
    }

    async fn serve(mut self, store: Arc<dyn Store>, key: String) {
        loop {
            let mut callers = self.callers();
            if callers.is_empty() {
                return;
            }
            let count = callers.len() as u64;
            // A write that nobody waits for any more is given up, for its connection may be dead.
            let Some(answer) = wanted(store.add(&key, count, 0), &mut callers).await else { continue };
            for (place, caller) in (1..).zip(callers) {
                // The number of one who is gone is left out.
                drop(caller.send(answer.clone().map(|last| last - count + place)));
            }
        }
    }
}

/// What an answer is, unless all callers give up before.
async fn wanted<T>(answer: impl Future<Output = T>, callers: &mut [Caller]) -> Option<T> {
    let mut answer = pin!(answer);
    let mut deserted = pin!(async {
        for caller in callers {
            caller.closed().await;
        }
    });
    poll_fn(|context| match answer.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => deserted.as_mut().poll(context).map(|()| None),
    })
    .await
}

#[async_trait]
impl TicketServer for Counter {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn take(&self) -> Result<u64, Error> {
        let (caller, answer) = oneshot::channel();
        let begins = {
            let mut queue = lock(&self.queue);
            queue.callers.push(caller);
            !std::mem::replace(&mut queue.served, true)
        };
        if begins {
            let serving = Serving { queue: Arc::clone(&self.queue), over: false };
            drop(tokio::spawn(serving.serve(Arc::clone(&self.store), self.key.clone())));
        }
        answer.await.unwrap_or_else(|_| Err(Error::unavailable(self.name(), "the call was cut off")))
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engines::memory::Memory;

    #[tokio::test]
    async fn who_asks_at_once_is_served_by_one_write_and_nobody_twice() {
        let store: Arc<dyn Store> = Memory::named("");
        let tickets = Arc::new(Tickets::over(vec![Arc::clone(&store)], "t").expect("tickets"));
        let takers: Vec<_> = (0..500)
            .map(|_| {
                let tickets = Arc::clone(&tickets);
                tokio::spawn(async move { tickets.next().await.expect("a ticket") })
            })
            .collect();
        // Some give up.
        takers.iter().step_by(5).for_each(tokio::task::JoinHandle::abort);
        let mut taken = BTreeSet::new();
        for taker in takers {
            if let Ok(ticket) = taker.await {
                assert!(taken.insert(ticket), "{ticket} came twice");
            }
        }
        assert!(taken.len() >= 400 && taken.last().is_some_and(|last| *last <= 500), "{taken:?}");
    }

    #[test]
    fn a_runtime_that_ends_in_the_middle_takes_nobody_along() {
        let tickets = {
            let store: Arc<dyn Store> = Memory::named("");
            Tickets::over(vec![store], "t").expect("tickets")
        };
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        for first in [1, 2] {
            let short = runtime();
            short.block_on(async {
                // It begins, and does not get to its end.
                let mut next = std::pin::pin!(tickets.next());
                assert!(is_pending(next.as_mut()).await);
            });
            drop(short);
            assert!(runtime().block_on(tickets.next()).expect("a ticket") >= first);
        }
    }

    /// Polls once; whether it is not done.
    async fn is_pending<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
        poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
    }
}
