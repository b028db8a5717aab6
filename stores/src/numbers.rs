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
mod source;
mod tickets;

pub use self::counters::Key;
pub use self::formatted::{Formatted, FormattedNumber};
pub use self::native::NativeNumbers;
pub use self::sections::{SectionHolder, Sections, SectionsOptions};
pub use self::segments::{LocalNumbers, Segments, SegmentsOptions};
pub use self::sequences::Sequences;
pub use self::tickets::Tickets;

use snowmint_core::ErrorKind;
pub use snowmint_core::store::MAX_WAIT_MS;
use tokio::runtime::Handle;

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
