//! The callback of a lost lease.

use std::fmt;
use std::sync::Arc;

use snowmint_stores::Error;

/// A callback for the loss of a lease. It is called once, on a separate thread, with the reason.
#[derive(Clone)]
pub struct OnLost(Arc<dyn Fn(&Error) + Send + Sync>);

impl OnLost {
    /// Calls `callback` when the lease is lost.
    pub fn new(callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self(Arc::new(callback))
    }

    pub(crate) fn call(&self, error: &Error) {
        (self.0)(error);
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OnLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLost")
    }
}
