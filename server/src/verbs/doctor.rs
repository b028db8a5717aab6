//! `snowmint doctor`: examines what a generator would do here.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use snowmint::{Environment, LeaseOptions, LeaseStore, doctor};
use snowmint_core::Layout;

use super::output;
use crate::arguments;
use crate::exit::Exit;

/// Prints the findings, and fails if something must be mended.
pub fn doctor(options: &arguments::Doctor) -> Result<ExitCode, Exit> {
    let layout = Layout::find(&options.layout)?;
    let mut lease = LeaseOptions::new().layout(layout);
    lease.node = options.node.as_ref().map(|node| layout.parse_node(node)).transpose()?;
    lease.store = options.store.clone().map(LeaseStore::Url);
    lease.namespace.clone_from(&options.namespace);
    let mut text = String::new();
    let format = output::format(options.json);
    let is_well =
        doctor::examine(lease, &Environment::of_process(), &mut text, format).map_err(std::io::Error::other)?;
    stdout().lock().write_all(text.as_bytes())?;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
