//! `/v1/namespaces/{ns}/leases`: nodes for generators of clients.
//!
//! A namespace has a name, or is the default namespace of a layout: `@` and the layout's numbers. The server's own generators
//! lease in the default namespaces too.
//!
//! Each claim has a random nonce, so a claim that is sent twice counts once. A holder uses the server's clock.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use snowmint_core::bytes::refuse_label;
use snowmint_core::{ErrorKind, Integer, Layout, Nodes, Options, SystemHost, Window, layouts};
use snowmint_stores::Error;
use snowmint_stores::host::{Claimer, Namespace, Terms};
use utoipa::ToSchema;

use super::App;
use super::problem::{Failures, Problem};
use crate::auth::Client;

/// The greatest distance of `unused_from_ms` from 1970: the numbers of every language hold it exactly.
const MAX_UNUSED_FROM_MS: i64 = 9_007_199_254_740_991;
/// The limit of `max_ahead_ms`.
const MAX_AHEAD_MS: u64 = 60_000;

/// A request for a node.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// 128 random bits as 32 lower-case hex digits, new for each claim.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "8f14e45fceea167a5a36dedd4bea2543")]
    nonce: String,
    /// Name of a preset, or text of a layout such as `time:41,node:10,sequence:12;epoch=2025-01-01T00:00:00Z;tick=1ms`. The
    /// default is the server's layout. A namespace keeps its first layout.
    #[schema(format = "snowmint-layout", min_length = 1, example = "snowmint")]
    layout: Option<String>,
    /// Length of the windows in ms, by default 30,000. At least 1000 and four ticks; together with `max_ahead_ms` at most an
    /// hour. The server may shorten it.
    #[schema(value_type = Option<u64>, minimum = 1000, maximum = 3_600_000_u64)]
    window_ms: Option<u64>,
    /// How far IDs may run ahead of the clock in ms, by default 0.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 60_000)]
    max_ahead_ms: Option<u64>,
    /// Name of the holder, for people, without control and format characters. The server puts the name of the token before it,
    /// and keeps the first 60 bytes.
    label: Option<String>,
    /// The only node to claim. By default any free node.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 4_294_967_295_u64)]
    node: Option<u32>,
    /// Instead of `node`, values of some node fields: any free node that has them.
    #[schema(min_length = 1, example = "datacenter=3")]
    nodes: Option<String>,
    /// The node that this client held last; the server prefers it.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 4_294_967_295_u64)]
    last_node: Option<u32>,
    /// Nodes that the claim must not get.
    #[serde(default)]
    #[schema(value_type = Vec<Node>, max_items = 1024)]
    exclude: Vec<u32>,
}

/// The number of a node.
#[derive(ToSchema)]
#[schema(value_type = u64, minimum = 0, maximum = 4_294_967_295_u64)]
#[allow(dead_code, reason = "the document needs limits that u32 does not have")]
struct Node(u32);

/// A leased node.
#[derive(Debug, Serialize, ToSchema)]
pub struct Lease {
    #[schema(value_type = u64)]
    node: u32,
    window: Span,
    /// Length of the windows in ms; the server may have shortened it.
    window_ms: u64,
    /// The layout as text.
    layout: String,
    /// The server's clock, Unix ms: the holder must use this clock.
    server_time_ms: i64,
}

/// `[start, end)` in Unix ms: the holder mints only IDs with times in this window.
#[derive(Debug, Serialize, ToSchema)]
pub struct Span {
    start: i64,
    end: i64,
}

/// A request to extend a window.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// The nonce of the claim.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "8f14e45fceea167a5a36dedd4bea2543")]
    nonce: String,
    /// Start of the first tick that the generator has not used, Unix ms.
    #[schema(value_type = i64, minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64)]
    unused_from_ms: i64,
    /// As in the claim.
    #[schema(value_type = Option<u64>, minimum = 1000, maximum = 3_600_000_u64)]
    window_ms: Option<u64>,
    /// As in the claim.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 60_000)]
    max_ahead_ms: Option<u64>,
}

/// An extended window.
#[derive(Debug, Serialize, ToSchema)]
pub struct Renewed {
    #[schema(value_type = u64)]
    node: u32,
    window: Span,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// A request to give a node back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The nonce of the claim.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "8f14e45fceea167a5a36dedd4bea2543")]
    nonce: String,
    /// Unix ms: the closed generator minted no ID of this time or later. The server takes back the rest of the window.
    #[schema(value_type = i64, minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64)]
    unused_from_ms: i64,
}

