//! What to lease.

use snowmint_core::{Layout, Options, layouts};
use snowmint_stores::{Config, OnLost};

/// What to lease; by default a slot of this machine for the default layout.
///
/// # Examples
/// ```
/// use snowmint::{Lease, layouts};
/// let orders = Lease { layout: layouts::TWITTER, namespace: Some("orders".into()), ..Lease::default() };
/// ```
#[derive(Clone)]
pub struct Lease {
    /// The layout of the IDs: [`layouts::SNOWMINT`].
    pub layout: Layout,
    /// The URL of the store, `file:DIRECTORY`: `SNOWMINT_STORE`, or else the slots of this machine.
    pub store: Option<String>,
    /// 1 to 64 of `a-z A-Z 0-9 . _ -`: `SNOWMINT_NAMESPACE`, or else one for each layout. It keeps its first layout.
    pub namespace: Option<String>,
    /// How to deal with the clock.
    pub options: Options,
    /// The length of a window in ms, 1000 and four ticks at least and with `max_ahead_ms` an hour at most: 3000 for slots.
    pub window_ms: Option<u64>,
    /// Nodes not to get, such as those of a system that this one replaces.
    pub exclude: Vec<u32>,
    /// Told once if the lease is lost.
    pub on_lost: Option<OnLost>,
}

// A password may be in a URL, which this leaves out.
impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lease({:?} of {})", self.clone().into_config(), self.layout)
    }
}

impl Default for Lease {
    fn default() -> Self {
        Self {
            layout: layouts::SNOWMINT,
            store: None,
            namespace: None,
            options: Options::DEFAULT,
            window_ms: None,
            exclude: Vec::new(),
            on_lost: None,
        }
    }
}

impl Lease {
    pub(crate) fn into_config(self) -> Config {
        let Self { layout: _, store, namespace, options, window_ms, exclude, on_lost } = self;
        let store = store.map(Into::into);
        Config { store, namespace, options, window_ms, exclude, on_lost, ..Config::default() }
    }
}
