//! `snowmint doctor`: examines what a generator would do here.

use std::collections::BTreeMap;

use serde::Serialize;
use snowmint::LeaseOptions;
use snowmint::host::Environment;
use snowmint::host::doctor::{Facts, Finding, Level, examine};
use snowmint_core::Layout;

use super::output;
use crate::arguments;
use crate::exit::Exit;
use crate::program::Host;

/// Prints the findings, and fails if one of them is an error.
pub fn doctor(options: &arguments::Doctor, host: &Host) -> Result<u8, Exit> {
    let layout = Layout::find(&options.layout)?;
    let lease = LeaseOptions::new()
        .layout(layout)
        .given(options.node.as_ref().map(|node| layout.parse_nodes(node)).transpose()?, LeaseOptions::nodes)
        .given(options.store.as_ref(), LeaseOptions::store)
        .given(options.namespace.as_ref(), LeaseOptions::namespace)
        .given(host.connect.clone(), LeaseOptions::connect);
    let findings = examine(lease, &Environment::of_process());
    for finding in &findings {
        if options.json {
            output::print_json(&Line::of(finding))?;
        } else {
            output::print(&text(finding, output::is_bold()))?;
        }
    }
    Ok(findings.iter().any(|finding| finding.level == Level::Error).into())
}

/// Returns a line: level, topic and message.
fn text(Finding { level, topic, message, .. }: &Finding, bold: bool) -> String {
    let is_bold = bold && *level == Level::Error;
    let (begin, end) = if is_bold { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    format!("{begin}{:<7}{end}  {topic:<10}  {message}\n", level.name())
}

/// A finding for JSON.
#[derive(Serialize)]
struct Line<'a> {
    level: &'static str,
    topic: &'static str,
    message: &'a str,
    #[serde(flatten)]
    numbers: Numbers<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Numbers<'a> {
    None {},
    Vouched { node: u32 },
    Skew { skew_ms: Option<i64> },
    Settings { settings: BTreeMap<&'a str, &'a str> },
    Nodes { node: Option<u32>, nodes: u64, free: u64, held: u64 },
}

impl<'a> Line<'a> {
    fn of(finding: &'a Finding) -> Self {
        let numbers = match &finding.facts {
            Facts::Vouched(node) => Numbers::Vouched { node: *node },
            Facts::Skew(skew_ms) => Numbers::Skew { skew_ms: *skew_ms },
            Facts::Settings(settings) => {
                let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                Numbers::Settings { settings: settings.collect() }
            }
            &Facts::Nodes { node, nodes, free, held } => Numbers::Nodes { node, nodes, free, held },
            _ => Numbers::None {},
        };
        Self { level: finding.level.name(), topic: finding.topic, message: &finding.message, numbers }
    }
}
