//! Why a claim gets no node.

use crate::error::Error;

/// The reason why a claim got no node.
#[derive(Debug)]
pub enum Refusal {
    /// All nodes are busy. The first is free in this many ms.
    NotYet(u64, Error),
    /// All nodes are taken, perhaps by other claimers that only look.
    Taken(Error),
    /// Another claim would fail as well.
    Error(Error),
}

impl Refusal {
    /// Returns the error of any reason.
    pub fn into_error(self) -> Error {
        match self {
            Self::NotYet(wait_ms, error) => error.with_retry_after_ms(wait_ms),
            Self::Taken(error) | Self::Error(error) => error,
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
