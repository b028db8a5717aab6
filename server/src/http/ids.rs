//! `/v1/ids` and `/v1/inspect`.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use snowmint_cli::tables::Found;
use snowmint_core::{Error, Layout, SystemHost};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::problem::{Failures, Problem};
use crate::service::count;

const JSON: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];

/// How many IDs one piece of a large answer holds. The server writes a piece when the client has read the previous one.
const IDS_PER_PIECE: usize = 2000;

/// A list of numbers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Several {
    #[schema(example = json!(["252233544810463233"]))]
    ids: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IdsQuery {
    /// How many IDs, by default 1.
    #[param(minimum = 1, maximum = 100_000)]
    count: Option<u64>,
    /// Name of a preset, or text of a layout such as `time:41,node:10,sequence:12;epoch=2025-01-01T00:00:00Z;tick=1ms`. The
    /// default is the server's layout.
    #[param(format = "snowmint-layout", min_length = 1, example = "snowmint")]
    layout: Option<String>,
    /// Namespace of the node, by default the layout's own.
    #[param(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$")]
    namespace: Option<String>,
}

/// Mint unique IDs, ascending within an answer
#[utoipa::path(get, path = "/v1/ids", operation_id = "take_ids", tag = "ids", params(IdsQuery), responses(
    (status = 200, description = "The IDs", body = Several),
    Failures,
))]
pub async fn take(
    State(app): State<Arc<App>>,
    query: Result<Query<IdsQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(query) = query?;
    let count = count(query.count)?;
    let layout = query.layout.as_ref().map(Layout::find).transpose()?;
    // Before any ID is minted, so that no ID is lost.
    let room = (count > IDS_PER_PIECE as u64).then(|| room(&app, count)).transpose()?;
    let ids = app.service.ids.take(layout.as_ref(), query.namespace.as_deref(), count).await;
    let ids = ids.map_err(Problem::of_namespace)?;
    app.metrics.http.numbers.inc_by(count);
    several(ids, room)
}

/// Reserves memory for the IDs of a large answer. A client that does not read keeps it until its connection is closed.
///
/// # Errors
/// `BUSY`, if unread answers use all of it.
fn room(app: &App, count: u64) -> Result<OwnedSemaphorePermit, Problem> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Arc::clone(&app.room).try_acquire_many_owned(count).map_err(|_| Problem::busy())
}

/// Returns an answer of several numbers, in pieces if room is reserved for them. A piece without memory ends the answer early.
fn several(ids: Vec<u64>, room: Option<OwnedSemaphorePermit>) -> Result<Response, Problem> {
    let Some(room) = room else {
        return Ok((JSON, document(&ids, true, true)?).into_response());
    };
    let pieces = stream::unfold((ids, 0, room), |(ids, from, room)| async move {
        let to = (from + IDS_PER_PIECE).min(ids.len());
        if from == ids.len() {
            return None;
        }
        let piece = document(&ids[from..to], from == 0, to == ids.len());
        Some((piece.map(Bytes::from), (ids, to, room)))
    });
    Ok((JSON, Body::from_stream(pieces)).into_response())
}

/// Returns a piece of `{"ids":["1","2"]}`.
///
/// # Errors
/// `Exhausted`, if the memory is too short.
fn document(ids: &[u64], first: bool, last: bool) -> Result<String, Error> {
    let mut text = String::new();
    text.try_reserve_exact(ids.len() * 24 + 16).map_err(|_| Error::no_memory(ids.len() as u64))?;
    text.push_str(if first { "{\"ids\":[" } else { "," });
    for (place, id) in ids.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}\"{id}\"", if place > 0 { "," } else { "" });
    }
    if last {
        text.push_str("]}");
    }
    Ok(text)
}

/// List the systems that could have minted an ID, the most plausible first
#[utoipa::path(get, path = "/v1/inspect/{id}", operation_id = "inspect", tag = "ids",
    params(("id" = String, Path, description = "A 64-bit ID in any text form, a UUID, a ULID, or another ID that inspect reads")),
    responses(
        (status = 200, description = "The candidates; the list may be empty", body = Found),
        Failures,
    )
)]
pub async fn inspect(id: Result<Path<String>, PathRejection>) -> Result<Json<Found>, Problem> {
    let Path(id) = id?;
    let candidates = snowmint_inspect::inspect(&id, SystemHost::unix_ms());
    Ok(Json(Found::new(&id, &candidates)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_one_document() {
        let piece = |ids: &[u64], first, last| document(ids, first, last).expect("memory");
        assert_eq!(piece(&[1, 2], true, true), r#"{"ids":["1","2"]}"#);
        assert_eq!(piece(&[1, 2], true, false) + &piece(&[3], false, true), r#"{"ids":["1","2","3"]}"#);
    }
}