/// A node that was given back.
#[derive(Debug, Serialize, ToSchema)]
pub struct Released {
    #[schema(value_type = u64)]
    node: u32,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// All nodes of a namespace that were ever leased.
#[derive(Debug, Serialize, ToSchema)]
pub struct Held {
    leases: Vec<Entry>,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// A node and its last holder.
#[derive(Debug, Serialize, ToSchema)]
pub struct Entry {
    #[schema(value_type = u64)]
    node: u32,
    window: Span,
    /// Name of the last holder. Control characters in it are escaped.
    label: String,
    /// Whether the holder gave the node back.
    released: bool,
}

fn span(window: Window) -> Span {
    Span { start: window.start_ms, end: window.end_ms }
}

fn wrong(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", detail)
}

fn parse_nonce(text: &str) -> Result<u128, Problem> {
    let digits = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let nonce = u128::from_str_radix(text, 16).ok().filter(|_| digits);
    nonce.ok_or_else(|| wrong("nonce must be 128 random bits as 32 hex digits (0-9 a-f)"))
}

fn ahead(given: Option<u64>) -> Result<u64, Problem> {
    let ahead_ms = given.unwrap_or(0);
    if ahead_ms > MAX_AHEAD_MS {
        return Err(wrong(format!("max_ahead_ms must be 0 to {MAX_AHEAD_MS}, not {ahead_ms}")));
    }
    Ok(ahead_ms)
}

/// Returns the length of the requested window in ms, at most the server's limit.
///
/// # Errors
/// `INVALID_LAYOUT`, if the length is out of range.
fn window_ms(app: &App, layout: &Layout, given: Option<u64>, ahead_ms: u64) -> Result<u64, Problem> {
    let window_ms = Window::length_ms(layout, given, Window::ENGINE_MS, ahead_ms)?;
    Ok(window_ms.min(app.service.settings.max_window_ms))
}

fn unused_from(given: i64) -> Result<i64, Problem> {
    if !(-MAX_UNUSED_FROM_MS..=MAX_UNUSED_FROM_MS).contains(&given) {
        return Err(wrong(format!("unused_from_ms must be Unix ms of at most {MAX_UNUSED_FROM_MS}, not {given}")));
    }
    Ok(given)
}

/// Converts an error of a renewal or release. A lost lease, or a time that is not the server's, is a conflict of the holder.
fn lost(error: Error) -> Problem {
    let conflict = matches!(error.kind(), ErrorKind::WindowClosed | ErrorKind::InvalidId);
    let problem = Problem::from(error);
    if conflict { problem.with_status(StatusCode::CONFLICT) } else { problem }
}

/// Claim a node; the same nonce gets the same node again. A new namespace needs a token of the role admin
#[utoipa::path(post, path = "/v1/namespaces/{ns}/leases", operation_id = "claim_node", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 65, pattern = "^@?[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")),
    request_body = Claim,
    responses(
        (status = 201, description = "The node is leased from now on", body = Lease),
        Failures,
    )
)]
pub async fn claim(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    ns: Result<Path<String>, PathRejection>,
    claim: Result<Json<Claim>, JsonRejection>,
) -> Result<(StatusCode, Json<Lease>), Problem> {
    let (Path(ns), Json(claim)) = (ns?, claim?);
    if claim.exclude.len() > 1024 {
        return Err(wrong(format!("exclude takes at most 1024 nodes, not {}", claim.exclude.len())));
    }
    let layout = match &claim.layout {
        Some(layout) => Layout::find(layout)?,
        None => app.service.settings.layout,
    };
    let max_ahead_ms = ahead(claim.max_ahead_ms)?;
    let nodes = match (claim.node, &claim.nodes) {
        (Some(_), Some(_)) => return Err(wrong("node and nodes are both given: give one of them")),
        (Some(node), None) => Nodes::one(layout.node(Integer::from(u64::from(node)))?),
        (None, Some(nodes)) => layout.parse_nodes(nodes)?,
        (None, None) => Nodes::ALL,
    };
    let terms = Terms {
        namespace: Namespace::parse(&ns)?,
        layout,
        nodes,
        exclude: claim.exclude,
        max_ahead_ms,
        max_wait_ms: Options::DEFAULT.max_wait_ms,
        window_ms: window_ms(&app, &layout, claim.window_ms, max_ahead_ms)?,
        system_clock: true,
    };
    refuse_label(claim.label.as_deref().unwrap_or_default())?;
    let claimer = Claimer {
        nonce: parse_nonce(&claim.nonce)?,
        label: claim.label.unwrap_or_else(|| "over HTTP".to_owned()),
        last_node: claim.last_node,
    };
    let granted = app.service.namespaces.claim(&client, &terms, &claimer).await.map_err(Problem::of_namespace)?;
    let lease = Lease {
        node: granted.node,
        window: span(granted.window),
        window_ms: terms.window_ms,
        layout: layout.to_string(),
        server_time_ms: SystemHost::unix_ms(),
    };
    Ok((StatusCode::CREATED, Json(lease)))
}

