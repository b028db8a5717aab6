//! Numbers over a store, for tokio: segments, tickets, sequences, formatted numbers, sections and
//! counters, each by core's machine.

mod counters;
pub(crate) mod definition;
mod formatted;
mod native;
mod pins;
mod sections;
mod segments;
mod sequences;
mod served;
mod source;
mod tickets;

pub use self::counters::Key;
pub use self::formatted::{Formatted, FormattedNumber};
pub use self::native::{NativeNumbers, NativeTarget};
pub use self::sections::{SectionHolder, Sections, SectionsOptions};
pub use self::segments::{LocalNumbers, Segments, SegmentsOptions};
pub use self::sequences::Sequences;
pub use self::tickets::Tickets;

use std::time::Duration;

use snowmint_core::ErrorKind;
pub use snowmint_core::store::MAX_WAIT_MS;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

use crate::error::Error;

/// Returns the runtime that works in the background.
fn runtime() -> Result<Handle, Error> {
    Handle::try_current().map_err(|_| {
        Error::new(
            ErrorKind::StoreUnavailable,
            "numbers are fetched in the background: call this within a runtime of tokio",
        )
    })
}

/// Limits a call to a store to `max_wait_ms`. An abandoned call can be repeated: its values are skipped.
async fn within<T>(store: &str, max_wait_ms: u64, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let deadline = Instant::now() + Duration::from_millis(max_wait_ms);
    timeout_at(deadline, call).await.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::StoreUnavailable, format!("{store}: no answer within {max_wait_ms} ms")))
    })
}
