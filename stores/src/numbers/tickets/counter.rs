//! A counter of a store as a server of tickets.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use async_trait::async_trait;
use tokio::sync::{OnceCell, oneshot};

use crate::error::Error;
use crate::process::lock;
use crate::store::floor::skipped;
use crate::store::{Store, TicketServer};

/// A counter of a store. One write serves all callers that wait; callers that come during a write wait for the next.
///
/// Each number is durable before a caller gets it. Numbers are not fetched ahead.
#[derive(Debug)]
pub(super) struct Counter {
    store: Arc<dyn Store>,
    key: String,
    /// The start of a new counter, which is after the last fence.
    start: OnceCell<u64>,
    queue: Arc<Mutex<Queue>>,
}

impl Counter {
    pub(super) fn new(store: Arc<dyn Store>, key: String) -> Self {
        Self { store, key, start: OnceCell::new(), queue: Arc::default() }
    }
}

#[derive(Debug, Default)]
struct Queue {
    callers: Vec<Caller>,
    /// Whether a task serves the callers.
    served: bool,
}

type Caller = oneshot::Sender<Result<u64, Error>>;

/// The task that serves the callers of a queue, until the queue is empty.
struct Serving {
    queue: Arc<Mutex<Queue>>,
    /// Whether the queue is empty.
    over: bool,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The task ended with its runtime. Its callers notice the lost sender, and the next caller starts a new task.
        if !self.over {
            *lock(&self.queue) = Queue::default();
        }
    }
}

impl Serving {
    /// Takes the callers that wait now.
    fn callers(&mut self) -> Vec<Caller> {
        let mut queue = lock(&self.queue);
        let mut callers = std::mem::take(&mut queue.callers);
        // Callers that gave up need no number.
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
            // When all callers have given up, the write is dropped, as its connection may be dead.
            let Some(answer) = wanted(store.add(&key, count, start), &mut callers).await else { continue };
            for (place, caller) in (1..).zip(callers) {
                // The number of a caller that has gone is skipped.
                drop(caller.send(answer.clone().map(|last| last - count + place)));
            }
        }
    }
}

/// Waits for an answer. `None` if all callers give up before.
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
        answer.await.unwrap_or_else(|_| Err(Error::unavailable(self.name(), "the call was broken off")))
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Tickets;
    use super::*;
    use crate::engines::memory::Memory;

    #[tokio::test]
    async fn simultaneous_callers_get_different_tickets() {
        let store: Arc<dyn Store> = Memory::named("");
        let tickets = Arc::new(Tickets::over(vec![Arc::clone(&store)], "t").expect("tickets"));
        let takers: Vec<_> = (0..500)
            .map(|_| {
                let tickets = Arc::clone(&tickets);
                tokio::spawn(async move { tickets.next().await.expect("a ticket") })
            })
            .collect();
        // Some callers give up.
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
    fn a_runtime_that_ends_midway_blocks_no_later_caller() {
        let tickets = {
            let store: Arc<dyn Store> = Memory::named("");
            Tickets::over(vec![store], "t").expect("tickets")
        };
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        for first in [1, 2] {
            let short = runtime();
            short.block_on(async {
                // Begins, and never ends.
                let mut next = std::pin::pin!(tickets.next());
                assert!(is_pending(next.as_mut()).await);
            });
            drop(short);
            assert!(runtime().block_on(tickets.next()).expect("a ticket") >= first);
        }
    }

    /// Polls once, and returns whether the future is pending.
    async fn is_pending<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
        poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
    }
}
