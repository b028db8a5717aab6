//! What every request passes: who asks, the time it may take, and the counters.

use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ALLOW, AUTHORIZATION, CONNECTION};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::time::{Instant, timeout};

use super::App;
use super::problem::Problem;
use crate::connections::Place;
use crate::metrics::Requests;

/// How long a request may take, its body included.
const LONGEST: Duration = Duration::from_secs(30);

pub async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    app.metrics.http.requests.inc();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = named(request.method());
    let known = is_known(&app, &request);
    let mut response = match refuse(&app, &request, known) {
        Some(problem) => problem.into_response(),
        None => match timeout(LONGEST, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::slow().into_response(),
        },
    };
    if *app.ending.borrow() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if known {
        response.extensions_mut().insert(Known);
    }
    let requests = Requests { method, route, status: response.status().as_u16() };
    app.metrics.seconds.get_or_create(&requests).observe(begun.elapsed().as_secs_f64());
    if let Some(Failed(code)) = response.extensions().get() {
        app.metrics.http.failed(code);
    }
    response
}

/// Returns why a request is refused, if it is.
fn refuse(app: &App, request: &Request, known: bool) -> Option<Problem> {
    let health = matches!(request.uri().path(), "/healthz" | "/readyz");
    // These answers are public.
    let open = health || request.uri().path() == "/";
    let kept = request.extensions().get::<Place>() == Some(&Place::Kept);
    match app.hosts.stranger(request.headers()) {
        Some(host) => Some(Problem::strange_host(host)),
        None if kept && !health => Some(Problem::full()),
        None if !open && app.pages.is_foreign(request.headers()) => Some(Problem::foreign_page()),
        None if !open && !known => Some(Problem::unauthorized()),
        None => None,
    }
}

/// The code of an answer that is an error.
#[derive(Clone, Copy, Debug)]
pub struct Failed(pub &'static str);

/// Marks an answer to a client that may ask for numbers.
#[derive(Clone, Copy, Debug)]
pub struct Known;

/// Refuses HEAD where GET would take a number.
pub async fn refuse_head(request: Request, next: Next) -> Response {
    if request.method() == Method::HEAD {
        return ([(ALLOW, "GET")], Problem::head()).into_response();
    }
    next.run(request).await
}

/// Returns the method as a label. Clients may send any word.
fn named(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

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
