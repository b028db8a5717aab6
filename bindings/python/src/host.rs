//! Clock and waiting for core.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use pyo3::prelude::*;
use snowmint::ClockId;
use snowmint_core::{Host, SystemHost};

use crate::convert;
use crate::error::Failure;

/// The host of one call, on the system's clock or the caller's. While it waits, other threads run and Python handles
/// signals.
pub(crate) struct PyHost<'a, 'py> {
    py: Python<'py>,
    clock: Option<&'a Py<PyAny>>,
    system: SystemHost,
}

impl<'a, 'py> PyHost<'a, 'py> {
    pub(crate) fn new(py: Python<'py>, clock: Option<&'a Py<PyAny>>) -> Self {
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
        let system = &mut self.system;
        self.py.detach(|| system.pause(ms))?;
        Ok(self.py.check_signals()?)
    }

    fn paused_ms(&mut self) -> u64 {
        self.system.paused_ms()
    }
}

/// The host of a call that reads and writes files, detached from the interpreter so that other threads run.
pub(crate) struct DetachedHost<'a> {
    clock: Option<&'a Py<PyAny>>,
    system: SystemHost,
}

impl<'a> DetachedHost<'a> {
    pub(crate) fn new(clock: Option<&'a Py<PyAny>>) -> Self {
        Self { clock, system: SystemHost::new() }
    }
}

impl Host for DetachedHost<'_> {
    type Error = Failure;

    fn now_ms(&mut self) -> Result<i64, Failure> {
        match self.clock {
            None => Ok(SystemHost::unix_ms()),
            Some(clock) => Python::attach(|py| read(py, clock)),
        }
    }

    fn pause(&mut self, ms: u64) -> Result<(), Failure> {
        self.system.pause(ms)?;
        let heed = |py: Python<'_>| py.check_signals();
        Ok(Python::attach(heed)?)
    }

    fn paused_ms(&mut self) -> u64 {
        self.system.paused_ms()
    }
}

fn read(py: Python<'_>, clock: &Py<PyAny>) -> Result<i64, Failure> {
    Ok(convert::reading(&clock.bind(py).call0()?)?)
}

/// Returns the identity of a caller's clock: its address. The clock is kept forever, so that no other object gets its
/// address.
pub(crate) fn clock_id(clock: Option<&Bound<'_, PyAny>>) -> Option<ClockId> {
    static CLOCKS: LazyLock<Mutex<HashMap<usize, Py<PyAny>>>> = LazyLock::new(Mutex::default);
    let clock = clock?;
    let address = clock.as_ptr().addr();
    let mut clocks = CLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    clocks.entry(address).or_insert_with(|| clock.clone().unbind());
    Some(ClockId(address))
}
