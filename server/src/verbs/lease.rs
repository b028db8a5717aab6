//! `snowmint lease`: who has which node, and giving back what nobody does.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use serde::Serialize;
use snowmint_core::lease::Record;
use snowmint_core::{SystemHost, time};
use snowmint_stores::Leases;

use super::operate::with_store;
use crate::arguments::operate::{Lease, LeaseVerb};
use crate::exit::Exit;
use crate::json;

/// An end so far beyond the clock is no window of a holder whose clock is right, in ms.
const FAR_MS: i64 = 60 * 60 * 1000;

#[derive(Serialize)]
struct Line {
    namespace: String,
    node: u32,
    state: &'static str,
    start: i64,
    end: i64,
    label: String,
}

impl Line {
    fn new(namespace: &str, node: u32, record: &Record, now_ms: i64) -> Self {
        let end = record.window.end_ms;
        let state = match (end > now_ms.saturating_add(FAR_MS), record.released, end > now_ms) {
            (true, ..) => "far ahead",
            (_, true, _) => "given back",
            (_, _, true) => "held",
            (_, _, false) => "ended",
        };
        let label = String::from_utf8_lossy(&record.label).trim_end_matches('\0').to_owned();
        Self { namespace: namespace.to_owned(), node, state, start: record.window.start_ms, end, label }
    }

    fn text(&self) -> String {
        let mut until = String::new();
        // Writing to a string cannot fail.
        let _ = time::write_rfc3339(&mut until, self.end);
        let Self { namespace, node, state, label, .. } = self;
        format!("{namespace:<16}  {node:>10}  {state:<10}  {until:<24}  {label}")
    }
}

/// Does what the verb says.
pub fn lease(options: &Lease) -> Result<ExitCode, Exit> {
    with_store(&options.place, async |store| {
        let leases = Leases::new(store);
        let now_ms = SystemHost::unix_ms();
        let lines = match &options.verb {
            LeaseVerb::Ls { namespace } => {
                let mut namespaces: Vec<_> = match namespace {
                    Some(namespace) => vec![namespace.clone()],
                    None => leases.namespaces().await?.into_iter().map(|(name, _)| name).collect(),
                };
                namespaces.sort_unstable();
                let mut lines = Vec::new();
                for namespace in namespaces {
                    let nodes = leases.list(&namespace).await?;
                    lines.extend(nodes.iter().map(|(node, record)| Line::new(&namespace, *node, record, now_ms)));
                }
                lines
            }
            LeaseVerb::Release { namespace, node, until, stopped: _ } => {
                let record = leases.reset(namespace, *node, until.unwrap_or(now_ms)).await?;
                vec![Line::new(namespace, *node, &record, now_ms)]
            }
        };
        let mut out = stdout().lock();
        if !options.place.json {
            writeln!(out, "{:<16}  {:>10}  {:<10}  {:<24}  holder", "namespace", "node", "state", "window ends")?;
        }
        for line in lines {
            if options.place.json {
                json::write_line(&mut out, &line)?;
            } else {
                writeln!(out, "{}", line.text())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
