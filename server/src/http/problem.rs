//! Errors as problem documents (RFC 9457).

use std::collections::BTreeMap;

use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use snowmint_core::ErrorKind;
use snowmint_core::shown::Shown;
use snowmint_stores::Error;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::{Response as Answer, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Content, Ref, RefOr};
use utoipa::{IntoResponses, ToSchema};

use crate::auth::Role;
use crate::service::{Failure, RETRY_AFTER_MS};

/// The reason of a refusal or a failure.
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: read `code` for the kind of problem.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The HTTP status in words.
    title: &'static str,
    status: u16,
    /// A sentence that names the fault and its cure.
    detail: String,
    /// One word, the same in every language, such as `STORE_UNAVAILABLE`.
    code: &'static str,
    /// Send the same request again after this time, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// Address of the server to ask instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    server: Option<String>,
}

/// The code of an answer that is an error, for the metrics.
#[derive(Clone, Copy, Debug)]
pub struct Failed(pub &'static str);

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            // Parts of it may be texts of others: of holders, of the store, of the request.
            detail: Shown(detail.into()).to_string(),
            code,
            retry_after_ms: None,
            server: None,
        }
    }

    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "send a token of the server: Authorization: Bearer TOKEN")
    }

    /// Refuses a request of a client whose token is for another role.
    pub fn of_role(needed: Role) -> Self {
        let detail = format!("this needs the role {}: send a token of {}", needed.name(), needed.flag());
        Self::new(StatusCode::FORBIDDEN, Failure::FORBIDDEN, detail)
    }

    /// Refuses a request whose head breaks a rule of HTTP.
    pub fn malformed(why: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", why)
    }

    /// Refuses a request without a token to a host name that is not allowed.
    pub fn strange_host(host: &str) -> Self {
        let host: String = host.chars().take(100).collect();
        let detail = format!(
            "the host name {host:?} is not allowed without a token: use localhost or 127.0.0.1, or start the server with \
             --allow-host NAME or --token-file FILE"
        );
        Self::new(StatusCode::FORBIDDEN, "HOST_NOT_ALLOWED", detail)
    }

    /// Refuses a request without a token from a page of another origin.
    pub fn foreign_page() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "ORIGIN_NOT_ALLOWED",
            "a page of another origin sent this request without a token: start the server with --allow-origin ORIGIN or \
             --token-file FILE",
        )
    }

    /// Refuses HEAD on a route whose GET takes a number.
    pub fn head() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", "HEAD takes no number: use GET")
    }

    /// Refuses a request on a connection beyond `--max-connections` or `--max-connections-per-address`.
    pub fn full() -> Self {
        let full = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "BUSY",
            "too many connections are open, in total or from your address: this connection serves only /healthz and /readyz",
        );
        Self { retry_after_ms: Some(RETRY_AFTER_MS), ..full }
    }

    /// Refuses a request that is not answered after 30 s.
    pub fn slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", "the request took longer than 30 seconds: send it again")
    }

    /// Refuses a large answer while slow clients hold the memory for it.
    pub fn busy() -> Self {
        let detail = "slow clients have not read their IDs yet: ask again later, or for fewer IDs";
        let busy = Self::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", detail);
        Self { retry_after_ms: Some(RETRY_AFTER_MS), ..busy }
    }

    /// Refuses a request whose numbers this server has given back, as it ends.
    pub fn ending() -> Self {
        let code = ErrorKind::WindowClosed.code();
        let ending = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, "this server is ending: send the request again");
        Self { retry_after_ms: Some(RETRY_AFTER_MS), ..ending }
    }

    /// Names the server that has a user.
    pub fn wrong_server(user: u64, server: &str) -> Self {
        let detail = format!("another server has user {user}: send the request to {server}");
        let wrong = Self::new(StatusCode::MISDIRECTED_REQUEST, "WRONG_SERVER", detail);
        Self { server: Some(server.to_owned()), ..wrong }
    }

    /// Reports that the server of a user is gone, and when the user's section is free.
    pub fn server_gone(user: u64, server: &str, free_in_ms: u64) -> Self {
        let detail = format!("the server of user {user}, {server}, does not answer: ask again in {free_in_ms} ms");
        let gone = Self::new(StatusCode::SERVICE_UNAVAILABLE, "SERVER_GONE", detail);
        Self { retry_after_ms: Some(free_in_ms), ..gone }
    }

    /// Converts an error of a namespace. A valid layout that the namespace does not have, or whose time is over, is a conflict.
    pub fn of_namespace(failure: impl Into<Failure>) -> Self {
        use ErrorKind::{BeforeEpoch, InvalidLayout, TimeOverflow};
        let failure = failure.into();
        let conflict = matches!(&failure, Failure::Error(error)
            if matches!(error.kind(), InvalidLayout | TimeOverflow | BeforeEpoch));
        let problem = Self::from(failure);
        if conflict { problem.with_status(StatusCode::CONFLICT) } else { problem }
    }

    /// Says that something does not exist, or not yet.
    pub fn not_there(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", detail)
    }

    /// Returns the problem with another status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { title: status.canonical_reason().unwrap_or_default(), status: status.as_u16(), ..self }
    }

    /// Returns the problem with a time in ms after which to ask again. `None` changes nothing.
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
            // Nothing is left, now or later.
            Exhausted if error.wait_ms().is_none() => StatusCode::CONFLICT,
            Exhausted | ClockBackwards | WindowClosed | NodesExhausted | StoreUnavailable | UnsafeStore => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            // `InvalidStore` too: a retry does not help.
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // A window that has ended waits for the store, which a request each ms would not help.
        let least_ms = if error.kind() == WindowClosed { RETRY_AFTER_MS } else { 1 };
        Self::new(status, error.code(), error.to_string())
            .with_retry_after_ms(error.wait_ms().map(|ms| ms.max(least_ms)))
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Busy(why) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, Failure::BUSY, why).with_retry_after_ms(Some(RETRY_AFTER_MS))
            }
            Failure::Forbidden(why) => Self::new(StatusCode::FORBIDDEN, Failure::FORBIDDEN, why),
            Failure::NoNamespace(why) => Self::new(StatusCode::NOT_FOUND, Failure::NO_NAMESPACE, why),
            Failure::Error(error) => error.into(),
        }
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

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        // A body that is too large keeps 413.
        Self::new(rejection.status(), "BAD_REQUEST", rejection.body_text())
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        // Another content type keeps 415.
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

