//! Clock and waiting for core, and the states of the process.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use pyo3::prelude::*;
use snowmint_core::{Host, Layout, Registry, SystemHost, Words};

use crate::convert;
use crate::error::Failure;

/// The host of one call: the system's clock or the caller's; a wait lets other threads run and heeds signals.
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
            Some(clock) => Ok(convert::reading(&clock.bind(self.py).call0()?)?),
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

/// The states of a clock. A caller's clock is kept, so that no other object gets its address.
type OfClock = (Option<Py<PyAny>>, Registry);

/// The one state of `node` under `layout` for this clock, by its address; 0 is the system's.
pub(crate) fn words(clock: Option<&Bound<'_, PyAny>>, layout: &Layout, node: u32) -> &'static Words {
    static CLOCKS: LazyLock<Mutex<HashMap<usize, OfClock>>> = LazyLock::new(Mutex::default);
    let address = clock.map_or(0, |clock| clock.as_ptr().addr());
    let mut clocks = CLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let of_clock =
        clocks.entry(address).or_insert_with(|| (clock.map(|clock| clock.clone().unbind()), Registry::new()));
    of_clock.1.words(layout, node)
}
