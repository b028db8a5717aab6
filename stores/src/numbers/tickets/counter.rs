//! A counter of a store as a server of tickets.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use crate::error::Error;
use crate::gather::{Gather, Serving, wanted};
use crate::store::floor::skipped;
use crate::store::{CounterStore, TicketServer, ranges};

/// A counter of a store. One write serves all callers that wait; callers that come during a write wait for the next.
///
/// Each number is durable before a caller gets it. Numbers are not fetched ahead.
#[derive(Debug)]
pub(super) struct Counter {
    store: Arc<dyn CounterStore>,
    key: String,
    /// How a count becomes a ticket.
    count: Count,
    /// The start of a new counter, which is after the last fence.
    start: OnceCell<u64>,
    calls: Gather<(), Result<u64, Error>>,
}

/// A server's part of the tickets: all numbers that are `offset` modulo `increment`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) increment: u64,
    pub(super) offset: u64,
}

impl Count {
    /// Returns the ticket of a count, as [`Form::Counter`](snowmint_core::ticket::Form::Counter).
    fn ticket(self, count: u64) -> i128 {
        i128::from(count.saturating_sub(1)) * i128::from(self.increment) + i128::from(self.offset)
    }
}

impl Counter {
    pub(super) fn new(store: Arc<dyn CounterStore>, key: String, count: Count) -> Self {
        Self { store, key, count, start: OnceCell::new(), calls: Gather::default() }
    }
}

/// Serves callers until none waits.
async fn serve(
    mut serving: Serving<(), Result<u64, Error>>,
    store: Arc<dyn CounterStore>,
    key: String,
    of: Count,
    start: u64,
) {
    loop {
        let mut calls = serving.calls(usize::MAX);
        if calls.is_empty() {
            return;
        }
        let count = calls.len() as u64;
        // When all callers have given up, the write is dropped, as its connection may be dead.
        let Some(answer) = wanted(store.add(&key, count, start), &mut calls).await else { continue };
        let answer = answer.and_then(|last| {
            let first = of.ticket(last - count + 1);
            ranges::note(&*store, &key, first, of.ticket(last), of.increment.into()).map(|()| last)
        });
        for (place, call) in (1..).zip(calls) {
            // The number of a caller that has gone is skipped.
            call.answer(answer.clone().map(|last| last - count + place));
        }
    }
}

#[async_trait]
impl TicketServer for Counter {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn take(&self) -> Result<u64, Error> {
        let start = *self.start.get_or_try_init(|| skipped(&*self.store)).await?;
        let answer =
            self.calls.ask((), |serving| serve(serving, Arc::clone(&self.store), self.key.clone(), self.count, start));
        answer.await.unwrap_or_else(|| Err(Error::unavailable(self.name(), "the call was broken off")))
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use std::collections::BTreeSet;
    use std::future::poll_fn;
    use std::task::Poll;

    use super::super::Tickets;
    use super::*;
    use crate::engines::memory::Memory;

    #[tokio::test]
    async fn simultaneous_callers_get_different_tickets() {
        let store: Arc<dyn CounterStore> = Memory::named("");
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
            let store: Arc<dyn CounterStore> = Memory::named("");
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
