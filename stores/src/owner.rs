//! The process that a connection, a task or numbers in memory belong to.

use snowmint_core::ErrorKind;

use crate::error::Error;
use crate::process::fork::{Cell, Fetched};

/// Tells a process from its forked children.
#[derive(Debug)]
pub(crate) struct Owner(Cell<Fetched>);

impl Owner {
    /// The process that calls this.
    pub(crate) fn this_process() -> Self {
        let cell = Cell::new();
        Fetched::of_this_process(&cell);
        Self(cell)
    }

    /// `Forked` in a child, as connections, tasks and numbers belong to its parent.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.0.get().is_of_parent() { Err(forked()) } else { Ok(()) }
    }
}

/// `Forked`: the caller is a child of the owner.
pub(crate) fn forked() -> Error {
    Error::told(
        ErrorKind::Forked,
        "this process was forked: connections and fetched numbers belong to its parent; connect and open again here",
    )
}