/// The error answers of the `OpenAPI` document.
pub struct Failures;

impl IntoResponses for Failures {
    fn responses() -> BTreeMap<String, RefOr<Answer>> {
        let problem = || Content::new(Some(RefOr::Ref(Ref::from_schema_name("Problem"))));
        let answer =
            |text: &str| ResponseBuilder::new().description(text).content("application/problem+json", problem());
        let seconds = ObjectBuilder::new().schema_type(Type::Integer);
        let later = HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds until the next try"));
        let refused = answer("The request is refused: `detail` names the fault and its cure");
        let failed = answer(
            "The request failed. 503: send it again, after `Retry-After` if the header is set. 500: the service needs its operator",
        );
        BTreeMap::from([
            ("4XX".to_owned(), RefOr::T(refused.build())),
            ("5XX".to_owned(), RefOr::T(failed.header("Retry-After", later.build()).build())),
        ])
    }
}

/// Answers a request for a path that does not exist.
pub async fn not_found() -> Problem {
    Problem::not_there("this path does not exist: /openapi.json lists the paths")
}

/// Answers a request for a path that the port of `--health` does not have.
pub async fn only_health() -> Problem {
    Problem::not_there("this port has only /healthz, /readyz and /metrics")
}

/// Answers a request with a method that the path does not have.
pub async fn method_not_allowed() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD_NOT_ALLOWED",
        "this path does not take the method: /openapi.json lists its methods",
    )
}
