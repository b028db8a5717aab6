//! Core's machines at work over stores, for tokio.

pub(crate) mod definition;
mod keys;
mod native;
mod pins;
mod sections;
mod segments;
mod sequences;
mod tickets;

pub use self::keys::Key;
pub use self::native::NativeNumbers;
pub use self::sections::{SectionHolder, Sections, SectionsOptions};
pub use self::segments::{LocalNumbers, Segments, SegmentsOptions};
pub use self::sequences::Sequences;
pub use self::tickets::Tickets;

use std::sync::{Mutex, MutexGuard, PoisonError};

use snowmint_core::ErrorKind;
use tokio::runtime::Handle;

use crate::error::Error;
use crate::process::fork::{Cell, Fetched};

/// How long a call waits for a store, unless told otherwise, in ms.
pub const MAX_WAIT_MS: u64 = 1000;

/// Tells whether this is still the process that something belongs to.
#[derive(Debug)]
pub(crate) struct Owner(Cell<Fetched>);

impl Owner {
    pub(crate) fn this_process() -> Self {
        let cell = Cell::new();
        Fetched::of_this_process(&cell);
        Self(cell)
    }

    /// `Forked` in a child: connections, tasks and numbers are its parent's.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.0.get().is_of_parent() { Err(forked()) } else { Ok(()) }
    }
}

fn forked() -> Error {
    Error::told(
        ErrorKind::Forked,
        "this process was forked: what was fetched, and the connection, are its parent's; connect and open anew here",
    )
}

/// The runtime that works in the background.
fn runtime() -> Result<Handle, Error> {
    Handle::try_current().map_err(|_| {
        Error::told(
            ErrorKind::StoreUnavailable,
            "numbers are fetched in the background: call this within a runtime of tokio",
        )
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
