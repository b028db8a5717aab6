//! Endpoints for operators and people: health, metrics, the `OpenAPI` document, the inspector.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};

use super::App;
use super::problem::{Failures, Problem};

/// Check that the server runs; needs no token
#[utoipa::path(get, path = "/healthz", operation_id = "healthz", tag = "server", responses(
    (status = 200, description = "The process runs", body = String, content_type = "text/plain"),
    (status = "4XX", description = "The host name of the request is not allowed", body = Problem, content_type = "application/problem+json"),
))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Check that the store answers; needs no token
#[utoipa::path(get, path = "/readyz", operation_id = "readyz", tag = "server", responses(
    (status = 200, description = "The store answers", body = String, content_type = "text/plain"),
    Failures,
))]
pub async fn readyz(State(app): State<Arc<App>>) -> Result<&'static str, Problem> {
    app.service.store.ready().await?;
    Ok("ok\n")
}

/// Show the metrics for Prometheus
#[utoipa::path(get, path = "/metrics", operation_id = "metrics", tag = "server", responses(
    (status = 200, description = "Metrics in the text format of Prometheus, or of OpenMetrics if `Accept` names it", content(
        (String = "text/plain"), (String = "application/openmetrics-text"),
    )),
    Failures,
))]
pub async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let accept: Vec<_> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let (media_type, text) = app.metrics.text(&accept.join(","));
    // Counts the nodes for the next scrape, as none waits for the store.
    drop(tokio::spawn(async move { app.service.tally.counts().await.map(drop) }));
    ([(CONTENT_TYPE, media_type)], text).into_response()
}

/// Answers with the `OpenAPI` document.
pub async fn openapi(State(app): State<Arc<App>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], app.openapi.clone()).into_response()
}

/// Answers with the inspector, a single file. The page has its own policy with the hashes of its script and style. The header
/// adds the directive that a page cannot set.
#[cfg(has_page)]
pub async fn page() -> Response {
    use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
    const PAGE: &str = include_str!(env!("SNOWMINT_PAGE"));
    static MARKED: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| super::status::marked(PAGE));
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, MARKED.as_str()).into_response()
}

/// Answers with a note about the build without the inspector.
#[cfg(not(has_page))]
pub async fn page() -> Response {
    "snowmint: /v1/ids gives an ID, /openapi.json lists all paths.\n\
     This build has no inspector: run scripts/build-site.sh, then build again with the feature `page`, a default one.\n"
        .into_response()
}
