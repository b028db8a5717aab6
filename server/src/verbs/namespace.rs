//! `snowmint namespace`: lists, makes and removes namespaces.

use serde::Serialize;
use snowmint_core::Layout;
use snowmint_core::shown::Shown;
use snowmint_stores::host::{Leases, Namespace};

use super::operate::with_store;
use crate::arguments::operate::{NamespaceVerb, Namespaces};
use snowmint_cli::Exit;

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
                let width = found.iter().map(|(namespace, _)| namespace.len()).max().unwrap_or_default();
                for (namespace, layout) in found {
                    let shown = Shown(&namespace).to_string();
                    let text = format!("{shown:<width$}  {}", Shown(&layout));
                    options.place.print(text, &Line { namespace, layout })?;
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
