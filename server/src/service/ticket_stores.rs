//! The stores of `--tickets-store`: Flickr's ticket servers. Each is connected at its first use, so that the others serve while
//! one of them is down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::future::select_ok;
use snowmint_core::ErrorKind;
use snowmint_core::ticket::Form;
use snowmint_stores::{
    CounterStore, Error, Ranges, RecordStore, TakenRange, TicketServer, Tickets, Url, Version, Versioned, WriteOutcome,
    connect_to,
};
use tokio::sync::OnceCell;

use crate::monitored_store::kind;
use crate::range_log::RangeLog;

/// Flickr's table. Where the stores have it, the tickets of all names come from it.
const TABLE: &str = "Tickets64";
/// The row of the table, as in Flickr's article.
#[cfg(feature = "engines")]
const STUB: &str = "a";

/// The ticket servers, in the order of their offsets.
#[derive(Clone, Debug)]
pub struct TicketStores {
    stores: Vec<Arc<TicketStore>>,
    /// Whether the stores have Flickr's table, as the first one that answered said.
    have_table: Arc<OnceCell<bool>>,
}

/// A ticket server.
#[derive(Debug)]
struct TicketStore {
    url: Url,
    /// The engine, without its address.
    engine: String,
    /// The number of servers, and the place of this one, from 1.
    increment: u64,
    offset: u64,
    ranges: Option<Arc<RangeLog>>,
    connected: OnceCell<Connected>,
    /// Whether the log has reported that the server is unavailable.
    is_away: AtomicBool,
}

/// A connection to a ticket server.
#[derive(Debug)]
struct Connected {
    store: Arc<dyn CounterStore>,
    table: Option<Arc<dyn TicketServer>>,
}

impl TicketStores {
    /// Names the servers, and connects to none yet.
    pub fn of(urls: Vec<Url>, ranges: Option<&Arc<RangeLog>>) -> Self {
        let increment = urls.len() as u64;
        let store = |(offset, url): (u64, Url)| {
            Arc::new(TicketStore {
                engine: url.scheme.clone(),
                url,
                increment,
                offset,
                ranges: ranges.cloned(),
                connected: OnceCell::new(),
                is_away: AtomicBool::new(false),
            })
        };
        Self { stores: (1..).zip(urls).map(store).collect(), have_table: Arc::default() }
    }

    /// Opens the tickets of a name.
    ///
    /// # Errors
    /// `StoreUnavailable`, if no server has answered yet.
    pub async fn open(&self, name: &str) -> Result<Tickets, Error> {
        let stores =
            self.stores.iter().map(|store| Arc::<TicketStore>::clone(store) as Arc<dyn CounterStore>).collect();
        if !self.have_table().await? {
            return Tickets::over(stores, name);
        }
        let servers =
            self.stores.iter().map(|store| Arc::<TicketStore>::clone(store) as Arc<dyn TicketServer>).collect();
        let offsets: Vec<u64> = self.stores.iter().map(|store| store.offset).collect();
        Tickets::new(servers, Form::Ticket, &offsets, offsets.len() as u64)?.with_places(stores, TABLE)
    }

    /// Returns whether the tickets come from Flickr's table. Asks all servers; the first answer counts.
    pub async fn have_table(&self) -> Result<bool, Error> {
        let ask = || async {
            let asked =
                self.stores.iter().map(|store| Box::pin(async { Ok(store.connected().await?.table.is_some()) }));
            select_ok(asked).await.map(|(has, _)| has)
        };
        self.have_table.get_or_try_init(ask).await.copied()
    }
}

impl TicketStore {
    async fn connected(&self) -> Result<&Connected, Error> {
        self.connected.get_or_try_init(|| self.connect()).await.map_err(|error| self.failed(&error))
    }

    async fn connect(&self) -> Result<Connected, Error> {
        #[cfg(feature = "engines")]
        if matches!(self.url.scheme.as_str(), "mysql" | "mariadb") {
            let store = Arc::new(snowmint_stores::mysql::Mysql::connect(&self.url).await?);
            let table = store.find_tickets(TABLE, STUB, self.increment, self.offset).await?;
            return Ok(Connected { store, table: table.map(|table| Arc::new(table) as Arc<dyn TicketServer>) });
        }
        Ok(Connected { store: connect_to(self.url.clone()).await?, table: None })
    }

    /// Runs a call of the server's store.
    async fn call<T>(&self, call: impl AsyncFnOnce(&Connected) -> Result<T, Error>) -> Result<T, Error> {
        let done = call(self.connected().await?).await.map_err(|error| self.failed(&error))?;
        if self.is_away.swap(false, Ordering::Relaxed) {
            tracing::info!(place = self.offset, "a ticket server answers again");
        }
        Ok(done)
    }

    /// Notes a failure, and returns the error for clients.
    fn failed(&self, error: &Error) -> Error {
        use ErrorKind::{InvalidStore, StoreUnavailable, UnsafeStore};
        if !matches!(error.kind(), InvalidStore | StoreUnavailable | UnsafeStore) {
            return error.clone();
        }
        if !self.is_away.swap(true, Ordering::Relaxed) {
            tracing::warn!(place = self.offset, %error, "a ticket server does not answer");
        }
        let (engine, offset) = (kind(&self.engine), self.offset);
        let why = format!("{engine}, ticket server {offset}, does not answer; the log of the service has the reason");
        Error::new(StoreUnavailable, why)
    }
}

#[async_trait]
impl RecordStore for TicketStore {
    fn name(&self) -> &str {
        &self.engine
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.call(async |connected| connected.store.read(key).await).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        self.call(async |connected| connected.store.write(key, value, expected).await).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.call(async |connected| connected.store.list(prefix).await).await
    }
}

#[async_trait]
impl CounterStore for TicketStore {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let add = async |connected: &Connected| match &connected.table {
            None => connected.store.add(counter, delta, start).await,
            Some(_) => {
                Err(Error::unavailable(&self.engine, format_args!("it has a table {TABLE}, and the others have none")))
            }
        };
        self.call(add).await
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.call(async |connected| connected.store.lower(counter, end, start).await).await
    }

    fn ranges(&self) -> Option<&dyn Ranges> {
        self.ranges.as_deref().map(|ranges| ranges as &dyn Ranges)
    }
}

#[async_trait]
impl TicketServer for TicketStore {
    fn name(&self) -> &str {
        &self.engine
    }

    async fn take(&self) -> Result<u64, Error> {
        let take = async |connected: &Connected| match &connected.table {
            Some(table) => table.take().await,
            None => Err(Error::unavailable(&self.engine, format_args!("it has no table {TABLE}, as the others have"))),
        };
        let number = self.call(take).await?;
        if let Some(ranges) = &self.ranges {
            let (first, last, step) = (number.into(), number.into(), self.increment.into());
            ranges.note(&TakenRange::new("ticket", TABLE, first, last, step))?;
        }
        Ok(number)
    }
}
