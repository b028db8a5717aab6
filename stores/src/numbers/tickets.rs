//! Tickets: one number a round trip, from one of several servers, any of which may be down.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::pin::Pin;
use snowmint_core::store::Reply;
use snowmint_core::ticket::{Form, MAX_SERVERS, Take, Turn};
use tokio::sync::{OnceCell, oneshot};
use tokio::time::{Instant, timeout};

use super::pins::{is_pinned, pin};
use super::{MAX_WAIT_MS, lock};
use crate::error::Error;
use crate::owner::Owner;
use crate::steady::steady_ms;
use crate::store::floor::skipped;
use crate::store::key::{key, name};
use crate::store::{Store, TicketServer};

/// Where the places of stores are pinned, under the names of tickets.
const PLACES: &str = "settings/tickets/";
/// Where names were written down before.
const NAMES: &str = "tickets-there/";

/// Numbers from `increment` servers that know nothing of each other: each counts in steps of `increment` from its own
/// offset.
///
/// They are unique over all servers and clients. Order between servers is not kept.
#[derive(Debug)]
pub struct Tickets {
    machine: Mutex<snowmint_core::ticket::Tickets>,
    servers: Vec<Arc<dyn TicketServer>>,
    /// The places of stores; servers of another kind keep theirs themselves.
    places: Option<Places>,
    calls: AtomicU64,
    max_wait_ms: u64,
    owner: Owner,
}

impl Tickets {
    /// Counters of that name in stores, the first with offset 1 and so on, as many as the increment.
    ///
    /// The stores keep how many they are and in which order, and refuse any other number or order of that name. So at the
    /// very first ticket of a name all of them have to be there; later any may be down.
    ///
    /// # Errors
    /// `InvalidId`, unless there are 1 to 32 stores; `InvalidText` for a name that is not 1 to 128 bytes long.
    pub fn over(stores: Vec<Arc<dyn Store>>, name: &str) -> Result<Self, Error> {
        let key = key("tickets/", name)?;
        let offsets: Vec<u64> = (1..).take(stores.len().min(MAX_SERVERS + 1)).collect();
        let server = |store| -> Arc<dyn TicketServer> {
            Arc::new(Counter { store, key: key.clone(), start: OnceCell::new(), queue: Arc::default() })
        };
        let servers = stores.iter().map(Arc::clone).map(server).collect();
        let tickets = Self::new(servers, Form::Counter, &offsets, offsets.len() as u64)?;
        Ok(Self { places: Some(Places::of(stores, self::key(PLACES, name)?)), ..tickets })
    }

    /// Lists the names of which there were tickets, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn names(store: &dyn Store) -> Result<BTreeSet<String>, Error> {
        let mut names = BTreeSet::new();
        for prefix in [PLACES, NAMES] {
            names.extend(store.list(prefix).await?.iter().filter_map(|(part, _)| name(part)));
        }
        Ok(names)
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
            places: None,
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
    /// `InvalidId`, if a store has another place among those of that name; `Exhausted` past 2^63-1; `Forked`.
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
            let take = async {
                if let Some(places) = &self.places {
                    places.confirm(place).await?;
                }
                server.take().await
            };
            reply = Some(match timeout(part, take).await {
                Ok(Ok(answer)) => Reply::Sum(answer),
                // No other store is asked: it would have a place that is not its own either.
                Ok(Err(error)) if error.kind() == ErrorKind::InvalidId => return Err(error),
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

/// The place of each store among those of a name, which the stores keep.
#[derive(Debug)]
struct Places {
    stores: Vec<Arc<dyn Store>>,
    key: String,
    confirmed: Vec<AtomicBool>,
}

impl Places {
    fn of(stores: Vec<Arc<dyn Store>>, key: String) -> Self {
        let confirmed = stores.iter().map(|_| AtomicBool::new(false)).collect();
        Self { stores, key, confirmed }
    }

    /// Looks whether a store has the place that it should, before its first ticket.
    ///
    /// Where none has a place yet, each gets one, in order: of two who begin differently at once, one meets the other's.
    async fn confirm(&self, place: usize) -> Result<(), Error> {
        let (Some(store), Some(confirmed)) = (self.stores.get(place), self.confirmed.get(place)) else { return Ok(()) };
        if confirmed.load(Ordering::Acquire) {
            return Ok(());
        }
        if !is_pinned(&**store, &self.key, self.pin_of(place)).await? {
            for (other, store) in self.stores.iter().enumerate().filter(|(other, _)| *other != place) {
                is_pinned(&**store, &self.key, self.pin_of(other)).await?;
            }
            for (place, store) in self.stores.iter().enumerate() {
                pin(&**store, &self.key, self.pin_of(place)).await?;
            }
        }
        confirmed.store(true, Ordering::Release);
        Ok(())
    }

    /// There are 32 stores at most.
    fn pin_of(&self, place: usize) -> Pin {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Pin::Tickets { increment: number(self.stores.len()), offset: number(place + 1) }
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
    /// Where the counter begins, if it is not there: behind the last fence.
    start: OnceCell<u64>,
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

    async fn serve(mut self, store: Arc<dyn Store>, key: String, start: u64) {
        loop {
            let mut callers = self.callers();
            if callers.is_empty() {
                return;
            }
            let count = callers.len() as u64;
            // A write that nobody waits for any more is given up, for its connection may be dead.
            let Some(answer) = wanted(store.add(&key, count, start), &mut callers).await else { continue };
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
        let start = *self.start.get_or_try_init(|| skipped(&*self.store)).await?;
        let (caller, answer) = oneshot::channel();
        let begins = {
            let mut queue = lock(&self.queue);
            queue.callers.push(caller);
            !std::mem::replace(&mut queue.served, true)
        };
        if begins {
            let serving = Serving { queue: Arc::clone(&self.queue), over: false };
            drop(tokio::spawn(serving.serve(Arc::clone(&self.store), self.key.clone(), start)));
        }
        answer.await.unwrap_or_else(|_| Err(Error::unavailable(self.name(), "the call was cut off")))
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
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
