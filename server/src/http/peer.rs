//! Other servers of the store, by the addresses that they advertise.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use axum::http::Uri;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// How long another server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long an answer counts, so that a burst of requests makes one connection.
const MAX_ANSWER_AGE: Duration = Duration::from_millis(200);

/// When each server was asked last, and whether it was gone. There are as many as addresses in the store.
static ASKED: LazyLock<Mutex<HashMap<String, (Instant, bool)>>> = LazyLock::new(Mutex::default);

/// Returns whether nothing listens at the address of another server, as after a crash. Returns `false` if this server cannot
/// resolve the address, or gets no answer: clients may reach it.
pub async fn is_gone(address: &str) -> bool {
    let asked = || ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let fresh = asked().get(address).filter(|(at, _)| at.elapsed() < MAX_ANSWER_AGE).map(|(_, gone)| *gone);
    if let Some(gone) = fresh {
        return gone;
    }
    let gone = refuses(address).await;
    asked().insert(address.to_owned(), (Instant::now(), gone));
    gone
}

async fn refuses(address: &str) -> bool {
    let Ok(uri) = address.parse::<Uri>() else { return false };
    let Some(host) = uri.host() else { return false };
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect((host.trim_matches(['[', ']']), port))).await;
    matches!(connected, Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused)
}
