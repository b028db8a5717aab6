//! What a machine asks for, done by a store.

use snowmint_core::pin::Pin;
use snowmint_core::store::{Ask, Reply};
use snowmint_core::{Error as CoreError, ErrorKind, lease, mutant, section, sequence};

use crate::error::Error;
use crate::store::{Store, Wrote};

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

/// Asks a store. Without an answer the reply is `Unknown`, and the error says why.
///
/// # Errors
/// What asking again does not help with: a record that is none, a store that is not safe.
pub(crate) async fn ask<R: Record>(
    store: &dyn Store,
    key: &str,
    ask: Ask<R>,
) -> Result<(Reply<R>, Option<Error>), Error> {
    let outcome = match ask {
        Ask::Read => store.read(key).await.map(|found| match found {
            None => Ok(Reply::Record(None, 0)),
            Some(found) => R::read(&found.value).map(|record| Reply::Record(Some(record), found.version)),
        }),
        Ask::Write(record, expected) => store.write(key, &record.bytes(), expected).await.map(|wrote| match wrote {
            Wrote::Version(version) => Ok(Reply::Written(version)),
            Wrote::Conflict if mutant::removes("version") => Ok(Reply::Written(expected + 1)),
            Wrote::Conflict => Ok(Reply::Conflict),
        }),
        Ask::Add(amount) => store.add(key, amount, 0).await.map(|sum| Ok(Reply::Sum(sum))),
    };
    match outcome {
        Ok(Ok(reply)) => Ok((reply, None)),
        Ok(Err(error)) => Err(Error::told(error.kind(), format!("{}: {key}: {error}", store.name()))),
        Err(error) if error.kind() == ErrorKind::StoreUnavailable => Ok((Reply::Unknown, Some(error))),
        Err(error) => Err(error),
    }
}
