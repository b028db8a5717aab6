//! Requests of core's machines for their records, and the replies.

use snowmint_core::pin::Pin;
use snowmint_core::store::{Ask, Reply};
use snowmint_core::{Error as CoreError, ErrorKind, lease, mutant, section, sequence};

use crate::error::Error;
use crate::store::{RecordStore, Version, WriteOutcome};

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

/// The reply for a machine. If the store did not answer, the reply is `Unknown`, and the error says why.
pub(crate) type Replied<R> = (Reply<R>, Option<Error>);

/// Sends the request of a machine for its record to a store.
///
/// # Errors
/// Errors that a repeated request would get as well: an invalid record, an unsafe store.
pub(crate) async fn ask<R: Record>(store: &dyn RecordStore, key: &str, ask: Ask<R>) -> Result<Replied<R>, Error> {
    match ask {
        Ask::Read => match store.read(key).await {
            Ok(None) => Ok((Reply::Record(None, 0), None)),
            Ok(Some(found)) => match R::read(&found.value) {
                Ok(record) => Ok((Reply::Record(Some(record), found.version), None)),
                Err(error) => Err(Error::new(error.kind(), format!("{}: {key}: {error}", store.name()))),
            },
            Err(error) => unanswered(error),
        },
        Ask::Write(record, expected) => write(store, key, &record.bytes(), expected).await,
        // Only segments add, and to a counter.
        Ask::Add(_) => Ok((Reply::Unknown, None)),
    }
}

/// Writes the record of a key, as [`ask`] does.
///
/// # Errors
/// As [`ask`].
pub(crate) async fn write<R>(
    store: &dyn RecordStore,
    key: &str,
    value: &[u8],
    expected: Version,
) -> Result<Replied<R>, Error> {
    match store.write(key, value, expected).await {
        Ok(WriteOutcome::Version(version)) => Ok((Reply::Written(version), None)),
        Ok(WriteOutcome::Conflict) if mutant::removes("version") => Ok((Reply::Written(expected + 1), None)),
        Ok(WriteOutcome::Conflict) => Ok((Reply::Conflict, None)),
        Err(error) => unanswered(error),
    }
}

fn unanswered<R>(error: Error) -> Result<Replied<R>, Error> {
    if error.kind() == ErrorKind::StoreUnavailable { Ok((Reply::Unknown, Some(error))) } else { Err(error) }
}
