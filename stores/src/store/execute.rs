//! Requests of a claim or renewal to a store, and their answers: the two drivers differ only here.

use snowmint_core::{SystemHost, mutant};

use super::blocking::BlockingStore;
use crate::error::Error;
#[cfg(feature = "engines")]
use crate::store::Store;
use crate::store::{Found, Version, Wrote};

/// One call of a store.
#[derive(Debug)]
pub(crate) enum Request {
    Read(String),
    Write(String, Vec<u8>, Version),
    List(String),
    ReadClock,
}

/// The answer of the store to a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Found(Option<Found>),
    Wrote(Wrote),
    Listed(Vec<(String, Found)>),
    /// The store's clock, if it has one, and this machine's at that time, Unix ms.
    Clock(Option<i64>, i64),
}

/// Sends a request to an asynchronous store.
#[cfg(feature = "engines")]
pub(crate) async fn execute(store: &dyn Store, request: Request) -> Result<Answer, Error> {
    Ok(match request {
        Request::Read(key) => Answer::Found(store.read(&key).await?),
        Request::Write(key, value, expected) => {
            Answer::Wrote(seen(store.write(&key, &value, expected).await?, expected))
        }
        Request::List(prefix) => Answer::Listed(store.list(&prefix).await?),
        Request::ReadClock => Answer::Clock(store.clock_ms().await?, SystemHost::unix_ms()),
    })
}

/// Sends a request to a blocking store.
pub(crate) fn execute_blocking(store: &dyn BlockingStore, request: Request) -> Result<Answer, Error> {
    Ok(match request {
        Request::Read(key) => Answer::Found(store.read(&key)?),
        Request::Write(key, value, expected) => Answer::Wrote(seen(store.write(&key, &value, expected)?, expected)),
        Request::List(prefix) => Answer::Listed(store.list(&prefix)?),
        Request::ReadClock => Answer::Clock(store.clock_ms()?, SystemHost::unix_ms()),
    })
}

/// Returns what the store answered to a write. The mutant takes every answer for a success.
fn seen(wrote: Wrote, expected: Version) -> Wrote {
    if mutant::removes("version") { Wrote::Version(expected + 1) } else { wrote }
}
