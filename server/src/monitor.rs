//! Metrics and log lines about the leases and names of a running service.

mod gauges;
mod renewals;

pub use self::gauges::Gauges;
pub use self::renewals::watch;
