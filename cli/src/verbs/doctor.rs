//! `snowmint doctor`: examines what a generator would do here.

use std::io::{Write as _, stdout};

use snowmint::{Environment, LeaseOptions, LeaseStore, doctor};
use snowmint_core::Layout;

use super::output;
use crate::arguments;
use crate::exit::Exit;
use crate::program::Host;

/// Prints the findings, and fails if something must be mended.
pub fn doctor(options: &arguments::Doctor, host: &Host) -> Result<u8, Exit> {
    let layout = Layout::find(&options.layout)?;
    let mut lease = LeaseOptions::new().layout(layout);
    lease.node = options.node.as_ref().map(|node| layout.parse_node(node)).transpose()?;
    lease.store = options.store.clone().map(LeaseStore::Url);
    lease.namespace.clone_from(&options.namespace);
    lease.connect.clone_from(&host.connect);
    let mut text = String::new();
    let format = output::format(options.json);
    let is_well =
        doctor::examine(lease, &Environment::of_process(), &mut text, format).map_err(std::io::Error::other)?;
    stdout().lock().write_all(text.as_bytes())?;
    Ok(u8::from(!is_well))
}
