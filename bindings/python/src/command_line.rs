//! The command line `snowmint`.

use std::ffi::OsString;

use pyo3::prelude::*;
use snowmint_cli::Host;

use crate::reference::Reference;
use crate::store;

/// Runs the command line, of which the first word is the name of the program. Returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let host = Host { connect: Some(store::connect(&Reference::default())) };
    py.detach(|| snowmint_cli::main(arguments, &host))
}
