//! Metrics of a service's leases, open names and namespaces, read at each scrape.

use std::fmt;
use std::sync::{Arc, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use snowmint::Status;
use snowmint_core::Window;
use snowmint_stores::RecordStore as _;

use crate::metrics::Lease;
use crate::service::{Nodes, Service};

/// Reads a service until it is dropped.
#[derive(Debug)]
pub struct Gauges(Weak<Service>);

impl Gauges {
    pub fn of(service: &Arc<Service>) -> Self {
        Self(Arc::downgrade(service))
    }
}

impl Collector for Gauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(service) = self.0.upgrade() else { return Ok(()) };
        let help = "Open names by kind";
        let mut names = encoder.encode_descriptor("names", help, None, MetricType::Gauge)?;
        for (kind, count) in service.names() {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            ConstGauge::new(count).encode(names.encode_family(&[("kind", kind)])?)?;
        }
        let leases = service.ids.leases();
        let help = "End of the window of each lease of this server, Unix time";
        ends(&mut encoder, "lease_window_end", help, &leases, |status| status.window)?;
        let help = "End of the reservation of each lease of this server that has one, Unix time";
        ends(&mut encoder, "lease_reserved_end", help, &leases, |status| status.reserved)?;
        let help = "IDs given out, by namespace; * for those beyond 100 namespaces";
        let mut ids = encoder.encode_descriptor("ids", help, None, MetricType::Counter)?;
        for (namespace, count) in service.ids.minted() {
            ConstCounter::new(count).encode(ids.encode_family(&[("namespace", namespace)])?)?;
        }
        let help =
            "Nodes by namespace and state at the scrape before, of the 100 namespaces with the fewest free nodes";
        let mut nodes = encoder.encode_descriptor("nodes", help, None, MetricType::Gauge)?;
        if let Some(seen) = service.tally.seen() {
            for (namespace, Nodes { held, free }) in &seen.nodes {
                for (state, count) in [("held", held), ("free", free)] {
                    let labels = [("namespace", namespace.as_str()), ("state", state)];
                    let count = i64::try_from(*count).unwrap_or(i64::MAX);
                    ConstGauge::new(count).encode(nodes.encode_family(&labels)?)?;
                }
            }
        }
        let help = "1 while a failover of the store can lose confirmed writes, such as one to an asynchronous standby";
        let risk = ConstGauge::new(i64::from(service.store.standby_risk().is_some()));
        risk.encode(encoder.encode_descriptor("store_standby_risk", help, None, MetricType::Gauge)?)
    }
}

/// Encodes the end of a window of each lease.
fn ends(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    leases: &[Status],
    window: impl Fn(&Status) -> Option<Window>,
) -> fmt::Result {
    let mut ends = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Gauge)?;
    for status in leases {
        let (Some(window), Some(namespace)) = (window(status), status.namespace.clone()) else { continue };
        #[allow(clippy::cast_precision_loss, reason = "ms of some thousand years are exact")]
        let seconds = window.end_ms as f64 / 1000.0;
        ConstGauge::new(seconds).encode(ends.encode_family(&Lease { namespace, node: status.node })?)?;
    }
    Ok(())
}
