//! Every way to fail: core's errors, and errors with a longer message, such as a path and the system's reason.

use std::fmt;
use std::sync::Arc;

use snowmint_core::ErrorKind;
use snowmint_core::durability::{Accepting, Engine, Finding, Refusal};
use snowmint_core::shown::{Shown, is_hidden};

/// The reason for a refused call: a [kind](ErrorKind), its numbers, and a message that says what would be right.
///
/// Two errors are equal if they have the same kind and message. [`source`](std::error::Error::source) is the error of the
/// driver, if one caused it.
///
/// # Examples
/// ```
/// use snowmint_core::ErrorKind;
/// use snowmint_stores::Error;
/// let error = Error::unavailable("Redis at cache:6379", "no answer within 5000 ms");
/// assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
/// assert_eq!(error.code(), "STORE_UNAVAILABLE");
/// assert_eq!(error.to_string(), "Redis at cache:6379: no answer within 5000 ms");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Core(snowmint_core::Error),
    Message(Arc<Message>),
    /// What core says, and the reason for it.
    Explained(snowmint_core::Error, Arc<Error>),
}

struct Message {
    kind: ErrorKind,
    text: Box<str>,
    retry_after_ms: Option<u64>,
    source: Option<Box<Source>>,
}

type Source = dyn std::error::Error + Send + Sync;

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.text == other.text
    }
}

impl Eq for Message {}

impl Error {
    /// Makes an error of `kind` with this message. Control characters in the message are escaped: holders, servers
    /// and drivers may have written parts of it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_stores::Error;
    /// let error = Error::new(ErrorKind::StoreUnavailable, "the server says:\n\u{1b}[2J");
    /// assert_eq!(error.to_string(), r"the server says:\n\u{1b}[2J");
    /// ```
    pub fn new(kind: ErrorKind, message: impl Into<Box<str>>) -> Self {
        let text = message.into();
        let text = if text.chars().any(is_hidden) { Shown(&*text).to_string().into() } else { text };
        Self(Repr::Message(Arc::new(Message { kind, text, retry_after_ms: None, source: None })))
    }

    /// Adds the ms after which the same call can succeed.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// let error = Error::unavailable("Redis at cache:6379", "it is loading").with_retry_after_ms(250);
    /// assert_eq!(error.retry_after_ms(), Some(250));
    /// ```
    #[must_use]
    pub fn with_retry_after_ms(mut self, ms: u64) -> Self {
        if let Repr::Message(own) = &mut self.0
            && let Some(own) = Arc::get_mut(own)
        {
            own.retry_after_ms = Some(ms);
            return self;
        }
        let (kind, text) = (self.kind(), self.to_string().into());
        Self(Repr::Message(Arc::new(Message { kind, text, retry_after_ms: Some(ms), source: None })))
    }

