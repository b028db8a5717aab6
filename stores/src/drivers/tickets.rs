//! Tickets: one number a round trip, from one of several servers, any of which may be down.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::store::Reply;
use snowmint_core::ticket::{Form, MAX_SERVERS, Take, Turn};
use tokio::time::{Instant, timeout};

use super::{MAX_WAIT_MS, Owner, lock};
use crate::error::Error;
use crate::key::key;
use crate::steady::steady_ms;
use crate::store::{Store, TicketServer};

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
        let server = |store| -> Arc<dyn TicketServer> { Arc::new(Counter { store, key: key.clone() }) };
        Self::new(stores.into_iter().map(server).collect(), Form::Counter, &offsets, offsets.len() as u64)
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

#[derive(Debug)]
struct Counter {
    store: Arc<dyn Store>,
    key: String,
}

#[async_trait]
impl TicketServer for Counter {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn take(&self) -> Result<u64, Error> {
        self.store.add(&self.key, 1, 0).await
    }
}
