//! Parts that the clients of several engines share: addresses, TLS, connections that come back after an outage.

#[cfg(any(feature = "redis", feature = "etcd", feature = "zookeeper", feature = "nats"))]
pub(super) mod address;
#[cfg(any(feature = "redis", feature = "etcd", feature = "zookeeper", feature = "nats", feature = "sql"))]
pub(super) mod backoff;
#[cfg(any(feature = "redis", feature = "etcd", feature = "zookeeper", feature = "nats"))]
pub(super) mod reconnect;
#[cfg(any(feature = "redis", feature = "nats"))]
pub(super) mod tls;
