//! Logs and counts failed renewals of leases.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::sleep;

use crate::metrics::{Lease, Metrics};
use crate::service::Service;

/// Watches the leases of a service until it is dropped. Call this within a tokio runtime.
pub fn watch(service: &Arc<Service>, metrics: &Arc<Metrics>) {
    // A renewal is due within half a window.
    let pause = Duration::from_millis((service.settings.window_ms / 8).clamp(50, 1000));
    let (service, metrics) = (Arc::downgrade(service), Arc::clone(metrics));
    drop(tokio::spawn(async move {
        let mut seen = HashMap::new();
        while let Some(now) = look(&service, &metrics, &seen) {
            seen = now;
            sleep(pause).await;
        }
    }));
}

/// Returns how many renewals of each lease have failed since the last success, or `None` once the service is dropped.
fn look(service: &Weak<Service>, metrics: &Metrics, seen: &HashMap<Lease, u64>) -> Option<HashMap<Lease, u64>> {
    let mut now = HashMap::new();
    for status in service.upgrade()?.ids.leases() {
        let Some(namespace) = status.namespace else { continue };
        let lease = Lease { namespace, node: status.node };
        let (before, failures) = (seen.get(&lease).copied().unwrap_or(0), status.renewal_failures);
        let counter = metrics.renewal_failures.get_or_create_owned(&lease);
        counter.inc_by(failures.saturating_sub(before));
        let window_end_ms = status.window.map(|window| window.end_ms);
        let Lease { namespace, node } = &lease;
        if failures > before && before == 0 {
            tracing::warn!(namespace, node, window_end_ms, "a window was not renewed");
        } else if failures == 0 && before > 0 {
            tracing::info!(namespace, node, window_end_ms, "windows are renewed again");
        }
        now.insert(lease, failures);
    }
    Some(now)
}
