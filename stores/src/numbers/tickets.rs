//! Tickets: each number is one round trip, to one of several servers. Any server may be down.

mod counter;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_core::host::whole_ms;
use snowmint_core::pin::Pin;
use snowmint_core::store::Reply;
use snowmint_core::ticket::{Form, MAX_SERVERS, Take, Turn, ends_call, part_ms, unserved};
use tokio::time::{Instant, timeout};

use self::counter::{Count, Counter};
use super::MAX_WAIT_MS;
use super::pins::{is_pinned, pin};
use super::served::Numbers;
use crate::error::Error;
use crate::process::Owner;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;
use crate::store::key::{key, name};
use crate::store::{CounterStore, Served, TicketServer};

/// The prefix of the pinned places of stores.
const PLACES_PREFIX: &str = "settings/tickets/";
/// The prefix of the list of names, before places were pinned.
const NAMES_PREFIX: &str = "tickets-there/";

/// Numbers from `increment` independent servers. Each counts in steps of `increment` from its own offset.
///
/// Numbers are unique over all servers and clients. Between servers they have no order.
///
/// # Examples
/// ```
/// use snowmint_stores::{Tickets, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let stores = vec![connect("memory:").await?, connect("memory:").await?];
/// let photos = Tickets::over(stores, "photos")?;
/// assert_eq!([photos.next().await?, photos.next().await?], [1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tickets {
    machine: Mutex<snowmint_core::ticket::Tickets>,
    servers: Vec<Arc<dyn TicketServer>>,
    /// The places of stores. Other servers know their offsets themselves.
    places: Option<Places>,
    calls: AtomicU64,
    max_wait_ms: u64,
    owner: &'static Owner,
}

impl Tickets {
    /// Opens a counter of this name in each store. The first store has offset 1, and the increment is the number of stores.
    ///
    /// Each store keeps its place and the number of stores, and refuses another. So all stores must answer for the first ticket
    /// of a name; later any store may be down.
    ///
    /// # Errors
    /// `InvalidId` unless there are 1 to 32 stores; `InvalidText` for a name that is not 1 to 128 bytes long.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Tickets, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let stores = vec![connect("memory:").await?, connect("memory:").await?];
    /// let photos = Tickets::over(stores, "photos")?;
    /// assert_eq!(photos.next().await?, 1);
    /// assert!(Tickets::over(vec![], "photos").is_err(), "it needs a store");
    /// # Ok(())
    /// # }
    /// ```
    pub fn over(stores: Vec<Arc<dyn CounterStore>>, name: &str) -> Result<Self, Error> {
        let key = key("tickets/", name)?;
        if let Some(service) = stores.iter().find_map(|store| store.service()) {
            if stores.len() > 1 {
                let why = "a service has the stores of its tickets itself (--tickets-store): name it alone";
                return Err(Error::invalid_store(service.name(), why));
            }
            return Self::new(vec![Arc::new(Numbers::new(service, Served::Ticket, name))], Form::Ticket, &[1], 1);
        }
        let offsets: Vec<u64> = (1..).take(stores.len().min(MAX_SERVERS + 1)).collect();
        let increment = offsets.len() as u64;
        let server = |(store, offset): (&Arc<dyn CounterStore>, &u64)| -> Arc<dyn TicketServer> {
            Arc::new(Counter::new(Arc::clone(store), key.clone(), Count { increment, offset: *offset }))
        };
        let servers = stores.iter().zip(&offsets).map(server).collect();
        let tickets = Self::new(servers, Form::Counter, &offsets, increment)?;
        Ok(Self { places: Some(Places::of(stores, self::key(PLACES_PREFIX, name)?)), ..tickets })
    }

