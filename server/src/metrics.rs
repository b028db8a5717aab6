//! What is counted, for Prometheus.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Protocol {
    protocol: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Failure {
    protocol: &'static str,
    code: String,
}

/// One protocol's counts, whose atoms are at hand.
#[derive(Clone, Debug)]
pub struct Counts {
    protocol: &'static str,
    pub requests: Counter,
    pub numbers: Counter,
    pub connections: Gauge,
    pub refused: Counter,
    failures: Family<Failure, Counter>,
}

impl Counts {
    /// One more failure of that code.
    pub fn failed(&self, code: &str) {
        self.failures.get_or_create(&Failure { protocol: self.protocol, code: code.to_owned() }).inc();
    }
}

/// All of it.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub http: Counts,
    pub redis: Counts,
    /// How long requests of HTTP took.
    pub seconds: Histogram,
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("snowmint");
        let requests = Family::<Protocol, Counter>::default();
        let numbers = Family::<Protocol, Counter>::default();
        let connections = Family::<Protocol, Gauge>::default();
        let refused = Family::<Protocol, Counter>::default();
        let failures = Family::<Failure, Counter>::default();
        let seconds = Histogram::new(exponential_buckets(0.000_05, 2.0, 16));
        registry.register("requests", "Requests and commands", requests.clone());
        registry.register("numbers", "IDs and numbers given out", numbers.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register("connections_refused", "Connections beyond the limit", refused.clone());
        registry.register("failures", "Answers that are errors, by their code", failures.clone());
        registry.register("http_request_seconds", "Time to an answer over HTTP", seconds.clone());
        let counts = |protocol: &'static str| {
            let label = Protocol { protocol };
            Counts {
                protocol,
                requests: requests.get_or_create_owned(&label),
                numbers: numbers.get_or_create_owned(&label),
                connections: connections.get_or_create_owned(&label),
                refused: refused.get_or_create_owned(&label),
                failures: failures.clone(),
            }
        };
        Self { http: counts("http"), redis: counts("redis"), seconds, registry }
    }

    /// As `OpenMetrics` text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
