//! What every request passes: the token, the time it may take, and the counters.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::time::{Instant, timeout};

use super::App;
use super::problem::Problem;

/// How long a request may take, its body included.
const LONGEST: Duration = Duration::from_secs(30);

pub async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    app.metrics.http.requests.inc();
    // What tells nothing.
    let open = matches!(request.uri().path(), "/healthz" | "/");
    let response = if let Some(host) = app.hosts.stranger(request.headers()) {
        Problem::strange_host(host).into_response()
    } else if open || is_known(&app, &request) {
        match timeout(LONGEST, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::slow().into_response(),
        }
    } else {
        Problem::unauthorized().into_response()
    };
    app.metrics.seconds.observe(begun.elapsed().as_secs_f64());
    if let Some(Failed(code)) = response.extensions().get() {
        app.metrics.http.failed(code);
    }
    response
}

/// The code of an answer that is an error.
#[derive(Clone, Copy, Debug)]
pub struct Failed(pub &'static str);

fn is_known(app: &App, request: &Request) -> bool {
    if !app.token.is_set() {
        return true;
    }
    let shown = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    // The scheme's name has no case (RFC 9110, section 11.1).
    shown
        .split_at_checked(7)
        .is_some_and(|(scheme, token)| scheme.eq_ignore_ascii_case(b"bearer ") && app.token.is(token))
}
