//! Numbers over a store, for tokio: segments, tickets, sequences, sections and counters, each by core's machine.

mod counters;
pub(crate) mod definition;
mod native;
mod pins;
mod sections;
mod segments;
mod sequences;
mod source;
mod tickets;

pub use self::counters::Key;
pub use self::native::NativeNumbers;
pub use self::sections::{SectionHolder, Sections, SectionsOptions};
pub use self::segments::{LocalNumbers, Segments, SegmentsOptions};
pub use self::sequences::Sequences;
pub use self::tickets::Tickets;

use std::time::Duration;

use snowmint_core::ErrorKind;
use tokio::runtime::Handle;

use crate::error::Error;

/// The default time that a call waits for a store, in ms.
pub const MAX_WAIT_MS: u64 = 1000;

/// Returns a time in ms, at most 2^64-1.
pub(crate) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the runtime that works in the background.
fn runtime() -> Result<Handle, Error> {
    Handle::try_current().map_err(|_| {
        Error::new(
            ErrorKind::StoreUnavailable,
            "numbers are fetched in the background: call this within a runtime of tokio",
        )
    })
}
