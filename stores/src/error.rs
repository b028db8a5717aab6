//! Every way to fail: core's errors, and those that need more words, such as a path and what the system said about it.

use std::fmt;
use std::sync::Arc;

use snowmint_core::ErrorKind;
use snowmint_core::durability::{Accepting, Engine, Finding, Refusal};

/// Why a call was refused: a [kind](ErrorKind), its numbers, and a sentence that says what would be right.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Core(snowmint_core::Error),
    Told(ErrorKind, Arc<str>),
    /// What core says, and the reason for it.
    Explained(snowmint_core::Error, Arc<str>),
}

impl Error {
    /// An error of `kind` with a sentence of its own.
    pub fn told(kind: ErrorKind, sentence: impl Into<Arc<str>>) -> Self {
        Self(Repr::Told(kind, sentence.into()))
    }

    /// Adds the reason to an error of core's. Kind and waiting time stay.
    pub fn explained(error: snowmint_core::Error, why: &Self) -> Self {
        Self(Repr::Explained(error, why.to_string().into()))
    }

    /// `StoreUnavailable`: which store, and what is wrong with it.
    pub fn unavailable(store: &str, why: impl fmt::Display) -> Self {
        Self::told(ErrorKind::StoreUnavailable, format!("{store}: {why}"))
    }

    /// `UnsafeStore`: which store, what was found that a crash can lose writes by, and the cure.
    pub fn unsafe_store(store: &str, found: impl fmt::Display, cure: &str) -> Self {
        Self::found(store, Refusal { found, cure, option: Accepting::URL.lossy })
    }

    /// `UnsafeStore`, if there is a setting of the store's engine under which nothing is granted.
    ///
    /// # Errors
    /// That.
    pub fn refuse_unsafe<'a>(store: &str, engine: Engine, found: impl Fn(&str) -> Option<&'a str>) -> Result<(), Self> {
        engine.refuse(found).map_or(Ok(()), |finding| Err(Self::setting(store, &finding)))
    }

    /// `UnsafeStore`, if there is a setting of the store's engine by which a failover can lose confirmed writes: claims
    /// refuse it, renewals and fetches report it.
    pub fn standby_risk<'a>(store: &str, engine: Engine, found: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        engine.standby_risk(found).map(|finding| Self::setting(store, &finding))
    }

    fn setting(store: &str, finding: &Finding<'_>) -> Self {
        Self::found(store, finding.refusal(&Accepting::URL))
    }

    fn found(store: &str, refusal: impl fmt::Display) -> Self {
        Self::told(ErrorKind::UnsafeStore, format!("{store}: {refusal}"))
    }

    /// What kind of failure this is.
    pub const fn kind(&self) -> ErrorKind {
        match &self.0 {
            Repr::Core(error) | Repr::Explained(error, _) => error.kind(),
            Repr::Told(kind, _) => *kind,
        }
    }

    /// The code of the kind, such as `"NODES_EXHAUSTED"`.
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// How long it would take in ms for the same call to have a chance; `None` if waiting does not help.
    pub const fn wait_ms(&self) -> Option<u64> {
        match &self.0 {
            Repr::Core(error) | Repr::Explained(error, _) => error.wait_ms(),
            Repr::Told(..) => None,
        }
    }

    /// For [`ErrorKind::Exhausted`]: in how many ms the same call has a chance, 1 or more.
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() == ErrorKind::Exhausted)
    }

    /// For [`ErrorKind::ClockBackwards`]: how many ms the clock lies behind the last ID.
    pub fn by_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() == ErrorKind::ClockBackwards)
    }
}

impl From<snowmint_core::Error> for Error {
    #[inline]
    fn from(error: snowmint_core::Error) -> Self {
        Self(Repr::Core(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Core(error) => error.fmt(f),
            Repr::Told(_, sentence) => f.write_str(sentence),
            Repr::Explained(error, why) => write!(f, "{error}: {why}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.code())
    }
}

impl std::error::Error for Error {}
