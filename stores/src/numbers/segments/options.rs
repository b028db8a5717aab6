//! The options of a segment.

use std::time::Duration;

use snowmint_core::host::whole_ms;

use crate::numbers::MAX_WAIT_MS;

/// Options of a segment.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// # let store = connect("memory:").await?;
/// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
/// let options = SegmentsOptions::default().max_wait(Duration::from_secs(2));
/// let orders = Segments::open(store, "orders", options).await?;
/// assert_eq!(orders.next().await?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentsOptions {
    /// The longest wait of a call while memory is empty, in ms: 1000.
    pub max_wait_ms: u64,
}

impl Default for SegmentsOptions {
    fn default() -> Self {
        Self { max_wait_ms: MAX_WAIT_MS }
    }
}

impl SegmentsOptions {
    /// Sets the longest wait of a call while memory is empty.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint_stores::SegmentsOptions;
    /// let options = SegmentsOptions::default().max_wait(Duration::from_secs(2));
    /// assert_eq!(options.max_wait_ms, 2000);
    /// ```
    #[must_use]
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait_ms = whole_ms(max_wait);
        self
    }
}
