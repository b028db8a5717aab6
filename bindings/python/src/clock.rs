//! The identity of a caller's clock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefMethods, PyWeakrefReference};
use snowmint::host::ClockId;

/// The clocks that are alive, by their addresses.
type Clocks = HashMap<usize, (ClockId, Py<PyWeakrefReference>)>;

fn clocks() -> MutexGuard<'static, Clocks> {
    static CLOCKS: LazyLock<Mutex<Clocks>> = LazyLock::new(Mutex::default);
    CLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of a clock, which no other clock gets. The states of its generators live as long as the clock.
///
/// # Errors
/// `TypeError`, if the object takes no weak reference.
pub(crate) fn clock_id(clock: &Bound<'_, PyAny>) -> PyResult<ClockId> {
    static NUMBERS: AtomicUsize = AtomicUsize::new(0);
    let (py, address) = (clock.py(), clock.as_ptr().addr());
    let id = ClockId(NUMBERS.fetch_add(1, Ordering::Relaxed));
    let gone = PyCFunction::new_closure(py, None, None, move |_, _| {
        let entry = {
            let mut clocks = clocks();
            let own = clocks.get(&address).is_some_and(|(known, _)| *known == id);
            if own { clocks.remove(&address) } else { None }
        };
        drop(entry);
        snowmint::host::forget_clock(id);
    })?;
    let reference = PyWeakrefReference::new_with(clock, gone).map_err(|_| {
        let kind = clock.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        PyTypeError::new_err(format!("clock is an object of {kind}, which takes no weak reference: pass a function"))
    })?;
    let before = {
        let mut clocks = clocks();
        match clocks.get(&address) {
            Some((known, alive)) if alive.bind(py).upgrade().is_some_and(|same| same.is(clock)) => return Ok(*known),
            _ => clocks.insert(address, (id, reference.unbind())),
        }
    };
    drop(before);
    Ok(id)
}
