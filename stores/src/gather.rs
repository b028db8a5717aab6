//! Groups callers that wait for the same work. In each turn one task serves all waiting callers. Later callers wait for
//! the next turn of the task.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use tokio::sync::oneshot;

use crate::process::lock;

/// Calls that wait to be served together. `Q` is the request of a caller, and `A` the answer. Clones share the calls.
pub(crate) struct Gather<Q, A>(Arc<Mutex<Queue<Q, A>>>);

struct Queue<Q, A> {
    calls: Vec<Call<Q, A>>,
    /// Whether a task serves the calls.
    served: bool,
}

/// A call, with the channel for its answer.
#[derive(Debug)]
pub(crate) struct Call<Q, A> {
    #[cfg_attr(
        not(any(feature = "sql", feature = "redis")),
        expect(dead_code, reason = "others ask nothing but a turn")
    )]
    pub(crate) asked: Q,
    caller: oneshot::Sender<A>,
}

/// The right to serve calls, until none waits.
pub(crate) struct Serving<Q, A> {
    gather: Gather<Q, A>,
    /// Whether no call waits any more.
    over: bool,
}

impl<Q, A> Gather<Q, A> {
    /// Waits for an answer. If no task serves the calls, `serve` becomes that task.
    ///
    /// `None` if the task ended with its runtime.
    pub(crate) async fn ask<F>(&self, asked: Q, serve: impl FnOnce(Serving<Q, A>) -> F) -> Option<A>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let begins = {
            let mut queue = lock(&self.0);
            queue.calls.push(Call { asked, caller });
            !std::mem::replace(&mut queue.served, true)
        };
        if begins {
            drop(tokio::spawn(serve(Serving { gather: self.clone(), over: false })));
        }
        answer.await.ok()
    }
}

impl<Q, A> Serving<Q, A> {
    /// Takes the calls that wait now, at most `most`, without those whose callers gave up. An empty list ends the task.
    pub(crate) fn calls(&mut self, most: usize) -> Vec<Call<Q, A>> {
        let mut queue = lock(&self.gather.0);
        queue.calls.retain(|call| !call.caller.is_closed());
        let some = queue.calls.len().min(most);
        let calls: Vec<_> = queue.calls.drain(..some).collect();
        queue.served = !calls.is_empty();
        self.over = calls.is_empty();
        calls
    }
}

impl<Q, A> Call<Q, A> {
    /// Answers. The caller may have gone.
    pub(crate) fn answer(self, answer: A) {
        drop(self.caller.send(answer));
    }
}

/// Waits for the outcome of work. `None` if all callers give up before.
pub(crate) async fn wanted<Q, A, T>(work: impl Future<Output = T>, calls: &mut [Call<Q, A>]) -> Option<T> {
    let mut work = pin!(work);
    let mut deserted = pin!(async {
        for call in calls {
            call.caller.closed().await;
        }
    });
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => deserted.as_mut().poll(context).map(|()| None),
    })
    .await
}

impl<Q, A> Drop for Serving<Q, A> {
    fn drop(&mut self) {
        // The task ended with its runtime. Its callers notice the lost sender, and the next caller starts a new task.
        if !self.over {
            *lock(&self.gather.0) = Queue::default();
        }
    }
}

impl<Q, A> Default for Queue<Q, A> {
    fn default() -> Self {
        Self { calls: Vec::new(), served: false }
    }
}

impl<Q, A> Default for Gather<Q, A> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<Q, A> Clone for Gather<Q, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Q, A> fmt::Debug for Gather<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gather({} calls)", lock(&self.0).calls.len())
    }
}
