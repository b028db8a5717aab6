//! Statements of callers that wait for a connection. They share a transaction, a round trip and a flush.

use std::fmt;
use std::sync::{Arc, Mutex};

use snowmint_core::durability::Denial;

use super::dialect::{Dialect, denial};
use super::pool::Pool;
use super::query::{Change as _, Group, Outcome, Statement, Value};
use crate::error::Error;
use crate::gather::{Call, Gather, Serving};
use crate::process::lock;

/// The most callers that share a transaction.
const MAX_CALLERS: usize = 1024;

/// The request of a caller: statements in order, for the row of this name.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) statements: Vec<Statement>,
    pub(super) name: Value,
}

/// The outcome of each statement. `None`, if the server refused these statements: run them alone to get the reason.
type Answer<R> = Option<Result<Vec<Outcome<R>>, Error>>;

/// The callers that wait for a connection, for statements whose rows have one type.
pub(super) struct Shared<R> {
    calls: Gather<Asked, Answer<R>>,
    /// A statement that runs behind statements that return rows: these rows count only then.
    behind: Option<&'static str>,
}

impl<R: Send + 'static> Shared<R> {
    pub(super) fn new(behind: Option<&'static str>) -> Self {
        Self { calls: Gather::default(), behind }
    }

    /// Runs statements in one transaction: at once on a free connection, otherwise together with the statements of
    /// other waiting callers.
    ///
    /// No outcome means that the server refused the change for its row: a duplicate, or a number beyond its end.
    pub(super) async fn run<D: Dialect>(&self, pool: &Pool<D>, asked: Asked) -> Result<Vec<Outcome<R>>, Error>
    where
        D::Connection: Group<R>,
    {
        pool.refuse_stranger()?;
        if !pool.has_room() {
            let answer = self.calls.ask(asked.clone(), |serving| serve(serving, pool.clone(), self.behind));
            match pool.in_time(answer).await? {
                Some(Some(answer)) => return answer,
                Some(None) => {}
                None => return Err(Error::unavailable(pool.name(), "the request was broken off")),
            }
        }
        let done = pool.run((asked, self.behind), |connection, (asked, behind)| {
            Box::pin(async move {
                match group::<D, R>(connection, &asked.statements, *behind).await {
                    Err(error) if matches!(denial::<D>(&error), Denial::Duplicate | Denial::Beyond) => Ok(vec![]),
                    done => Ok(done?),
                }
            })
        });
        done.await
    }
}

async fn group<D: Dialect, R: Send + 'static>(
    connection: &mut D::Connection,
    statements: &[Statement],
    behind: Option<&'static str>,
) -> Result<Vec<Outcome<R>>, sqlx::Error>
where
    D::Connection: Group<R>,
{
    let done = connection.group(statements).await?;
    if let Some(behind) = behind.filter(|_| done.iter().any(|(_, rows)| !rows.is_empty())) {
        connection.change(behind, &[]).await?;
    }
    Ok(done)
}

/// Serves callers until none waits.
async fn serve<D: Dialect, R: Send + 'static>(
    serving: Serving<Asked, Answer<R>>,
    pool: Pool<D>,
    behind: Option<&'static str>,
) where
    D::Connection: Group<R>,
{
    let turn = Arc::new(Mutex::new(Turn { serving, calls: None, halves: Vec::new() }));
    loop {
        let done = pool.run((Arc::clone(&turn), behind), |connection, (turn, behind)| {
            Box::pin(async move {
                // All that wait by now, as the connection is there.
                let statements = lock(turn).statements();
                if statements.is_empty() {
                    return Ok(Some(Vec::new()));
                }
                match group::<D, R>(connection, &statements, *behind).await {
                    Err(error) if error.as_database_error().is_some() && !denial::<D>(&error).is_undone() => Ok(None),
                    done => Ok(Some(done?)),
                }
            })
        });
        let done = done.await;
        let mut calls = lock(&turn).end();
        if calls.is_empty() {
            return;
        }
        if calls.len() > 1 && matches!(done, Ok(None)) {
            // One of them is refused, and nothing was done. Halves find it.
            let half = calls.split_off(calls.len() / 2);
            lock(&turn).halves.extend([half, calls]);
            continue;
        }
        let mut outcomes = done.map(|done| done.map(Vec::into_iter));
        for call in calls {
            let count = call.asked.statements.len();
            call.answer(match &mut outcomes {
                Ok(None) => None,
                Ok(Some(outcomes)) => Some(Ok(outcomes.by_ref().take(count).collect())),
                Err(error) => Some(Err(error.clone())),
            });
        }
    }
}

/// The calls that are served now.
struct Turn<R> {
    serving: Serving<Asked, Answer<R>>,
    /// `None` until a connection is there.
    calls: Option<Vec<Call<Asked, Answer<R>>>>,
    /// Parts of a group that was refused.
    halves: Vec<Vec<Call<Asked, Answer<R>>>>,
}

impl<R> Turn<R> {
    /// Begins with the calls that wait, and returns their statements. A repetition has the same ones.
    fn statements(&mut self) -> Vec<Statement> {
        let calls = self.calls.get_or_insert_with(|| {
            if let Some(half) = self.halves.pop() {
                return half;
            }
            let mut calls = self.serving.calls(MAX_CALLERS);
            // Two servers that lock rows in the same order do not wait for each other.
            calls.sort_by_cached_key(|call| call.asked.name.to_string());
            calls
        });
        calls.iter().flat_map(|call| call.asked.statements.iter().cloned()).collect()
    }

    /// Takes the calls of this turn. If no connection became free, takes all waiting calls.
    fn end(&mut self) -> Vec<Call<Asked, Answer<R>>> {
        self.calls.take().unwrap_or_else(|| {
            let waiting = self.serving.calls(usize::MAX);
            self.halves.drain(..).flatten().chain(waiting).collect()
        })
    }
}

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Self { calls: self.calls.clone(), behind: self.behind }
    }
}

impl<R> fmt::Debug for Shared<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.calls.fmt(f)
    }
}
