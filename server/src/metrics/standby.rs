//! A gauge that shows whether a failover of the store could lose confirmed writes.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use snowmint_stores::Store;

/// Shows the result of the last check of the store's settings.
#[derive(Debug)]
pub struct Standby(pub Arc<dyn Store>);

impl Collector for Standby {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "1 while a failover of the store can lose confirmed writes, such as one to an asynchronous standby";
        let risk = ConstGauge::new(i64::from(self.0.standby_risk().is_some()));
        risk.encode(encoder.encode_descriptor("store_standby_risk", help, None, MetricType::Gauge)?)
    }
}
