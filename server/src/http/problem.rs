//! Errors, as problem documents (RFC 9457).

use std::collections::BTreeMap;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use snowmint_core::ErrorKind;
use snowmint_stores::Error;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::{Response as Answer, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Content, Ref, RefOr};
use utoipa::{IntoResponses, ToSchema};

use super::guard::Failed;

/// Why a request was refused.
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// A kind of problem, of which `code` tells more.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    status: u16,
    /// What was wrong, and what would be right.
    detail: String,
    /// One word, the same in every language, such as `STORE_UNAVAILABLE`.
    code: &'static str,
    /// In how many ms the same request has a chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// Which server to ask instead, as it advertises itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    server: Option<String>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: detail.into(),
            code,
            retry_after_ms: None,
            server: None,
        }
    }

    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "send the server's token: Authorization: Bearer TOKEN")
    }

    /// By a name that may be anybody's, without a token.
    pub fn strange_host(host: &HeaderValue) -> Self {
        let host: String = String::from_utf8_lossy(host.as_bytes()).chars().take(100).collect();
        let detail = format!(
            "this server is not asked by the name {host:?} without a token: ask for localhost or 127.0.0.1, or have it \
             started with --allow-host NAME or --token-file FILE"
        );
        Self::new(StatusCode::FORBIDDEN, "HOST_NOT_ALLOWED", detail)
    }

    /// Refuses a request of a foreign page without a token.
    pub fn foreign_page() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "ORIGIN_NOT_ALLOWED",
            "a page of another origin sent this request: without a token it may not. Start the server with --allow-origin \
             ORIGIN or --token-file FILE",
        )
    }

    /// Refuses HEAD where GET takes a number.
    pub fn head() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", "HEAD takes no number: ask with GET")
    }

    /// Refuses a request on a connection beyond `--max-connections`.
    pub fn full() -> Self {
        let full = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "BUSY",
            "too many connections are open: this one may ask for /healthz and /readyz only",
        );
        Self { retry_after_ms: Some(1000), ..full }
    }

    pub fn slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", "the request took too long")
    }

    pub fn busy() -> Self {
        let busy = Self::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", "too many IDs are on their way to slow clients");
        Self { retry_after_ms: Some(1000), ..busy }
    }

    /// Of a layout that is one, but not that of the namespace, or whose time is over.
    pub fn of_namespace(error: Error) -> Self {
        let conflict =
            matches!(error.kind(), ErrorKind::InvalidLayout | ErrorKind::TimeOverflow | ErrorKind::BeforeEpoch);
        let problem = Self::from(error);
        if conflict { problem.with_status(StatusCode::CONFLICT) } else { problem }
    }

    /// The same with another status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { title: status.canonical_reason().unwrap_or_default(), status: status.as_u16(), ..self }
    }

    /// The same with the server to ask instead.
    pub fn with_server(self, server: Option<String>) -> Self {
        Self { server, ..self }
    }

    /// The same with a time to come again.
    pub fn with_retry_after_ms(self, retry_after_ms: Option<u64>) -> Self {
        Self { retry_after_ms: retry_after_ms.or(self.retry_after_ms), ..self }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        use ErrorKind::{
            BeforeEpoch, ClockBackwards, Exhausted, InvalidId, InvalidLayout, InvalidNode, InvalidText, NodesExhausted,
            StoreUnavailable, TimeOverflow, UnsafeStore, WindowClosed,
        };
        let status = match error.kind() {
            InvalidId | InvalidLayout | InvalidNode | InvalidText | TimeOverflow | BeforeEpoch => {
                StatusCode::BAD_REQUEST
            }
            // There is nothing more.
            Exhausted if error.wait_ms().is_none() => StatusCode::CONFLICT,
            Exhausted | ClockBackwards | WindowClosed | NodesExhausted | StoreUnavailable | UnsafeStore => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.code(), error.to_string()).with_retry_after_ms(error.wait_ms())
    }
}

impl From<snowmint_core::Error> for Problem {
    fn from(error: snowmint_core::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", rejection.body_text())
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        // Too large and of another type stay what they are.
        let status = match rejection.status() {
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            status => status,
        };
        Self::new(status, "BAD_REQUEST", rejection.body_text())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, [(CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(ms) = self.retry_after_ms {
            headers.insert(RETRY_AFTER, HeaderValue::from(ms.div_ceil(1000).max(1)));
        }
        response.extensions_mut().insert(Failed(self.code));
        response
    }
}

/// The answers that are errors, for the document.
pub struct Failures;

impl IntoResponses for Failures {
    fn responses() -> BTreeMap<String, RefOr<Answer>> {
        let problem = || Content::new(Some(RefOr::Ref(Ref::from_schema_name("Problem"))));
        let answer =
            |text: &str| ResponseBuilder::new().description(text).content("application/problem+json", problem());
        let seconds = ObjectBuilder::new().schema_type(Type::Integer);
        let later = HeaderBuilder::new().schema(Some(seconds)).description(Some("In how many seconds to ask again"));
        let refused = answer("The request is refused: `detail` says why, and what would be right");
        let failed = answer("The request failed: it may be sent again, after `Retry-After` if there is one");
        BTreeMap::from([
            ("4XX".to_owned(), RefOr::T(refused.build())),
            ("5XX".to_owned(), RefOr::T(failed.header("Retry-After", later.build()).build())),
        ])
    }
}

/// For every path that is none.
pub async fn nothing_here() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", "there is nothing here: /openapi.json tells what there is")
}

/// For every method that a path does not have.
pub async fn no_such_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        "not with this method: /openapi.json tells with which",
    )
}
