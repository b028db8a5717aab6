//! Requests of core's machines for their records, and the replies.

use snowmint_core::pin::Pin;
use snowmint_core::store::{Ask, Reply};
use snowmint_core::{Error as CoreError, ErrorKind, lease, section, sequence};

use super::execute::{Answer, Request};
use crate::error::Error;
use crate::store::Wrote;
#[cfg(feature = "engines")]
use crate::store::{Store, execute::execute};

/// A record of one of core's machines.
pub(crate) trait Record: Copy + Send {
    fn bytes(&self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Result<Self, CoreError>;
}

macro_rules! record {
    ($($record:ty),*) => {
        $(impl Record for $record {
            fn bytes(&self) -> Vec<u8> {
                self.to_bytes().to_vec()
            }

            fn read(bytes: &[u8]) -> Result<Self, CoreError> {
                Self::from_bytes(bytes)
            }
        })*
    };
}

record!(lease::Record, section::Record, sequence::State, Pin);

/// Returns the request of a machine for its record.
pub(crate) fn request_of<R: Record>(key: &str, ask: &Ask<R>) -> Option<Request> {
    match ask {
        Ask::Read => Some(Request::Read(key.to_owned())),
        Ask::Write(record, expected) => Some(Request::Write(key.to_owned(), record.bytes(), *expected)),
        Ask::Add(_) => None,
    }
}

/// Returns the reply for a machine. If the store did not answer, the reply is `Unknown`, and the error says why.
///
/// # Errors
/// Errors that another request would meet as well: an invalid record, an unsafe store.
pub(crate) fn reply_of<R: Record>(
    store: &str,
    key: &str,
    answer: Result<Answer, Error>,
) -> Result<(Reply<R>, Option<Error>), Error> {
    let reply = match answer {
        Ok(Answer::Found(None)) => Reply::Record(None, 0),
        Ok(Answer::Found(Some(found))) => {
            let record =
                R::read(&found.value).map_err(|error| Error::told(error.kind(), format!("{store}: {key}: {error}")))?;
            Reply::Record(Some(record), found.version)
        }
        Ok(Answer::Wrote(Wrote::Version(version))) => Reply::Written(version),
        Ok(Answer::Wrote(Wrote::Conflict)) => Reply::Conflict,
        Ok(other) => {
            return Err(Error::unavailable(store, format_args!("{key}: an answer to another request: {other:?}")));
        }
        Err(error) if error.kind() == ErrorKind::StoreUnavailable => return Ok((Reply::Unknown, Some(error))),
        Err(error) => return Err(error),
    };
    Ok((reply, None))
}

/// Sends the request of a machine to a store, and returns the reply as [`reply_of`] does.
#[cfg(feature = "engines")]
pub(crate) async fn ask<R: Record>(
    store: &dyn Store,
    key: &str,
    ask: Ask<R>,
) -> Result<(Reply<R>, Option<Error>), Error> {
    if let Ask::Add(amount) = ask {
        return match store.add(key, amount, 0).await {
            Ok(sum) => Ok((Reply::Sum(sum), None)),
            Err(error) => reply_of(store.name(), key, Err(error)),
        };
    }
    let answer = match request_of(key, &ask) {
        Some(request) => execute(store, request).await,
        None => return Ok((Reply::Unknown, None)),
    };
    reply_of(store.name(), key, answer)
}
