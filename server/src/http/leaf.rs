//! The two endpoints of Leaf's service. The answer is a bare decimal number, or 500 with the JSON of a Spring error.
//!
//! Source: `Meituan-Dianping/Leaf`, `leaf-server`.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use snowmint_core::time::Rfc3339;
use snowmint_core::{ErrorKind, SystemHost, layouts};

use super::App;
use super::problem::Failed;
use crate::service::Failure;

/// Take a number of a tag, as from Leaf
#[utoipa::path(get, path = "/api/segment/get/{key}", operation_id = "leaf_segment", tag = "leaf",
    params(("key" = String, Path, min_length = 1, max_length = 128)),
    responses((status = 200, description = "The number in decimal", body = String, content_type = "text/plain"), (status = 500, description = "No number: the JSON of a Spring error", content_type = "application/json"))
)]
pub async fn segment(State(app): State<Arc<App>>, uri: Uri, key: Result<Path<String>, PathRejection>) -> Response {
    let Ok(Path(key)) = key else { return failed(&uri, "Key is none", "BAD_REQUEST") };
    let number = app.service.numbers.segment(&key, 1).await.map(|numbers| numbers.start);
    answer(&app, &uri, number)
}

/// Mint an ID in Leaf's layout; the key has no effect
#[utoipa::path(get, path = "/api/snowflake/get/{key}", operation_id = "leaf_snowflake", tag = "leaf",
    params(("key" = String, Path)),
    responses((status = 200, description = "The number in decimal", body = String, content_type = "text/plain"), (status = 500, description = "No number: the JSON of a Spring error", content_type = "application/json"))
)]
pub async fn snowflake(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let ids = app.service.ids.take(Some(&layouts::LEAF), None, 1).await;
    answer(&app, &uri, ids.map(|ids| ids.first().copied().unwrap_or_default()))
}

/// Answers a request without a key, as Leaf does.
pub async fn no_key(uri: Uri) -> Response {
    failed(&uri, "Key is none", "BAD_REQUEST")
}

fn answer(app: &App, uri: &Uri, number: Result<u64, Failure>) -> Response {
    match number {
        Ok(number) => {
            app.metrics.http.numbers.inc();
            ([(CONTENT_TYPE, "text/plain;charset=UTF-8")], number.to_string()).into_response()
        }
        Err(failure) => {
            let kind = match &failure {
                Failure::Error(error) => Some(error.kind()),
                _ => None,
            };
            // Leaf's codes: -2 for an unknown tag, -3 for empty buffers or a clock that went back, -1 before it is ready.
            let id = match kind {
                Some(ErrorKind::InvalidText) => -2,
                Some(ErrorKind::Exhausted | ErrorKind::ClockBackwards) => -3,
                _ => -1,
            };
            tracing::debug!(%failure, "a request to Leaf's endpoints failed");
            failed(uri, &format!("Result{{id={id}, status=EXCEPTION}}"), failure.code())
        }
    }
}

#[derive(Serialize)]
struct SpringError<'a> {
    timestamp: String,
    status: u16,
    error: &'static str,
    message: &'a str,
    path: &'a str,
}

fn failed(uri: &Uri, message: &str, code: &'static str) -> Response {
    let timestamp = Rfc3339(SystemHost::unix_ms()).to_string().replace('Z', "+0000");
    let error = SpringError { timestamp, status: 500, error: "Internal Server Error", message, path: uri.path() };
    let mut response = (StatusCode::INTERNAL_SERVER_ERROR, axum::Json(error)).into_response();
    response.extensions_mut().insert(Failed(code));
    response
}
