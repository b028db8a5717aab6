//! `/v1/status`: version, store and number of leases, for operators and for the inspector at `/`.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use snowmint_core::SystemHost;
use snowmint_stores::RecordStore as _;
use utoipa::ToSchema;

use super::App;
use super::problem::{Failures, Problem};
use crate::service::Counts;

/// The mark of a page that this service sends: the same page from elsewhere does not have it.
#[cfg(has_page)]
const MARK: &str = "<meta name=\"snowmint-service\">\n";

/// Version, store and leases of this service
#[derive(Debug, Serialize, ToSchema)]
pub struct Status {
    /// The version of the server.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// The kind of the store, without its address.
    #[schema(example = "PostgreSQL")]
    store: String,
    /// How many nodes of this store servers and clients lease. The server counts at most every 5 seconds.
    leases: u64,
    /// How many namespaces the store has, the server's own included.
    namespaces: usize,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// Show version, kind of store and number of leases
#[utoipa::path(get, path = "/v1/status", operation_id = "status", tag = "server", responses(
    (status = 200, description = "The status of the service", body = Status),
    Failures,
))]
pub async fn status(State(app): State<Arc<App>>) -> Result<Json<Status>, Problem> {
    let service = &app.service;
    let Counts { leases, namespaces, .. } = *service.tally.counts().await?;
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        store: service.store.name().to_owned(),
        leases,
        namespaces,
        server_time_ms: SystemHost::unix_ms(),
    }))
}

/// Returns the page with the mark. A marked page asks for the status.
#[cfg(has_page)]
pub fn marked(page: &str) -> String {
    page.replacen("<meta ", &format!("{MARK}<meta "), 1)
}
