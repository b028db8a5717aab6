//! Why a request gets no number, in the words of every protocol.

use std::fmt;

use snowmint_stores::Error;

/// Why a request gets no number.
#[derive(Debug)]
pub enum Failure {
    /// The store answers, and more requests wait for it than it can serve in time.
    Busy(String),
    /// The client's role does not allow it, or a limit of the service.
    Forbidden(String),
    /// The store does not have the namespace.
    NoNamespace(String),
    Error(Error),
}

impl Failure {
    pub const BUSY: &'static str = "BUSY";
    pub const FORBIDDEN: &'static str = "FORBIDDEN";
    pub const NO_NAMESPACE: &'static str = "NO_NAMESPACE";

    /// Returns one word, the same in every protocol.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Busy(_) => Self::BUSY,
            Self::Forbidden(_) => Self::FORBIDDEN,
            Self::NoNamespace(_) => Self::NO_NAMESPACE,
            Self::Error(error) => error.code(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(why) | Self::Forbidden(why) | Self::NoNamespace(why) => f.write_str(why),
            Self::Error(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<snowmint_core::Error> for Failure {
    fn from(error: snowmint_core::Error) -> Self {
        Self::Error(error.into())
    }
}