    /// Lists the names of all tickets, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Tickets, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Tickets::over(vec![store.clone()], "photos")?.next().await?;
    /// assert!(Tickets::names(&*store).await?.contains("photos"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn names(store: &dyn CounterStore) -> Result<BTreeSet<String>, Error> {
        let mut names = BTreeSet::new();
        for prefix in [PLACES_PREFIX, NAMES_PREFIX] {
            names.extend(store.list(prefix).await?.iter().filter_map(|(part, _)| name(part)));
        }
        Ok(names)
    }

    /// Opens servers with their offsets. Flickr's tables have the form [`Form::Ticket`].
    ///
    /// # Errors
    /// `InvalidId` unless there are 1 to 32 servers, each with a different offset from 1 to the increment.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use snowmint_core::ticket::Form;
    /// use snowmint_stores::{Error, TicketServer, Tickets};
    ///
    /// #[derive(Debug, Default)]
    /// struct Counter(AtomicU64);
    ///
    /// #[async_trait::async_trait]
    /// impl TicketServer for Counter {
    ///     fn name(&self) -> &str {
    ///         "a counter"
    ///     }
    ///
    ///     async fn take(&self) -> Result<u64, Error> {
    ///         Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let tickets = Tickets::new(vec![Arc::new(Counter::default())], Form::Counter, &[1], 1)?;
    /// assert_eq!([tickets.next().await?, tickets.next().await?], [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        servers: Vec<Arc<dyn TicketServer>>,
        form: Form,
        offsets: &[u64],
        increment: u64,
    ) -> Result<Self, Error> {
        let machine = snowmint_core::ticket::Tickets::new(form, increment, offsets)?;
        if servers.len() != offsets.len() {
            let (servers, offsets) = (servers.len(), offsets.len());
            return Err(Error::new(
                ErrorKind::InvalidId,
                format!("{servers} ticket servers need {servers} offsets, not {offsets}"),
            ));
        }
        Ok(Self {
            machine: Mutex::new(machine),
            servers,
            places: None,
            calls: AtomicU64::new(0),
            max_wait_ms: MAX_WAIT_MS,
            owner: Owner::this(),
        })
    }

    /// Lets the stores of the servers keep their places, as [`Tickets::over`] does: clients that name the servers in another
    /// order, or another number of them, are refused. The servers' offsets are 1, 2 and so on.
    ///
    /// # Errors
    /// `InvalidId`, unless there is a store for each server; `InvalidText` for a name that is not 1 to 128 bytes long.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicU64, Ordering};
    /// use snowmint_core::ticket::Form;
    /// use snowmint_stores::{Tickets, connect};
    /// # use snowmint_stores::{Error, TicketServer};
    /// # #[derive(Debug, Default)]
    /// # struct Counter(AtomicU64);
    /// #
    /// # #[async_trait::async_trait]
    /// # impl TicketServer for Counter {
    /// #     fn name(&self) -> &str {
    /// #         "a counter"
    /// #     }
    /// #
    /// #     async fn take(&self) -> Result<u64, Error> {
    /// #         Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// // A counter, beside a store in the same place.
    /// let (counter, store) = (Arc::new(Counter::default()), connect("memory:").await?);
    /// let photos = Tickets::new(vec![counter], Form::Counter, &[1], 1)?.with_places(vec![store.clone()], "photos")?;
    /// assert_eq!(photos.next().await?, 1);
    /// let two = Tickets::over(vec![store, connect("memory:").await?], "photos")?;
    /// assert_eq!(two.next().await.expect_err("the store is the only one").code(), "INVALID_ID");
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_places(self, stores: Vec<Arc<dyn CounterStore>>, name: &str) -> Result<Self, Error> {
        if stores.len() != self.servers.len() {
            let (servers, stores) = (self.servers.len(), stores.len());
            let message = format!("{servers} ticket servers keep their places in {servers} stores, not {stores}");
            return Err(Error::new(ErrorKind::InvalidId, message));
        }
        Ok(Self { places: Some(Places::of(stores, key(PLACES_PREFIX, name)?)), ..self })
    }

    /// Sets the time limit of a call, instead of one second. Each server gets an equal part of the time that is left.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_stores::{Tickets, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let photos = Tickets::over(vec![connect("memory:").await?], "photos")?.with_max_wait(Duration::from_secs(2));
    /// assert_eq!(photos.next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_max_wait(self, max_wait: Duration) -> Self {
        Self { max_wait_ms: whole_ms(max_wait), ..self }
    }

    /// Takes a ticket from the servers in turn. Servers that failed lately come last. A late answer is skipped.
    ///
    /// # Errors
    /// `StoreUnavailable` with the error of each server if no server answers, or if a server counts with another increment;
    /// `InvalidId` if a store has another place; `InvalidText` for a new name that [`names`](snowmint_core::names) does not
    /// allow; `Exhausted` after 2^63-1; `Forked`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Tickets, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let photos = Tickets::over(vec![connect("memory:").await?], "photos")?;
    /// assert_eq!([photos.next().await?, photos.next().await?], [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self) -> Result<u64, Error> {
        self.owner.refuse_sharing()?;
        let deadline = Instant::now() + Duration::from_millis(self.max_wait_ms);
        let mut take = Take::from(self.calls.fetch_add(1, Ordering::Relaxed));
        let mut reply: Option<Reply<Infallible>> = None;
        let mut failures: Vec<Error> = Vec::new();
        loop {
            let turn = lock(&self.machine).next(&mut take, reply, monotonic_ms());
            let place = match turn {
                Ok(Turn::Done(ticket)) => return Ok(ticket),
                Ok(Turn::Ask(place)) => place,
                Err(error) => return Err(explain(error, &failures)),
            };
            let Some(server) = self.servers.get(place) else { return Err(snowmint_core::Error::closed().into()) };
            let left_ms = whole_ms(deadline.saturating_duration_since(Instant::now()));
            let part_ms = part_ms(left_ms, self.servers.len() as u64, failures.len() as u64);
            let part = Duration::from_millis(part_ms);
            let take = async {
                if let Some(places) = &self.places {
                    places.confirm(place).await?;
                }
                server.take().await
            };
            reply = Some(match timeout(part, take).await {
                Ok(Ok(answer)) => Reply::Sum(answer),
                Ok(Err(error)) if ends_call(error.kind()) => return Err(error),
                Ok(Err(error)) => {
                    failures.push(error);
                    Reply::Unknown
                }
                Err(_) => {
                    failures.push(Error::unavailable(server.name(), format_args!("no answer within {part_ms} ms")));
                    Reply::Unknown
                }
            });
        }
    }
}

/// The places of the stores of a name, as the stores keep them.
#[derive(Debug)]
struct Places {
    stores: Vec<Arc<dyn CounterStore>>,
    key: String,
    confirmed: Vec<AtomicBool>,
}

impl Places {
    fn of(stores: Vec<Arc<dyn CounterStore>>, key: String) -> Self {
        let confirmed = stores.iter().map(|_| AtomicBool::new(false)).collect();
        Self { stores, key, confirmed }
    }

    /// Checks the place of a store, before its first ticket.
    ///
    /// If no store has a place, each gets one, in order: of two clients that begin with different orders, one is refused.
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

    // At most 32 stores.
    fn pin_of(&self, place: usize) -> Pin {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Pin::Tickets { increment: number(self.stores.len()), offset: number(place + 1) }
    }
}

/// Adds the errors of the servers.
fn explain(error: snowmint_core::Error, failures: &[Error]) -> Error {
    if failures.is_empty() {
        return error.into();
    }
    let reasons: Vec<_> = failures.iter().map(ToString::to_string).collect();
    let kind = unserved(error.kind(), failures.iter().map(Error::kind));
    Error::new(kind, format!("{error}: {}", reasons.join("; ")))
}
