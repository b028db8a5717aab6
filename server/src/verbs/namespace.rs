//! `snowmint namespace`: lists, makes and removes namespaces.

use std::io::{Write as _, stdout};

use serde::Serialize;
use snowmint_core::Layout;
use snowmint_core::shown::Shown;
use snowmint_stores::host::{Leases, Namespace};

use super::operate::with_store;
use crate::arguments::operate::{NamespaceVerb, Namespaces};
use snowmint_cli::Exit;
use snowmint_cli::json;

#[derive(Serialize)]
struct Line {
    namespace: String,
    layout: String,
}

/// Lists namespaces, makes one, or removes one.
pub fn namespace(options: &Namespaces) -> Result<u8, Exit> {
    with_store(&options.place, async |store| {
        let leases = Leases::new(store);
        match &options.verb {
            NamespaceVerb::Ls => {
                let mut found = leases.namespaces().await?;
                found.sort_unstable();
                let mut out = stdout().lock();
                let width = found.iter().map(|(namespace, _)| namespace.len()).max().unwrap_or_default();
                for (namespace, layout) in found {
                    if options.place.json {
                        json::write_line(&mut out, &Line { namespace, layout })?;
                    } else {
                        let namespace = Shown(namespace).to_string();
                        writeln!(out, "{namespace:<width$}  {}", Shown(layout))?;
                    }
                }
            }
            NamespaceVerb::Create { namespace, layout } => {
                let layout = Layout::find(layout)?;
                let namespace =
                    namespace.as_deref().map_or_else(|| Ok(Namespace::of_layout(&layout)), Namespace::parse)?;
                if !leases.make(&namespace, &layout).await? {
                    return Err(Exit::Failed(format!("the namespace {namespace} exists already and is unchanged")));
                }
            }
            NamespaceVerb::Rm { namespace } => leases.remove(&Namespace::parse(namespace)?).await?,
        }
        Ok(0)
    })
}
