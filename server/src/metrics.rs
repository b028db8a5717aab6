//! Metrics, named by the rules of <https://prometheus.io/docs/practices/naming>.

mod process;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{EncodeLabelSet, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Protocol {
    protocol: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Failure {
    protocol: &'static str,
    code: String,
}

/// The labels of a request. The route is the pattern of the path, so no name from a client becomes a label.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Requests {
    pub method: &'static str,
    pub route: String,
    pub status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StoreFailure {
    operation: &'static str,
    code: &'static str,
}

/// A lease of this server.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Lease {
    pub namespace: String,
    pub node: u32,
}

/// The counts of one protocol.
#[derive(Clone, Debug)]
pub struct Counts {
    pub protocol: &'static str,
    pub requests: Counter,
    pub numbers: Counter,
    pub connections: Gauge,
    pub refused: Counter,
    /// Silent connections that were closed because of the limits.
    pub displaced: Counter,
    failures: Family<Failure, Counter>,
}

impl Counts {
    /// Counts a failure with that code.
    pub fn failed(&self, code: &str) {
        self.failures.get_or_create(&Failure { protocol: self.protocol, code: code.to_owned() }).inc();
    }
}

/// Metrics of the store.
#[derive(Clone, Debug)]
pub struct StoreCounts {
    /// 1 while the store answers, otherwise 0.
    pub up: Gauge,
    errors: Family<StoreFailure, Counter>,
    seconds: Family<Operation, Histogram>,
}

impl StoreCounts {
    /// Counts an error of an operation.
    pub fn failed(&self, operation: &'static str, code: &'static str) {
        self.errors.get_or_create(&StoreFailure { operation, code }).inc();
    }

    /// Records the duration of an operation in seconds, failed ones too.
    pub fn took(&self, operation: &'static str, seconds: f64) {
        self.seconds.get_or_create(&Operation { operation }).observe(seconds);
    }
}

/// All metrics of the server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub http: Counts,
    pub redis: Counts,
    /// Of the port of `--health`; its requests count as HTTP.
    pub health: Counts,
    pub store: StoreCounts,
    /// Durations of HTTP requests in seconds.
    pub seconds: Family<Requests, Histogram>,
    /// Counts of failed renewals.
    pub renewal_failures: Family<Lease, Counter>,
}

fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 4.0, 9))
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(process::Process::new()));
        let ours = registry.sub_registry_with_prefix("snowmint");
        let requests = Family::<Protocol, Counter>::default();
        let numbers = Family::<Protocol, Counter>::default();
        let connections = Family::<Protocol, Gauge>::default();
        let refused = Family::<Protocol, Counter>::default();
        let displaced = Family::<Protocol, Counter>::default();
        let failures = Family::<Failure, Counter>::default();
        let seconds = Family::<Requests, Histogram>::new_with_constructor(buckets);
        let store = StoreCounts {
            up: Gauge::default(),
            errors: Family::default(),
            seconds: Family::new_with_constructor(buckets),
        };
        let renewal_failures = Family::<Lease, Counter>::default();
        ours.register("build", "The version of the server", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        ours.register("requests", "Requests and commands", requests.clone());
        ours.register("numbers", "IDs and numbers given out", numbers.clone());
        ours.register("connections", "Open connections", connections.clone());
        ours.register("connections_refused", "Connections beyond the limit", refused.clone());
        let help = "Silent connections closed because of the limits";
        ours.register("connections_displaced", help, displaced.clone());
        ours.register("failures", "Answers that are errors, by their code", failures.clone());
        let help = "Time to an answer over HTTP, by route and status";
        ours.register_with_unit("http_request_duration", help, Unit::Seconds, seconds.clone());
        ours.register("store_up", "Whether the store answers", store.up.clone());
        ours.register("store_errors", "Operations of the store that failed, by code", store.errors.clone());
        let help = "Time to an answer or an error of the store";
        ours.register_with_unit("store_request_duration", help, Unit::Seconds, store.seconds.clone());
        let help = "Renewals of this server's leases that failed";
        ours.register("lease_renewal_failures", help, renewal_failures.clone());
        let counts = |protocol: &'static str| {
            let label = Protocol { protocol };
            Counts {
                protocol,
                requests: requests.get_or_create_owned(&label),
                numbers: numbers.get_or_create_owned(&label),
                connections: connections.get_or_create_owned(&label),
                refused: refused.get_or_create_owned(&label),
                displaced: displaced.get_or_create_owned(&label),
                failures: failures.clone(),
            }
        };
        let (http, redis, health) = (counts("http"), counts("redis"), counts("health"));
        Self { registry, http, redis, health, store, seconds, renewal_failures }
    }

    /// Adds a collector that is read at each scrape.
    pub fn add(&mut self, collector: Box<dyn Collector>) {
        self.registry.sub_registry_with_prefix("snowmint").register_collector(collector);
    }

    /// Returns all metrics with the media type of their text: `OpenMetrics` if the scraper accepts it, otherwise the older
    /// format of Prometheus.
    pub fn text(&self, accept: &str) -> (&'static str, String) {
        let mut text = String::new();
        let (media_type, encoded) = if accept.contains("application/openmetrics-text") {
            ("application/openmetrics-text; version=1.0.0; charset=utf-8", text::encode(&mut text, &self.registry))
        } else {
            (prometheus_text::CONTENT_TYPE, prometheus_text::encode(&mut text, &self.registry))
        };
        encoded.expect("a string takes any text");
        (media_type, text)
    }
}
