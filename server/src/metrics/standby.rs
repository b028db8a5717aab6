//! Whether a failover of the store could lose what it confirms.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use snowmint_stores::Store;

/// Shows what the last look at the store's settings found.
#[derive(Debug)]
pub struct Standby(pub Arc<dyn Store>);

impl Collector for Standby {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "1 while a failover of the store can lose confirmed writes, as to a standby that is not waited for";
        let risk = ConstGauge::new(i64::from(self.0.standby_risk().is_some()));
        risk.encode(encoder.encode_descriptor("store_standby_risk", help, None, MetricType::Gauge)?)
    }
}
