//! Gauges of a service's leases, open names and store, read at each scrape.

use std::fmt;
use std::sync::{Arc, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use snowmint_stores::RecordStore as _;

use crate::metrics::Lease;
use crate::service::Service;

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
        let help = "End of the window of each lease of this server, Unix time";
        let gauge = MetricType::Gauge;
        let mut ends = encoder.encode_descriptor("lease_window_end", help, Some(&Unit::Seconds), gauge)?;
        for status in service.ids.leases() {
            let (Some(window), Some(namespace)) = (status.window, status.namespace) else { continue };
            #[allow(clippy::cast_precision_loss, reason = "ms of some thousand years are exact")]
            let seconds = window.end_ms as f64 / 1000.0;
            ConstGauge::new(seconds).encode(ends.encode_family(&Lease { namespace, node: status.node })?)?;
        }
        let help = "1 while a failover of the store can lose confirmed writes, such as one to an asynchronous standby";
        let risk = ConstGauge::new(i64::from(service.store.standby_risk().is_some()));
        risk.encode(encoder.encode_descriptor("store_standby_risk", help, None, MetricType::Gauge)?)
    }
}
