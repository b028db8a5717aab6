//! The monitoring port of a server, which reports over HTTP what clients of NATS cannot ask.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

/// The most bytes of an answer, which usually has some thousands.
const LONGEST: usize = 1 << 20;

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

/// Reads the monitoring address of a server: `HOST:PORT` with an optional path, without `http://`.
pub(super) fn address(given: &str) -> Result<(String, String), String> {
    let place = given.trim_end_matches('/').strip_prefix("http://");
    let place = place.filter(|place| place.rsplit_once(':').is_some_and(|(host, _)| !host.is_empty()));
    let place = place.ok_or_else(|| format!("monitor={given}: it must be http://HOST:PORT for each server"))?;
    let (host, path) = place.find('/').map_or((place, ""), |slash| place.split_at(slash));
    Ok((host.to_owned(), path.to_owned()))
}

/// Asks a server for its settings. The error says what went wrong.
pub(super) async fn report(host: &str, path: &str) -> Result<Report, String> {
    let stream = TcpStream::connect(host).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let asking = async {
        // `/varz` has the server's name, but keeps the settings of the first request. `/jsz` has the present settings.
        let server: Server = get(&mut sender, host, &format!("{path}/varz")).await?;
        let jetstream: JetStream = get(&mut sender, host, &format!("{path}/jsz")).await?;
        if server.server_id != jetstream.server_id {
            return Err("two servers answer there".to_owned());
        }
        let Config { sync_always, sync_interval } = jetstream.config;
        let time = sync_interval.map(|ns| format!("{:?}", Duration::from_nanos(ns)));
        let sync_interval = if sync_always { Some("always".to_owned()) } else { time };
        Ok(Report { name: server.server_name, sync_interval })
    };
    tokio::select! {
        answer = asking => answer,
        Err(error) = connection => Err(error.to_string()),
    }
}

async fn get<T: DeserializeOwned>(sender: &mut SendRequest<Empty<Bytes>>, host: &str, path: &str) -> Result<T, String> {
    let request = Request::get(path).header(header::HOST, host).body(Empty::new());
    let request = request.map_err(|error| error.to_string())?;
    sender.ready().await.map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
    if !answer.status().is_success() {
        return Err(format!("{path} answers {}", answer.status()));
    }
    let body = Limited::new(answer.into_body(), LONGEST).collect().await.map_err(|error| error.to_string())?;
    serde_json::from_slice(&body.to_bytes()).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_http_with_a_host_and_a_port() {
        assert_eq!(address("http://h1:8222/"), Ok(("h1:8222".into(), String::new())));
        assert_eq!(address("http://[::1]:8222/nats"), Ok(("[::1]:8222".into(), "/nats".into())));
        for wrong in ["h1:8222", "https://h1:8222", "http://h1", "http://:8222", ""] {
            assert!(address(wrong).expect_err(wrong).contains("http://HOST:PORT"), "{wrong}");
        }
    }
}