/// List the nodes and their holders
#[utoipa::path(get, path = "/v1/namespaces/{ns}/leases", operation_id = "list_nodes", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 65, pattern = "^@?[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")),
    responses(
        (status = 200, description = "The nodes", body = Held),
        Failures,
    )
)]
pub async fn list(State(app): State<Arc<App>>, ns: Result<Path<String>, PathRejection>) -> Result<Json<Held>, Problem> {
    let Path(ns) = ns?;
    let namespace = Namespace::parse(&ns)?.to_string();
    let leases = app.service.leases.list(&namespace).await?.into_iter().map(|(node, record)| Entry {
        node,
        window: span(record.window),
        label: record.label_text().to_string(),
        released: record.released,
    });
    Ok(Json(Held { leases: leases.collect(), server_time_ms: SystemHost::unix_ms() }))
}

/// Extend a window
#[utoipa::path(put, path = "/v1/namespaces/{ns}/leases/{node}", operation_id = "renew_node", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 65, pattern = "^@?[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"), ("node" = u64, Path, maximum = 4_294_967_295_u64)),
    request_body = Renewal,
    responses(
        (status = 200, description = "The window is extended", body = Renewed),
        (status = 409, description = "This nonce does not hold the node: close the generator", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn renew(
    State(app): State<Arc<App>>,
    place: Result<Path<(String, u32)>, PathRejection>,
    renewal: Result<Json<Renewal>, JsonRejection>,
) -> Result<Json<Renewed>, Problem> {
    let (Path((ns, node)), Json(renewal)) = (place?, renewal?);
    let namespace = Namespace::parse(&ns)?;
    let ahead_ms = ahead(renewal.max_ahead_ms)?;
    // A renewal does not name its layout. The claim has checked that a window is at least four ticks long.
    let reach_ms = ahead_ms + window_ms(&app, &layouts::SNOWMINT, renewal.window_ms, ahead_ms)?;
    let nonce = parse_nonce(&renewal.nonce)?;
    let unused_from_ms = unused_from(renewal.unused_from_ms)?;
    let renewed = app.service.leases.renew(&namespace, node, nonce, unused_from_ms, reach_ms).await;
    let window = span(renewed.map_err(lost)?);
    Ok(Json(Renewed { node, window, server_time_ms: SystemHost::unix_ms() }))
}

/// Give back a node and the rest of its window
#[utoipa::path(delete, path = "/v1/namespaces/{ns}/leases/{node}", operation_id = "release_node", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 65, pattern = "^@?[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"), ("node" = u64, Path, maximum = 4_294_967_295_u64)),
    request_body = Release,
    responses(
        (status = 200, description = "The node is given back", body = Released),
        (status = 409, description = "This nonce does not hold the node", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn release(
    State(app): State<Arc<App>>,
    place: Result<Path<(String, u32)>, PathRejection>,
    release: Result<Json<Release>, JsonRejection>,
) -> Result<Json<Released>, Problem> {
    let (Path((ns, node)), Json(release)) = (place?, release?);
    let namespace = Namespace::parse(&ns)?;
    let nonce = parse_nonce(&release.nonce)?;
    let unused_from_ms = unused_from(release.unused_from_ms)?;
    app.service.leases.release(&namespace, node, nonce, unused_from_ms).await.map_err(lost)?;
    Ok(Json(Released { node, server_time_ms: SystemHost::unix_ms() }))
}
