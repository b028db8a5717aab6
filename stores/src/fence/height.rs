//! The height of a fence.

use std::time::Duration;

use snowmint_core::host::whole_ms;

/// The height of a fence.
///
/// # Examples
/// ```
/// use snowmint_stores::fence::Fence;
/// let fence = Fence::skipping(1_000_000).tickets(["photos"]);
/// assert_eq!((fence.skip, fence.until_ms), (1_000_000, None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fence {
    /// The latest possible time of an ID of any holder, Unix ms. `None` takes the latest time that a holder can have reached.
    pub until_ms: Option<i64>,
    /// The upper limit of `window_ms` plus `max_ahead_ms` of all holders, in ms. `None` takes the longest window that snowmint
    /// allows, an hour, or the longest reservation that a namespace notes.
    pub reach_ms: Option<u64>,
    /// The newest end of a window of a slot in the same directory, Unix ms. `None` without slots.
    pub slots_end_ms: Option<i64>,
    /// Accepts a store without any record.
    pub accepts_empty: bool,
    /// The most numbers that any counter gave beyond its value in the store.
    pub skip: u64,
    /// Names of tickets that the store does not list: older versions did not pin their places.
    pub tickets: Vec<String>,
    /// Sets of users that the store does not list: older versions did not pin their sizes.
    pub sets: Vec<String>,
}

impl Fence {
    /// Skips that many numbers of each counter, and lets the records decide the time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::fence::Fence;
    /// assert_eq!(Fence::skipping(1_000_000).skip, 1_000_000);
    /// ```
    pub const fn skipping(skip: u64) -> Self {
        Self {
            until_ms: None,
            reach_ms: None,
            slots_end_ms: None,
            accepts_empty: false,
            skip,
            tickets: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Sets the latest possible time of an ID of any holder, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::fence::Fence;
    /// let fence = Fence::skipping(1000).until_ms(1_700_000_000_000);
    /// assert_eq!(fence.until_ms, Some(1_700_000_000_000));
    /// ```
    #[must_use]
    pub fn until_ms(mut self, until_ms: impl Into<Option<i64>>) -> Self {
        self.until_ms = until_ms.into();
        self
    }

    /// Sets the upper limit of `window` plus `max_ahead` of all holders.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_stores::fence::Fence;
    /// let fence = Fence::skipping(1000).reach(Duration::from_secs(60));
    /// assert_eq!(fence.reach_ms, Some(60_000));
    /// ```
    #[must_use]
    pub fn reach(mut self, reach: Duration) -> Self {
        self.reach_ms = Some(whole_ms(reach));
        self
    }

    /// Sets the newest end of a window of a slot in the same directory, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::fence::Fence;
    /// let fence = Fence::skipping(1000).slots_end_ms(1_700_000_000_000);
    /// assert_eq!(fence.slots_end_ms, Some(1_700_000_000_000));
    /// ```
    #[must_use]
    pub fn slots_end_ms(mut self, slots_end_ms: impl Into<Option<i64>>) -> Self {
        self.slots_end_ms = slots_end_ms.into();
        self
    }

    /// Sets whether a store without any record is accepted.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::fence::Fence;
    /// assert!(!Fence::skipping(1000).accepts_empty);
    /// assert!(Fence::skipping(1000).accepts_empty(true).accepts_empty);
    /// ```
    #[must_use]
    pub const fn accepts_empty(mut self, accepts_empty: bool) -> Self {
        self.accepts_empty = accepts_empty;
        self
    }

    /// Adds names of tickets that the store does not list.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::fence::Fence;
    /// let fence = Fence::skipping(1000).tickets(["photos"]);
    /// assert_eq!(fence.tickets, ["photos"]);
    /// ```
    #[must_use]
    pub fn tickets(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tickets.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds sets of users that the store does not list.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::fence::Fence;
    /// let fence = Fence::skipping(1000).sets(["messages"]);
    /// assert_eq!(fence.sets, ["messages"]);
    /// ```
    #[must_use]
    pub fn sets(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.sets.extend(names.into_iter().map(Into::into));
        self
    }
}
