//! Metrics of this process, under the usual names of Prometheus clients.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use snowmint_core::SystemHost;

/// Reads `/proc` on Linux, and only the time of the start elsewhere.
#[derive(Debug)]
pub struct Process {
    started_ms: i64,
}

impl Process {
    /// Notes the time of the start.
    pub fn new() -> Self {
        Self { started_ms: SystemHost::unix_ms() }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut gauge = |name: &str, help: &str, unit: Option<Unit>, value: f64| {
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, unit.as_ref(), gauge.metric_type())?)
        };
        #[allow(clippy::cast_precision_loss, reason = "ms of some thousand years are exact")]
        let started = self.started_ms as f64 / 1000.0;
        gauge("process_start_time", "When the process started, Unix time", Some(Unit::Seconds), started)?;
        let Some(now) = Now::read() else { return Ok(()) };
        gauge("process_resident_memory", "Memory in use", Some(Unit::Bytes), now.resident)?;
        gauge("process_virtual_memory", "Memory that is mapped", Some(Unit::Bytes), now.mapped)?;
        gauge("process_open_fds", "Open files and connections", None, now.open)?;
        gauge("process_max_fds", "The most open files and connections", None, now.most_open)?;
        let used = ConstCounter::new(now.cpu);
        let help = "Processor time of user and system";
        used.encode(encoder.encode_descriptor("process_cpu", help, Some(&Unit::Seconds), used.metric_type())?)
    }
}

/// A reading of the process: memory in bytes, open files, processor time in seconds.
struct Now {
    resident: f64,
    mapped: f64,
    open: f64,
    most_open: f64,
    cpu: f64,
}

impl Now {
    #[cfg(target_os = "linux")]
    #[allow(clippy::cast_precision_loss, reason = "metrics are floats")]
    fn read() -> Option<Self> {
        use rustix::process::{Resource, getrlimit};
        use rustix::time::{ClockId, clock_gettime};
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0)
        };
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Some(Self {
            resident: bytes("VmRSS:")?,
            mapped: bytes("VmSize:")?,
            // The listing itself opens a file.
            open: std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as f64,
            most_open: getrlimit(Resource::Nofile).current.map_or(f64::INFINITY, |most| most as f64),
            cpu: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn read() -> Option<Self> {
        None
    }
}
