//! The process that a connection, a task or numbers in memory belong to.

use snowmint_core::ErrorKind;

use crate::error::Error;
use crate::fork::{Cell, Fetched};

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

pub(crate) fn forked() -> Error {
    Error::told(
        ErrorKind::Forked,
        "this process was forked: what was fetched, and the connection, are its parent's; connect and open anew here",
    )
}
