//! The checks of every request: host, origin, token, query and time limit. Counts requests and failures.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, HttpBody as _};
use axum::extract::{DefaultBodyLimit, FromRequest as _, MatchedPath, Request, State};
use axum::http::header::{ALLOW, AUTHORIZATION, CONNECTION};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::time::{Instant, timeout};

use super::App;
use super::hosts::Refused;
use super::problem::{Failed, Problem};
use crate::auth::{Client, NO_ROUTE, role_of_route};
use crate::connections::Place;
use crate::metrics::Requests;

/// The limit of a request body, in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024;
/// How long a request may take, its body included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Checks a request, runs it within its time limit and counts it.
pub async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    app.metrics.http.requests.inc();
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let method = named(request.method());
    let client = client(&app, &request);
    let known = client.is_some();
    let refused = refuse(&app, &request, &route, client.as_ref())
        .or_else(|| app.queries.refuse(&route, request.method(), request.uri()));
    client.map(|client| request.extensions_mut().insert(client));
    let (mut response, is_read) = match refused {
        Some(problem) => (problem.into_response(), request.body().is_end_stream()),
        None => match timeout(REQUEST_TIMEOUT, answer(request, next)).await {
            Ok(answered) => answered,
            Err(_) => (Problem::slow().into_response(), false),
        },
    };
    // hyper closes a connection whose request it did not read to the end, without a header that announces it.
    if !is_read || *app.ending.borrow() {
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

/// Reads the body and runs the request. Returns the answer, and whether the body was read to its end.
async fn answer(request: Request, next: Next) -> (Response, bool) {
    let (parts, body) = request.into_parts();
    let mut body = Request::new(body);
    DefaultBodyLimit::max(MAX_BODY_BYTES).apply(&mut body);
    match Bytes::from_request(body, &()).await {
        Ok(body) => (next.run(Request::from_parts(parts, body.into())).await, true),
        Err(rejection) => (Problem::from(rejection).into_response(), false),
    }
}

/// Returns the problem of a request that is refused.
fn refuse(app: &App, request: &Request, route: &str, client: Option<&Client>) -> Option<Problem> {
    let health = matches!(request.uri().path(), "/healthz" | "/readyz");
    let needed = role_of_route(request.method(), route);
    let reserved = request.extensions().get::<Place>() == Some(&Place::Reserved);
    match app.hosts.check(request.version(), request.uri(), request.headers()) {
        Err(Refused::Malformed(why)) => Some(Problem::malformed(why)),
        Err(Refused::Strange(host)) => Some(Problem::strange_host(&host)),
        Ok(()) if reserved && !health => Some(Problem::full()),
        Ok(()) => match (needed?, client) {
            _ if app.pages.is_foreign(request.headers()) => Some(Problem::foreign_page()),
            (_, None) => Some(Problem::unauthorized()),
            (needed, Some(client)) if client.role < needed => Some(Problem::of_role(needed)),
            _ => None,
        },
    }
}

/// Marks an answer to a client that the server knows.
#[derive(Clone, Copy, Debug)]
pub struct Known;

/// Refuses HEAD on a route whose GET takes a number.
pub async fn refuse_head(request: Request, next: Next) -> Response {
    if request.method() == Method::HEAD {
        return ([(ALLOW, "GET")], Problem::head()).into_response();
    }
    next.run(request).await
}

/// Returns the label of a method, "other" for methods outside the list: clients may send any word.
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

/// Returns the client that sent a request: it sent a token, or the server needs none.
fn client(app: &App, request: &Request) -> Option<Client> {
    let shown = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    // The name of the scheme ignores case (RFC 9110, section 11.1).
    let token = shown.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
    app.tokens.client(token.map_or(&b""[..], |(_, token)| token))
}
