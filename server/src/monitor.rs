//! Metrics and log lines about the leases and names of a running service.

mod gauges;
mod renewals;

use std::sync::Arc;

use self::gauges::Gauges;
pub use self::renewals::watch;
use crate::metrics::Metrics;
use crate::service::Service;

/// Adds gauges of a service to the metrics.
pub fn show(service: &Arc<Service>, metrics: &mut Metrics) {
    metrics.add(Box::new(Gauges::of(service)));
}
