//! The process that owns a value: a forked child is another process than its parent.

use std::ptr;

#[cfg(feature = "numbers")]
use snowmint_core::mutant;

use super::fork::PerProcess;
use crate::error::Error;

/// The identity of a process. A child of `fork` or of a raw `clone` has a different identity.
#[derive(Debug, Default)]
pub struct Owner {
    // Owners differ by their addresses, so each takes room.
    _room: u8,
}

static THIS: PerProcess<Owner> = PerProcess::new();

impl Owner {
    /// Returns the identity of this process.
    #[inline]
    pub fn this() -> &'static Self {
        THIS.get()
    }

    /// Returns whether this process is the owner.
    #[inline]
    pub fn is_this_process(&self) -> bool {
        THIS.existing().is_some_and(|this| ptr::eq(this, self))
    }

    /// Refuses calls in a forked child.
    ///
    /// # Errors
    /// `Forked`, if this process is not the owner.
    pub fn refuse_child(&self) -> Result<(), Error> {
        if self.is_this_process() { Ok(()) } else { Err(snowmint_core::Error::forked().into()) }
    }

    /// Refuses to share a connection or fetched numbers with a forked child.
    ///
    /// # Errors
    /// `Forked`, if this process is not the owner.
    #[cfg(feature = "numbers")]
    pub(crate) fn refuse_sharing(&self) -> Result<(), Error> {
        if self.is_this_process() || mutant::removes("forked") { Ok(()) } else { Err(forked()) }
    }
}

/// Returns the error for a connection or fetched numbers of the parent.
#[cfg(feature = "numbers")]
pub(crate) fn forked() -> Error {
    Error::new(
        snowmint_core::ErrorKind::Forked,
        "this process was forked: connections and fetched numbers belong to its parent; connect and open again here",
    )
}
