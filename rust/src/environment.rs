//! The environment variables of generators.

use std::path::PathBuf;
use std::{env, fmt};

use snowmint_core::Layout;
use snowmint_core::lease::layout_of;
use snowmint_core::place::Variables;
use snowmint_stores::Error;

/// The variables that fill in missing options of a generator.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `SNOWMINT_LAYOUT`: the layout.
    pub layout: Option<String>,
    /// `SNOWMINT_NODE`: the node.
    pub node: Option<String>,
    /// `SNOWMINT_STORE`: the URL of a store to lease from.
    pub store: Option<String>,
    /// `SNOWMINT_NAMESPACE`: the namespace of the lease.
    pub namespace: Option<String>,
    /// `SNOWMINT_STATE_DIR`: the directory of the slots of this machine.
    pub state_dir: Option<PathBuf>,
    /// `SNOWMINT_RESERVE`: for how long a store grants a node to the directory of the slots, such as `24h`.
    pub reserve: Option<String>,
    /// The variables that say where this process runs.
    pub place: Variables,
}

// A password may be in a URL.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("layout", &self.layout)
            .field("node", &self.node)
            .field("store", &self.store.as_deref().map(shown))
            .field("namespace", &self.namespace)
            .field("state_dir", &self.state_dir)
            .field("reserve", &self.reserve)
            .field("place", &self.place)
            .finish()
    }
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        let text = |name| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            layout: text("SNOWMINT_LAYOUT"),
            node: text("SNOWMINT_NODE"),
            store: text("SNOWMINT_STORE"),
            namespace: text("SNOWMINT_NAMESPACE"),
            reserve: text("SNOWMINT_RESERVE"),
            state_dir: env::var_os("SNOWMINT_STATE_DIR").map(PathBuf::from),
            place: Variables::read(|name| env::var_os(name).is_some_and(|value| !value.is_empty())),
        }
    }

    /// Returns the layout of a generator: `given`, otherwise the layout in `SNOWMINT_LAYOUT`, otherwise the default.
    ///
    /// # Errors
    /// `InvalidLayout`, if the variable names no layout.
    pub fn layout(&self, given: Option<Layout>) -> Result<Layout, Error> {
        let variable = self.layout.as_deref();
        layout_of(given, variable).map_err(|error| {
            Error::new(error.kind(), format!("SNOWMINT_LAYOUT is {:?}: {error}", variable.unwrap_or_default()))
        })
    }
}

/// Returns the part of a URL that may be shown, without a password.
pub(crate) fn shown(url: &str) -> &str {
    match url.split_once(':') {
        Some((scheme, _)) if scheme != "file" => scheme,
        _ => url,
    }
}
