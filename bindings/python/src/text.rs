//! Text forms of an ID.

use pyo3::prelude::*;
use pyo3::types::PyString;
use snowmint_core::TextForm;

use crate::convert::{Int, Text};
use crate::error::Failure;

/// The text of a 64-bit ID.
#[pyfunction]
pub(crate) fn text_encode(py: Python<'_>, id: Int, form: Text) -> Result<Bound<'_, PyString>, Failure> {
    Ok(PyString::new(py, TextForm::write(form, id.0)?.as_str()))
}

/// The ID of a text, unsigned.
#[pyfunction]
pub(crate) fn text_decode(text: Text, form: Text) -> Result<u64, Failure> {
    Ok(TextForm::read(form, text)?)
}

/// The names of the text forms.
#[pyfunction]
pub(crate) fn text_forms() -> Vec<&'static str> {
    TextForm::ALL.iter().map(|form| form.name()).collect()
}
