//! What is for operators and people: health, metrics, the `OpenAPI` document, the inspector.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use super::App;

/// Whether the server is there; needs no token
#[utoipa::path(get, path = "/healthz", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// What Prometheus reads
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "application/openmetrics-text"), (status = 401)))]
pub async fn metrics(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], app.metrics.text()).into_response()
}

/// The `OpenAPI` document.
pub async fn openapi(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, "application/json")], app.openapi.to_string()).into_response()
}

/// The inspector, in one file. What it may do stands in its own policy, with the hashes of its script and style: that of the
/// answer adds what a page cannot say of itself.
#[cfg(feature = "page")]
pub async fn page() -> Response {
    use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
    const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../npm/site/dist/index.html"));
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, PAGE).into_response()
}

/// A word about what there is.
#[cfg(not(feature = "page"))]
pub async fn page() -> Response {
    "snowmint: /v1/ids gives an ID, /openapi.json tells what else there is.\n\
     This build has no inspector here: scripts/build-site.sh makes the page, and then the feature `page` has it.\n"
        .into_response()
}
