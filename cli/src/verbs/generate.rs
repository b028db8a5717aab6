//! `snowmint gen`: mints IDs, one per line, and shows on the terminal how many of a large count it has minted.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;
use serde::Serialize;
use snowmint::LeaseOptions;
use snowmint::host::{Environment, ProcessGenerator, SystemHost};
use snowmint_core::prefix::PrefixedText;
use snowmint_core::{IdText, Layout, TextForm};

use super::output::Output;
use super::progress::progress;
use crate::arguments;
use crate::exit::{Exit, complain};
use crate::json;
use crate::program::Host;

/// How many IDs one write takes at most.
const MAX_BATCH_IDS: u64 = 4096;
/// How many IDs take a while, although the layout has more per second.
const PROGRESS_IDS: u64 = 200_000;

/// Mints IDs and writes them to standard output.
pub fn generate(options: &arguments::Gen, host: &Host) -> Result<u8, Exit> {
    let layout = Layout::find(&options.layout)?;
    let nodes = options.node.as_ref().map(|node| layout.parse_nodes(node)).transpose()?;

    let lease = LeaseOptions::new()
        .layout(layout)
        .given(nodes, LeaseOptions::nodes)
        .given(options.store.as_ref(), LeaseOptions::store)
        .given(options.namespace.as_ref(), LeaseOptions::namespace)
        .given(host.connect.clone(), LeaseOptions::connect)
        .max_wait(Duration::from_millis(options.max_wait_ms));
    // Listens before the lease is taken: an interrupt then releases the lease.
    let interrupted = interrupt()?;
    let generator = ProcessGenerator::open(lease, &Environment::of_process(), &mut SystemHost::new())?;
    if let Some(warning) = generator.warning() {
        complain(warning);
    }
    // A batch of a quarter second ends well before its deadline.
    let batch_ids = MAX_BATCH_IDS.min(layout.ids_per_second() / 4).max(1);
    // IDs on the same terminal show the progress themselves.
    let is_long = options.count >= PROGRESS_IDS.min(layout.ids_per_second()) && !stdout().is_terminal();
    let template = "[{bar:24}] {human_pos} of {human_len} IDs, {eta} left";
    let bar = if is_long { progress(Some(options.count), template) } else { ProgressBar::hidden() };
    let (mut out, mut lines, mut left) = (Output::new(), Vec::new(), options.count);
    while left > 0 {
        let count = left.min(batch_ids);
        lines.clear();
        let mut failed = Ok(());
        generator.take(&mut SystemHost::new(), usize::try_from(count).unwrap_or(usize::MAX), |run| {
            for id in run {
                failed = std::mem::replace(&mut failed, Ok(())).and(line(&mut lines, id, options));
            }
        })?;
        failed?;
        out.write_all(&lines)?;
        out.flush()?;
        left -= count;
        bar.inc(count);
        if interrupted.load(Ordering::Relaxed) {
            generator.close();
            return Err(Exit::Interrupted);
        }
    }
    Ok(0)
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

fn line(out: &mut Vec<u8>, id: u64, options: &arguments::Gen) -> Result<(), Exit> {
    let text = options.format.map(|form: TextForm| form.encode(id));
    let prefixed = options.prefix.map(|prefix| prefix.encode(id));
    let text = text.as_ref().map(IdText::as_str).or(prefixed.as_ref().map(PrefixedText::as_str));
    match (options.json, text) {
        (true, text) => json::write_line(out, &Line { id: id.to_string(), text })?,
        (false, Some(text)) => writeln!(out, "{text}")?,
        (false, None) => writeln!(out, "{id}")?,
    }
    Ok(())
}

/// Returns a flag that becomes true when the user interrupts, or a service manager asks the program to end.
fn interrupt() -> Result<Arc<AtomicBool>, Exit> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // In place of the host's handler: Node's would end the process with its lease.
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).map_err(|error| Exit::Failed(error.to_string()))?;
    Ok(interrupted)
}
