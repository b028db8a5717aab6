//! Errors: a kind, a code that is the same in every language, and a message with numbers.

pub(crate) mod message;
mod reason;

use core::fmt;

pub use self::reason::What;

/// The kind of an error.
///
/// [`ErrorKind::code`] is the same upper-case word in Rust, Python, JavaScript, HTTP and on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// All IDs that the clock allows so far are used up; more are free after [`Error::retry_after_ms`].
    Exhausted,
    /// The clock is more than `max_ahead_ms` behind the last ID: [`Error::by_ms`] behind it.
    ClockBackwards,
    /// The generator was closed, or its window has ended.
    WindowClosed,
    /// The time is after the layout's last tick.
    TimeOverflow,
    /// The time is before the layout's epoch.
    BeforeEpoch,
    /// A layout text or a combination of fields breaks a rule, or the preset is unknown.
    InvalidLayout,
    /// A node or node field does not fit the layout.
    InvalidNode,
    /// The layout cannot have minted an ID, or an ID with this part.
    InvalidId,
    /// The text form of an ID is malformed.
    InvalidText,
    /// Every node of the namespace is taken.
    NodesExhausted,
    /// The store does not answer, or cannot be used at the moment.
    StoreUnavailable,
    /// The configuration of the store is wrong: its URL, driver, database, user or permission is wrong. Waiting does
    /// not help.
    InvalidStore,
    /// The store's settings would let acknowledged writes vanish.
    UnsafeStore,
    /// The process was forked, and this generator belongs to the parent.
    Forked,
}

impl ErrorKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 14] = [
        Self::Exhausted,
        Self::ClockBackwards,
        Self::WindowClosed,
        Self::TimeOverflow,
        Self::BeforeEpoch,
        Self::InvalidLayout,
        Self::InvalidNode,
        Self::InvalidId,
        Self::InvalidText,
        Self::NodesExhausted,
        Self::StoreUnavailable,
        Self::InvalidStore,
        Self::UnsafeStore,
        Self::Forked,
    ];

    /// Returns the code of this kind in every language, such as `"CLOCK_BACKWARDS"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// assert_eq!(ErrorKind::ClockBackwards.code(), "CLOCK_BACKWARDS");
    /// ```
    pub const fn code(self) -> &'static str {
        match self {
            Self::Exhausted => "EXHAUSTED",
            Self::ClockBackwards => "CLOCK_BACKWARDS",
            Self::WindowClosed => "WINDOW_CLOSED",
            Self::TimeOverflow => "TIME_OVERFLOW",
            Self::BeforeEpoch => "BEFORE_EPOCH",
            Self::InvalidLayout => "INVALID_LAYOUT",
            Self::InvalidNode => "INVALID_NODE",
            Self::InvalidId => "INVALID_ID",
            Self::InvalidText => "INVALID_TEXT",
            Self::NodesExhausted => "NODES_EXHAUSTED",
            Self::StoreUnavailable => "STORE_UNAVAILABLE",
            Self::InvalidStore => "INVALID_STORE",
            Self::UnsafeStore => "UNSAFE_STORE",
            Self::Forked => "FORKED",
        }
    }
}

/// Why a call was refused: a [kind](ErrorKind), numbers, and a message that says what to do.
///
/// # Examples
/// ```
/// use snowmint_core::{ErrorKind, Integer, layouts::TWITTER};
/// let error = TWITTER.node(Integer::from(1024)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidNode);
/// assert_eq!(error.to_string(), "node 1024 does not fit this layout: it takes 0 to 1023");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    what: What,
    /// A text form; or the bits of a field, times 4, plus the sign of the number that was given for it.
    mark: u32,
    numbers: [u64; 2],
}

/// The sign of a number, in the two low bits of a mark. `BEYOND` marks a number beyond 64 bits.
pub(crate) const PLUS: u32 = 0;
pub(crate) const MINUS: u32 = 1;
pub(crate) const BEYOND: u32 = 2;

