//! Clock and waiting for core.

use pyo3::prelude::*;
use snowmint_core::{Error, Host, SystemHost};

use crate::convert;
use crate::error::Failure;
use crate::parking;
use crate::reference::Reference;
use crate::stop;

/// The host of one call, on the system's clock or the caller's. While it waits, other threads run; see [`stop`].
pub(crate) struct PyHost<'a, 'py> {
    py: Python<'py>,
    clock: Option<&'a Reference>,
    system: SystemHost,
}

impl<'a, 'py> PyHost<'a, 'py> {
    pub(crate) fn new(py: Python<'py>, clock: Option<&'a Reference>) -> Self {
        Self { py, clock, system: SystemHost::new() }
    }
}

impl Host for PyHost<'_, '_> {
    type Error = Failure;

    #[inline]
    fn now_ms(&mut self) -> Result<i64, Failure> {
        match self.clock {
            None => Ok(SystemHost::unix_ms()),
            Some(clock) => read(self.py, clock),
        }
    }

    fn pause(&mut self, ms: u64) -> Result<(), Failure> {
        stop::pause(self.py, &mut self.system, ms)
    }

    fn paused_ms(&mut self) -> u64 {
        self.system.paused_ms()
    }
}

/// The host of a call that reads and writes files, detached from the interpreter so that other threads run.
pub(crate) struct DetachedHost<'a> {
    clock: Option<&'a Reference>,
    system: SystemHost,
}

impl<'a> DetachedHost<'a> {
    pub(crate) fn new(clock: Option<&'a Reference>) -> Self {
        Self { clock, system: SystemHost::new() }
    }
}

impl Host for DetachedHost<'_> {
    type Error = Failure;

    fn now_ms(&mut self) -> Result<i64, Failure> {
        match self.clock {
            None => Ok(SystemHost::unix_ms()),
            Some(clock) => parking::reattach(|py| read(py, clock)),
        }
    }

    fn pause(&mut self, ms: u64) -> Result<(), Failure> {
        parking::reattach(|py| stop::pause(py, &mut self.system, ms))
    }

    fn paused_ms(&mut self) -> u64 {
        self.system.paused_ms()
    }
}

/// Reads a caller's clock. An object that the collector has cleared has let it go.
pub(crate) fn read(py: Python<'_>, clock: &Reference) -> Result<i64, Failure> {
    let clock = clock.get(py).ok_or_else(Error::closed)?;
    Ok(convert::reading(&clock.call0()?)?)
}
