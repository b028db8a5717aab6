//! The monitoring port of a server, which reports over HTTP what clients of NATS cannot ask.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::task::spawn_blocking;
use ureq::Agent;

/// The limit of an answer in bytes. Answers usually have some thousands.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// The monitoring addresses of the servers, and how long each may take to answer.
pub(super) struct Monitors {
    pub(super) urls: Vec<String>,
    pub(super) timeout: Duration,
}

/// The report of one server.
#[derive(Debug)]
pub(super) struct Report {
    /// The server's name, which is unique in its cluster.
    pub(super) name: String,
    /// `always`, or the time between two syncs. `None` if the server does not report it, as before version 2.10.
    pub(super) sync_interval: Option<String>,
}

#[derive(Deserialize)]
struct Server {
    server_id: String,
    server_name: String,
}

#[derive(Deserialize)]
struct JetStream {
    server_id: String,
    #[serde(default)]
    config: Config,
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    sync_always: bool,
    /// In ns.
    sync_interval: Option<u64>,
}

/// Reads the monitoring address of a server: `http://HOST:PORT` with an optional path.
pub(super) fn address(given: &str) -> Result<String, String> {
    let url = given.trim_end_matches('/');
    let place = url.strip_prefix("http://").map(|place| place.split_once('/').map_or(place, |(host, _)| host));
    if place.is_some_and(|place| place.rsplit_once(':').is_some_and(|(host, _)| !host.is_empty())) {
        return Ok(url.to_owned());
    }
    Err(format!("monitor={given}: it must be http://HOST:PORT for each server"))
}

/// Asks a server for its settings, for at most `timeout`. The error says what went wrong.
pub(super) async fn report(url: String, timeout: Duration) -> Result<Report, String> {
    spawn_blocking(move || ask(&url, timeout)).await.map_err(|error| error.to_string())?
}

fn ask(url: &str, timeout: Duration) -> Result<Report, String> {
    // The servers are in the network of the caller, which no proxy leads to.
    let config = Agent::config_builder().timeout_global(Some(timeout)).proxy(None).max_redirects(0);
    let agent = Agent::new_with_config(config.build());
    // `/varz` has the server's name, but keeps the settings of the first request. `/jsz` has the present settings.
    let server: Server = get(&agent, &format!("{url}/varz"))?;
    let jetstream: JetStream = get(&agent, &format!("{url}/jsz"))?;
    if server.server_id != jetstream.server_id {
        return Err(format!("{url}: two servers answer there"));
    }
    let Config { sync_always, sync_interval } = jetstream.config;
    let time = sync_interval.map(|ns| format!("{:?}", Duration::from_nanos(ns)));
    let sync_interval = if sync_always { Some("always".to_owned()) } else { time };
    Ok(Report { name: server.server_name, sync_interval })
}

fn get<T: DeserializeOwned>(agent: &Agent, url: &str) -> Result<T, String> {
    let answer = agent.get(url).call();
    let read = answer.and_then(|mut answer| answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_json());
    read.map_err(|error| format!("{url}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_http_with_a_host_and_a_port() {
        assert_eq!(address("http://h1:8222/").as_deref(), Ok("http://h1:8222"));
        assert_eq!(address("http://[::1]:8222/nats").as_deref(), Ok("http://[::1]:8222/nats"));
        for wrong in ["h1:8222", "https://h1:8222", "http://h1", "http://h1/:8222", "http://:8222", ""] {
            assert!(address(wrong).expect_err(wrong).contains("http://HOST:PORT"), "{wrong}");
        }
    }
}