    /// Adds the error of a driver as the source, if this error has a separate message and no source yet.
    ///
    /// # Examples
    /// ```
    /// use std::error::Error as _;
    /// use snowmint_stores::Error;
    /// let error = Error::unavailable("files in /srv/ids", "cannot write").with_source(std::io::Error::other("disk full"));
    /// assert_eq!(error.source().expect("a source").to_string(), "disk full");
    /// ```
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        if let Repr::Message(own) = &mut self.0
            && let Some(own) = Arc::get_mut(own)
        {
            own.source.get_or_insert_with(|| Box::new(source));
        }
        self
    }

    /// Returns the error without the error of a driver.
    ///
    /// # Examples
    /// ```
    /// use std::error::Error as _;
    /// use snowmint_stores::Error;
    /// let error = Error::of_driver("files in /srv/ids", std::io::Error::other("disk full"));
    /// assert!(error.without_source().source().is_none());
    /// ```
    #[must_use]
    pub fn without_source(self) -> Self {
        match &self.0 {
            Repr::Message(own) if own.source.is_some() => {
                let Message { kind, text, retry_after_ms, .. } = &**own;
                let (kind, text, retry_after_ms) = (*kind, text.clone(), *retry_after_ms);
                Self(Repr::Message(Arc::new(Message { kind, text, retry_after_ms, source: None })))
            }
            _ => self,
        }
    }

    /// Makes a `StoreUnavailable` of an error of the store's driver.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// let error = Error::of_driver("files in /srv/ids", std::io::Error::other("disk full"));
    /// assert_eq!(error.to_string(), "files in /srv/ids: disk full");
    /// ```
    pub fn of_driver(store: &str, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::unavailable(store, &error).with_source(error)
    }

    /// Adds the reason to an error of core's. Kind and waiting time stay.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_stores::Error;
    /// let why = Error::unavailable("Redis at cache:6379", "no answer within 5000 ms");
    /// let error = Error::explained(snowmint_core::Error::closed(), &why);
    /// assert_eq!(error.kind(), ErrorKind::WindowClosed);
    /// assert!(error.to_string().ends_with("Redis at cache:6379: no answer within 5000 ms"));
    /// ```
    pub fn explained(error: snowmint_core::Error, why: &Self) -> Self {
        Self(Repr::Explained(error, Arc::new(why.clone())))
    }

    /// Makes a `StoreUnavailable` error. `store` names the store, and `why` is the reason.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// let error = Error::unavailable("Redis at cache:6379", "no answer within 5000 ms");
    /// assert_eq!(error.code(), "STORE_UNAVAILABLE");
    /// ```
    pub fn unavailable(store: &str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::StoreUnavailable, format!("{store}: {why}"))
    }

    /// Makes an `InvalidStore` error. `store` names the store, and `why` says what is wrong in its configuration.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// let error = Error::invalid_store("Redis at cache:6379", "wrong password");
    /// assert_eq!(error.code(), "INVALID_STORE");
    /// assert_eq!(error.to_string(), "Redis at cache:6379: wrong password");
    /// ```
    pub fn invalid_store(store: &str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidStore, format!("{store}: {why}"))
    }

    /// Makes an `UnsafeStore` error. `found` is the reason why a crash can lose writes, and `cure` the remedy.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// let error = Error::unsafe_store("our store", "its log is off", "turn the log on");
    /// assert_eq!(error.code(), "UNSAFE_STORE");
    /// assert!(error.to_string().starts_with("our store: its log is off"));
    /// ```
    pub fn unsafe_store(store: &str, found: impl fmt::Display, cure: &str) -> Self {
        Self::found(store, Refusal { found, cure, option: Accepting::URL.lossy })
    }

    /// Refuses a store if a setting shows that its server can lose confirmed writes, or does not take writes.
    ///
    /// # Errors
    /// `UnsafeStore`; `StoreUnavailable` for a server that is shutting down.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// use snowmint_stores::Error;
    /// let off = |setting: &str| (setting == "fsync").then_some("off");
    /// let error = Error::refuse_unsafe("PostgreSQL at db:5432", Engine::Postgres, off).expect_err("a crash loses writes");
    /// assert_eq!(error.code(), "UNSAFE_STORE");
    /// ```
    pub fn refuse_unsafe<'a>(store: &str, engine: Engine, found: impl Fn(&str) -> Option<&'a str>) -> Result<(), Self> {
        engine.refuse(found).map_or(Ok(()), |finding| Err(Self::setting(store, &finding)))
    }

    /// `UnsafeStore`, if there is a setting of the store's engine by which a failover can lose confirmed writes: claims
    /// refuse it, renewals and fetches report it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// use snowmint_stores::Error;
    /// let standby = |setting: &str| (setting == "asynchronous_standby").then_some("standby1");
    /// let risk = Error::standby_risk("PostgreSQL at db:5432", Engine::Postgres, standby).expect("a standby");
    /// assert_eq!(risk.code(), "UNSAFE_STORE");
    /// ```
    pub fn standby_risk<'a>(store: &str, engine: Engine, found: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        engine.standby_risk(found).map(|finding| Self::setting(store, &finding))
    }

    fn setting(store: &str, finding: &Finding<'_>) -> Self {
        Self::new(finding.kind().error_kind(), format!("{store}: {}", finding.refusal(&Accepting::URL)))
    }

    fn found(store: &str, refusal: impl fmt::Display) -> Self {
        Self::new(ErrorKind::UnsafeStore, format!("{store}: {refusal}"))
    }

    /// What kind of failure this is.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_stores::Error;
    /// assert_eq!(Error::from(snowmint_core::Error::forked()).kind(), ErrorKind::Forked);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Repr::Core(error) | Repr::Explained(error, _) => error.kind(),
            Repr::Message(own) => own.kind,
        }
    }

    /// The code of the kind, such as `"NODES_EXHAUSTED"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// assert_eq!(Error::from(snowmint_core::Error::forked()).code(), "FORKED");
    /// ```
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// How long it would take in ms for the same call to have a chance; `None` if waiting does not help.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// assert_eq!(Error::from(snowmint_core::Error::numbers_dry(50)).wait_ms(), Some(50));
    /// assert_eq!(Error::from(snowmint_core::Error::closed()).wait_ms(), None);
    /// ```
    pub fn wait_ms(&self) -> Option<u64> {
        match &self.0 {
            Repr::Core(error) | Repr::Explained(error, _) => error.wait_ms(),
            Repr::Message(own) => own.retry_after_ms,
        }
    }

    /// For [`ErrorKind::Exhausted`], and for [`ErrorKind::NodesExhausted`] if it is known: the ms after which the same call
    /// can succeed, 1 or more.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Error;
    /// assert_eq!(Error::from(snowmint_core::Error::numbers_dry(50)).retry_after_ms(), Some(50));
    /// ```
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() != ErrorKind::ClockBackwards)
    }

    /// For [`ErrorKind::ClockBackwards`]: how many ms the clock lies behind the last ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_stores::Error;
    /// let error = Error::new(ErrorKind::ClockBackwards, "the clock went back").with_retry_after_ms(7);
    /// assert_eq!(error.by_ms(), Some(7));
    /// ```
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
            Repr::Message(own) => f.write_str(&own.text),
            Repr::Explained(error, why) => write!(f, "{error}: {why}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.code())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Repr::Core(_) => None,
            Repr::Message(own) => own.source.as_deref().map(|source| source as _),
            Repr::Explained(_, why) => Some(&**why),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io;

    use super::*;

    #[test]
    fn the_source_is_the_drivers_error() {
        let error = Error::of_driver("files in /srv/ids", io::Error::other("the disk is gone"));
        assert_eq!(error.to_string(), "files in /srv/ids: the disk is gone");
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>()).expect("a source");
        assert_eq!(source.to_string(), "the disk is gone");
        assert_eq!(error, Error::unavailable("files in /srv/ids", "the disk is gone"), "the source does not count");
        let explained = Error::explained(snowmint_core::Error::closed(), &error);
        let sources = std::iter::successors(explained.source(), |error| (*error).source());
        assert_eq!(sources.count(), 2, "the reason, and the driver's error");
    }
}
