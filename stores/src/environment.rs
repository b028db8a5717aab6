//! What the environment says about nodes.

use std::path::PathBuf;
use std::{env, fmt};

use snowmint_core::place::CONTAINER_VARIABLE;

use crate::plan::shown;

/// The variables that decide which node a generator gets where the caller does not.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `SNOWMINT_NODE`: a node that no other generator has.
    pub node: Option<String>,
    /// `SNOWMINT_STORE`: the URL of a store to lease from.
    pub store: Option<String>,
    /// `SNOWMINT_NAMESPACE`: the namespace there.
    pub namespace: Option<String>,
    /// `SNOWMINT_STATE_DIR`: where the slots of this machine lie.
    pub state_dir: Option<PathBuf>,
    /// Whether this is a pod of Kubernetes: `KUBERNETES_SERVICE_HOST`.
    pub kubernetes: bool,
    /// Whether an engine of containers says that this is one: the variable `container`, unless it is empty.
    pub container: bool,
}

// A password may be in a URL.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("node", &self.node)
            .field("store", &self.store.as_deref().map(shown))
            .field("namespace", &self.namespace)
            .field("state_dir", &self.state_dir)
            .field("kubernetes", &self.kubernetes)
            .field("container", &self.container)
            .finish()
    }
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        let text = |name| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            node: text("SNOWMINT_NODE"),
            store: text("SNOWMINT_STORE"),
            namespace: text("SNOWMINT_NAMESPACE"),
            state_dir: env::var_os("SNOWMINT_STATE_DIR").map(PathBuf::from),
            kubernetes: env::var_os("KUBERNETES_SERVICE_HOST").is_some(),
            container: env::var_os(CONTAINER_VARIABLE).is_some_and(|value| !value.is_empty()),
        }
    }
}
