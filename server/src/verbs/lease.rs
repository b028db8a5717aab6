//! `snowmint lease`: lists nodes with their holders, counts free ones, and releases the nodes of stopped holders. A directory
//! has slots, and may have the records of a service beside them.

use std::collections::BTreeMap;
use std::io::{self, Write, stdout};

use serde::Serialize;
use snowmint::{SlotState, Slots};
use snowmint_core::lease::{NodeState, Record};
use snowmint_core::shown::Shown;
use snowmint_core::time::Rfc3339;
use snowmint_core::{SystemHost, Window};
use snowmint_stores::connect;
use snowmint_stores::host::{Leases, NamespaceNodes};

use super::operate::with_url;
use crate::arguments::operate::{Lease, LeaseVerb};
use snowmint_cli::Exit;

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
        let Window { start_ms: start, end_ms: end } = record.window;
        let state = NodeState::of_record(record, now_ms).name();
        Self { namespace: namespace.to_owned(), node, state, start, end, label: record.label_text().to_string() }
    }

    fn of_slot(slot: SlotState, now_ms: i64) -> Self {
        let SlotState { namespace, node, held, record, .. } = slot;
        let state = NodeState::of_slot(record.as_ref(), held, now_ms).name();
        let window = record.map_or(Window { start_ms: 0, end_ms: 0 }, |record| record.window);
        let Window { start_ms: start, end_ms: end } = window;
        let label = record.map_or_else(String::new, |record| record.label_text().to_string());
        Self { namespace, node, state, start, end, label }
    }

    fn text(&self, width: usize) -> String {
        let until = Rfc3339(self.end).to_string();
        let Self { namespace, node, state, label, .. } = self;
        // A store may have a namespace that no version of snowmint wrote.
        let namespace = Shown(namespace).to_string();
        format!("{namespace:<width$}  {node:>10}  {state:<10}  {until:<24}  {label}")
    }
}

/// Returns a namespace, or all of them.
async fn found(leases: &Leases, namespace: Option<&String>) -> Result<BTreeMap<String, NamespaceNodes>, Exit> {
    Ok(match namespace {
        Some(namespace) => BTreeMap::from([(namespace.clone(), leases.namespace(namespace).await?)]),
        None => leases.all().await?,
    })
}

/// Writes how many nodes of each namespace are free.
fn write_counts(out: &mut impl Write, found: &BTreeMap<String, NamespaceNodes>, now_ms: i64) -> io::Result<()> {
    for (namespace, nodes) in found {
        let Some(free) = nodes.free(now_ms) else { continue };
        let namespace = Shown(namespace);
        let held = nodes.held(now_ms);
        writeln!(out, "{namespace}: {held} node{} held, {free} free", if held == 1 { "" } else { "s" })?;
    }
    Ok(())
}

/// Lists leases, or releases a node and shows its record.
pub fn lease(options: &Lease) -> Result<u8, Exit> {
    with_url(&options.place, async |url| {
        let slots = Slots::of_url(url)?;
        let now_ms = SystemHost::unix_ms();
        let mut counted = BTreeMap::new();
        let lines = match &options.verb {
            LeaseVerb::Ls { namespace } => {
                let mut lines = Vec::new();
                // A list of slots must not create a store beside them.
                if slots.as_ref().is_none_or(Slots::are_beside_a_store) {
                    counted = found(&Leases::new(connect(url).await?), namespace.as_ref()).await?;
                    for (namespace, found) in &counted {
                        lines.extend(
                            found.nodes.iter().map(|(node, record)| Line::new(namespace, *node, record, now_ms)),
                        );
                    }
                }
                if let Some(slots) = slots {
                    let slots = slots.list(namespace.as_deref())?;
                    lines.extend(slots.into_iter().map(|slot| Line::of_slot(slot, now_ms)));
                }
                lines
            }
            LeaseVerb::Release { namespace, node, until, stopped: _ } => {
                let end_ms = until.unwrap_or(now_ms);
                if let Some(slots) = slots.filter(|slots| slots.has(namespace) || !slots.are_beside_a_store()) {
                    vec![Line::of_slot(slots.reset(namespace, *node, end_ms)?, now_ms)]
                } else {
                    let record = Leases::new(connect(url).await?).reset(namespace, *node, end_ms).await?;
                    vec![Line::new(namespace, *node, &record, now_ms)]
                }
            }
        };
        let mut out = stdout().lock();
        let title = "namespace";
        let width = lines.iter().map(|line| line.namespace.len()).fold(title.len(), usize::max);
        if !options.place.json {
            writeln!(out, "{title:<width$}  {:>10}  {:<10}  {:<24}  holder", "node", "state", "window ends")?;
        }
        for line in lines {
            options.place.print(line.text(width), &line)?;
        }
        if !options.place.json {
            write_counts(&mut out, &counted, now_ms)?;
        }
        Ok(0)
    })
}
