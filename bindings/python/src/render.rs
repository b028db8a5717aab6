//! The output of the command line.

use pyo3::prelude::*;
use snowmint_inspect::render::{self, Format};

use crate::convert::{Int, Text};
use crate::error::Failure;
use crate::inspect::Candidate;
use crate::layout::Layout;

/// Returns a table of layouts or a picture of each one, as the command line prints them.
#[pyfunction]
pub(crate) fn render_layouts(layouts: Vec<PyRef<'_, Layout>>, pictures: bool, json: bool, bold: bool) -> String {
    let layouts: Vec<_> = layouts.into_iter().map(|layout| layout.0).collect();
    let format = Format::of(json, bold);
    written(|out| if pictures { render::pictures(out, &layouts, format) } else { render::table(out, &layouts, format) })
}

/// Returns the parts of an ID on one line, as the command line prints them.
#[pyfunction]
pub(crate) fn render_decoded(id: Int, layout: &Layout, json: bool) -> Result<String, Failure> {
    let decoded = render::Decoded::new(id.0, &layout.0)?;
    Ok(written(|out| decoded.write(out, Format::of(json, false))))
}

/// Returns a value and its candidates, as the command line prints them.
#[pyfunction]
pub(crate) fn render_candidates(value: Text, found: Vec<PyRef<'_, Candidate>>, json: bool, bold: bool) -> String {
    let found: Vec<_> = found.into_iter().map(|candidate| candidate.0).collect();
    written(|out| render::candidates(out, &value.into_string(), &found, Format::of(json, bold)))
}

fn written(write: impl FnOnce(&mut String) -> core::fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text);
    text
}
