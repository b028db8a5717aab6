//! The options of an allocator.

use std::num::NonZeroU32;
use std::time::Duration;

use snowmint_core::host::whole_ms;
use snowmint_core::section::{MAX_SECTIONS, MEMORY_BYTES, SIZE, STEP, WINDOW_MS};

use crate::numbers::MAX_WAIT_MS;

/// Options of an allocator.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use snowmint_core::Integer;
/// use snowmint_stores::{Sections, SectionsOptions, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let options = SectionsOptions::default().window(Duration::from_secs(10)).label("node-1:7070");
/// let messages = Sections::new(connect("memory:").await?, "messages", options)?;
/// assert_eq!(messages.next(Integer::from(7u64)).await?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionsOptions {
    /// How many users share a record, at most 1,000,000: 100,000. The store pins the size of a set's first allocator, and
    /// refuses another size.
    pub size: NonZeroU32,
    /// The amount by which `max_seq` rises: 10,000.
    pub step: u64,
    /// How long the section of a crashed allocator stays unavailable, in ms, at least 1000: 30,000.
    pub window_ms: u64,
    /// The longest wait of a call, in ms: 1000.
    pub max_wait_ms: u64,
    /// The most sections at the same time: 10,000. A section without requests makes room for a new section.
    pub max_sections: usize,
    /// The most bytes of memory for the users, at least 1 MiB: 64 MiB. A section takes about 4 kB, and a user 4 to 21 bytes.
    /// Sections without requests make room for other sections. If all have requests, the section with the most memory
    /// forgets its users, whose next numbers are then up to `step` higher.
    pub memory_bytes: u64,
    /// The name of this allocator for people and clients, such as its address. By default program, process and host.
    pub label: Option<String>,
}

impl Default for SectionsOptions {
    fn default() -> Self {
        Self {
            size: SIZE,
            step: STEP,
            window_ms: WINDOW_MS,
            max_wait_ms: MAX_WAIT_MS,
            max_sections: usize::try_from(MAX_SECTIONS).unwrap_or(usize::MAX),
            memory_bytes: MEMORY_BYTES,
            label: None,
        }
    }
}

impl SectionsOptions {
    /// Sets the number of users that share a record.
    ///
    /// # Examples
    /// ```
    /// use std::num::NonZeroU32;
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().size(NonZeroU32::MIN);
    /// assert_eq!(options.size.get(), 1);
    /// ```
    #[must_use]
    pub const fn size(mut self, size: NonZeroU32) -> Self {
        self.size = size;
        self
    }

    /// Sets the amount by which `max_seq` rises.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().step(500);
    /// assert_eq!(options.step, 500);
    /// ```
    #[must_use]
    pub const fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    /// Sets how long the section of a crashed allocator stays unavailable.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().window(Duration::from_secs(10));
    /// assert_eq!(options.window_ms, 10_000);
    /// ```
    #[must_use]
    pub fn window(mut self, window: Duration) -> Self {
        self.window_ms = whole_ms(window);
        self
    }

    /// Sets the longest wait of a call.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().max_wait(Duration::from_secs(2));
    /// assert_eq!(options.max_wait_ms, 2000);
    /// ```
    #[must_use]
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait_ms = whole_ms(max_wait);
        self
    }

    /// Sets the most sections at the same time.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().max_sections(100);
    /// assert_eq!(options.max_sections, 100);
    /// ```
    #[must_use]
    pub const fn max_sections(mut self, max_sections: usize) -> Self {
        self.max_sections = max_sections;
        self
    }

    /// Sets the most bytes of memory for the users.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().memory_bytes(1 << 20);
    /// assert_eq!(options.memory_bytes, 1 << 20);
    /// ```
    #[must_use]
    pub const fn memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// Sets the name of this allocator for people and clients.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::SectionsOptions;
    /// let options = SectionsOptions::default().label("node-1:7070");
    /// assert_eq!(options.label.as_deref(), Some("node-1:7070"));
    /// ```
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}