impl Error {
    // Out of line: there are dozens of calls, and a call is a fifth of the size of the body.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub const fn new(what: What, mark: u32, a: u64, b: u64) -> Self {
        Self { what, mark, numbers: [a, b] }
    }

    #[doc(hidden)]
    pub const fn plain(what: What) -> Self {
        Self::new(what, 0, 0, 0)
    }

    pub(crate) const fn exhausted(retry_after_ms: u64) -> Self {
        Self::new(What::Exhausted, 0, retry_after_ms, 0)
    }

    /// A batch cannot be complete in time; the same call can succeed after `retry_after_ms`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// let error = Error::batch_exhausted(250);
    /// assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(250)));
    /// ```
    pub const fn batch_exhausted(retry_after_ms: u64) -> Self {
        Self::new(What::BatchExhausted, 0, retry_after_ms, 0)
    }

    pub(crate) const fn clock_backwards(by_ms: u64) -> Self {
        Self::new(What::ClockBackwards, 0, by_ms, 0)
    }

    pub(crate) const fn before_epoch(at_ms: i64, epoch_ms: i64) -> Self {
        Self::new(What::BeforeEpoch, 0, at_ms.cast_unsigned(), epoch_ms.cast_unsigned())
    }

    pub(crate) const fn time_overflow(at_ms: i64, ends_at_ms: i64) -> Self {
        Self::new(What::TimeOverflow, 0, at_ms.cast_unsigned(), ends_at_ms.cast_unsigned())
    }

    pub(crate) const fn used_up(ends_at_ms: i64) -> Self {
        Self::new(What::UsedUp, 0, ends_at_ms.cast_unsigned(), 0)
    }

    /// A time does not fit the type of this operating system or of the host's language.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// assert_eq!(Error::far_time().kind(), ErrorKind::TimeOverflow);
    /// ```
    pub const fn far_time() -> Self {
        Self::plain(What::FarTime)
    }

    /// Refuses a range of time that ends before it starts.
    pub(crate) const fn refuse_reversed(from_ms: i64, to_ms: i64) -> Result<(), Self> {
        if from_ms > to_ms {
            return Err(Self::new(What::RangeReversed, 0, from_ms.cast_unsigned(), to_ms.cast_unsigned()));
        }
        Ok(())
    }

    /// The 80 random bits of a ULID are used up within a ms.
    pub(crate) const fn ulids_over(retry_after_ms: u64) -> Self {
        Self::new(What::UlidsOver, 0, retry_after_ms, 0)
    }

    /// An ID of `wanted` bytes was given with `given` bytes.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// assert_eq!(Error::id_bytes(16, 15).kind(), ErrorKind::InvalidId);
    /// ```
    pub const fn id_bytes(wanted: usize, given: usize) -> Self {
        Self::new(What::IdBytes, 0, wanted as u64, given as u64)
    }

    /// Numbers are being fetched, or can be fetched again after `retry_after_ms`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// let error = Error::numbers_dry(100);
    /// assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(100)));
    /// ```
    pub const fn numbers_dry(retry_after_ms: u64) -> Self {
        Self::new(What::NumbersDry, 0, retry_after_ms, 0)
    }

    /// Makes the error of a request whose numbers do not fit in memory now.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// let error = Error::no_memory(100_000);
    /// assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(1000)));
    /// ```
    pub const fn no_memory(count: u64) -> Self {
        Self::new(What::NoMemory, 0, 1000, count)
    }

    /// Returns whether a section has no memory for another user.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Error;
    /// assert!(!Error::closed().is_users_full());
    /// ```
    pub const fn is_users_full(&self) -> bool {
        matches!(self.what, What::UsersFull)
    }

    /// The bytes of a store are not a record.
    pub const fn no_record() -> Self {
        Self::plain(What::NoRecord)
    }

    /// Returns whether a later version of this crate wrote the record. The records beside it cannot be trusted either.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::bytes::Format;
    /// let newer: [u8; 16] = Format::new(b"examples", 2).write().finish();
    /// let error = Format::new(b"examples", 1).read::<16>(&newer).unwrap_err();
    /// assert!(error.is_later_version());
    /// ```
    pub const fn is_later_version(&self) -> bool {
        matches!(self.what, What::LaterRecord)
    }

    /// A generator was used after it was closed.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// assert_eq!(Error::closed().kind(), ErrorKind::WindowClosed);
    /// ```
    pub const fn closed() -> Self {
        Self::plain(What::Closed)
    }

    /// A vouched generator or a lease was used in a forked child.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// assert_eq!(Error::forked().kind(), ErrorKind::Forked);
    /// ```
    pub const fn forked() -> Self {
        Self::plain(What::Forked)
    }

    /// The window is used up and not renewed yet. A renewal can come at any moment.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Error, ErrorKind};
    /// assert_eq!(Error::window_over().kind(), ErrorKind::WindowClosed);
    /// ```
    pub const fn window_over() -> Self {
        Self::new(What::WindowOver, 0, 1, 0)
    }

    /// Returns the kind of failure.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Layout};
    /// let error = Layout::parse("node:10").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidLayout);
    /// ```
    pub const fn kind(&self) -> ErrorKind {
        self.what.kind()
    }

    /// Returns the code of the kind, such as `"CLOCK_BACKWARDS"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// assert_eq!(Layout::preset("myspace").unwrap_err().code(), "INVALID_LAYOUT");
    /// ```
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Returns the ms, 1 or more, after which the same call can succeed, for [`ErrorKind::Exhausted`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Layout, Snowflake};
    /// let layout = Layout::parse("time:41,node:1;epoch=0;tick=10ms")?; // one ID per tick
    /// let generator = Snowflake::new(&layout, Integer::from(0))?;
    /// generator.try_next_id(1000)?;
    /// let error = generator.try_next_id(1003).unwrap_err();
    /// assert_eq!((error.code(), error.retry_after_ms()), ("EXHAUSTED", Some(7)));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() == ErrorKind::Exhausted)
    }

    /// Returns how many ms the clock is behind the last ID, for [`ErrorKind::ClockBackwards`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(0))?;
    /// generator.try_next_id(1_772_323_200_123)?;
    /// let error = generator.try_next_id(1_772_323_200_100).unwrap_err();
    /// assert_eq!((error.code(), error.by_ms()), ("CLOCK_BACKWARDS", Some(23)));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn by_ms(&self) -> Option<u64> {
        self.wait_ms().filter(|_| self.kind() == ErrorKind::ClockBackwards)
    }

    /// Returns the ms after which the same call can succeed; `None` if waiting does not help.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Error;
    /// assert_eq!(Error::window_over().wait_ms(), Some(1));
    /// assert_eq!(Error::closed().wait_ms(), None);
    /// ```
    pub const fn wait_ms(&self) -> Option<u64> {
        match self.what {
            What::Exhausted
            | What::BatchExhausted
            | What::ClockBackwards
            | What::WindowOver
            | What::NumbersDry
            | What::NoMemory
            | What::UsersFull
            | What::UlidsOver => Some(self.numbers[0]),
            _ => None,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.code())
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_kinds_have_the_same_code() {
        for (i, kind) in ErrorKind::ALL.iter().enumerate() {
            assert!(ErrorKind::ALL[..i].iter().all(|other| other.code() != kind.code()));
        }
    }
}
