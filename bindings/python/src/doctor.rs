//! Examines the place of a generator, for `python -m snowmint doctor`.

use pyo3::prelude::*;
use snowmint::{Environment, LeaseOptions, LeaseStore, doctor};
use snowmint_inspect::render::Format;

use crate::convert::{self, Text};
use crate::error::Failure;
use crate::layout::Layout;
use crate::reference::Reference;
use crate::store;

/// Examines what a generator would do here. Returns the findings as text, and whether nothing must be mended.
#[pyfunction]
#[pyo3(signature = (layout, node, store, namespace, json, bold))]
pub(crate) fn examine(
    py: Python<'_>,
    layout: Option<&Bound<'_, PyAny>>,
    node: Option<&Bound<'_, PyAny>>,
    store: Option<Text>,
    namespace: Option<Text>,
    json: bool,
    bold: bool,
) -> Result<(String, bool), Failure> {
    let layout = Layout::of_generator(layout)?;
    let mut options = LeaseOptions::new().layout(layout);
    options.node = node.map(|node| convert::node(&layout, node)).transpose()?;
    options.store = store.map(|url| LeaseStore::Url(url.into_string()));
    options.connect = Some(store::connect(&Reference::default()));
    options.namespace = namespace.map(Text::into_string);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let examine = || doctor::examine(options, &Environment::of_process(), &mut text, Format::of(json, bold));
    let is_well = py.detach(examine).unwrap_or_default();
    Ok((text, is_well))
}
