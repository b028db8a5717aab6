//! Long work without the interpreter's lock: other threads run meanwhile, and Python handles signals.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use snowmint_core::Error;
use snowmint_stores::host::Owner;

use crate::error::Failure;
use crate::parking;

/// How many items are worked on between two looks at signals.
pub(crate) const ITEMS_PER_CHECK: usize = 1 << 14;
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Does work that cannot be divided, on a separate thread. If the handler of a signal raises, the call fails,
/// and the result of the thread is dropped.
pub(crate) fn apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let owner = Owner::this();
    let (sender, receiver) = mpsc::sync_channel(1);
    // The caller may have stopped waiting.
    let started = thread::Builder::new().name("snowmint-work".to_owned()).spawn(move || drop(sender.send(work())));
    started.map_err(PyErr::from)?;
    loop {
        match parking::detach(py, || receiver.recv_timeout(CHECK_INTERVAL)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the thread of this call broke off").into());
            }
        }
        py.check_signals()?;
        if !owner.is_this_process() {
            // A signal's handler forked, and the thread is the parent's.
            return Err(Error::forked().into());
        }
    }
}
