//! `/v1/namespaces/{ns}/leases`: nodes for generators elsewhere.
//!
//! A namespace has a name, or is the default of a layout, `@` and its numbers, which the server's own generators lease in.
//!
//! A holder has a nonce of its own, by which a claim that is sent twice is one claim. It goes by the server's clock.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use snowmint_core::{ErrorKind, Integer, Layout, Options, SystemHost, Window};
use snowmint_stores::{Claimer, Error, Namespace, Terms};
use utoipa::ToSchema;

use super::App;
use super::problem::{Failures, Problem};
use super::whole::Whole;

/// How far from 1970 `unused_from_ms` may be: what every language's numbers hold.
const FARTHEST_MS: i64 = 9_007_199_254_740_991;
/// The most `max_ahead_ms`.
const MOST_AHEAD_MS: u64 = 60_000;

/// What a holder wants.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// 128 random bits as 32 hex digits, new for each claim.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "8f14e45fceea167a5a36dedd4bea2543")]
    nonce: String,
    /// A preset's name or a layout's text, such as `time:41,node:10,sequence:12;epoch=2025-01-01T00:00:00Z;tick=1ms`; by
    /// default the server's. A namespace keeps its first.
    #[schema(format = "snowmint-layout", min_length = 1, example = "snowmint")]
    layout: Option<String>,
    /// The length of windows: 30,000 or what the server allows, from 1000 and four ticks on; with `max_ahead_ms` an hour at
    /// most.
    #[schema(value_type = Option<u64>, minimum = 1000, maximum = 3_600_000_u64)]
    window_ms: Option<Whole<u64>>,
    /// How far IDs may run ahead of the clock: 0.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 60_000)]
    max_ahead_ms: Option<Whole<u64>>,
    /// Who this is, for people: the first 60 bytes are kept.
    label: Option<String>,
    /// The only node to claim. By default any free node.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 4_294_967_295_u64)]
    node: Option<Whole<u32>>,
    /// The node held last: it is preferred.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 4_294_967_295_u64)]
    last_node: Option<Whole<u32>>,
    /// Nodes not to be had.
    #[serde(default)]
    #[schema(value_type = Vec<Node>, max_items = 1024)]
    exclude: Vec<Whole<u32>>,
}

/// The number of a node, in the document.
#[derive(ToSchema)]
#[schema(value_type = u64, minimum = 0, maximum = 4_294_967_295_u64)]
#[allow(dead_code, reason = "it has limits that u32 does not tell")]
struct Node(u32);

/// A node that is held.
#[derive(Debug, Serialize, ToSchema)]
pub struct Lease {
    #[schema(value_type = u64)]
    node: u32,
    window: Span,
    /// The length of windows, which the server may have cut.
    window_ms: u64,
    /// The layout as text.
    layout: String,
    /// The server's clock, Unix ms, by which the holder has to go.
    server_time_ms: i64,
}

/// `[start, end)` in Unix ms: IDs of the node are minted of these times only.
#[derive(Debug, Serialize, ToSchema)]
pub struct Span {
    start: i64,
    end: i64,
}

/// How a holder goes on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// That of the claim.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "8f14e45fceea167a5a36dedd4bea2543")]
    nonce: String,
    /// Where the first tick begins that the generator has not used, Unix ms.
    #[schema(value_type = i64, minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64)]
    unused_from_ms: Whole<i64>,
    /// As in the claim.
    #[schema(value_type = Option<u64>, minimum = 1000, maximum = 3_600_000_u64)]
    window_ms: Option<Whole<u64>>,
    /// As in the claim.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 60_000)]
    max_ahead_ms: Option<Whole<u64>>,
}

/// A window that was moved on.
#[derive(Debug, Serialize, ToSchema)]
pub struct Renewed {
    #[schema(value_type = u64)]
    node: u32,
    window: Span,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// How a holder ends.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// That of the claim.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "8f14e45fceea167a5a36dedd4bea2543")]
    nonce: String,
    /// The generator is closed, and took no ID of this time (Unix ms) or later: the rest is given back.
    #[schema(value_type = i64, minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64)]
    unused_from_ms: Whole<i64>,
}

/// A node that is given back.
#[derive(Debug, Serialize, ToSchema)]
pub struct Released {
    #[schema(value_type = u64)]
    node: u32,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// All nodes of a namespace that anybody ever had.
#[derive(Debug, Serialize, ToSchema)]
pub struct Held {
    leases: Vec<Entry>,
    /// The server's clock, Unix ms.
    server_time_ms: i64,
}

/// One of them.
#[derive(Debug, Serialize, ToSchema)]
pub struct Entry {
    #[schema(value_type = u64)]
    node: u32,
    window: Span,
    /// Who has or had it.
    label: String,
    /// Whether it was given back.
    released: bool,
}

fn span(window: Window) -> Span {
    Span { start: window.start_ms, end: window.end_ms }
}

fn wrong(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", detail)
}

fn token(nonce: &str) -> Result<u128, Problem> {
    let digits = nonce.len() == 32 && nonce.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let token = u128::from_str_radix(nonce, 16).ok().filter(|_| digits);
    token.ok_or_else(|| wrong("nonce is 128 random bits as 32 hex digits (0-9 a-f)"))
}

fn ahead(given: Option<Whole<u64>>) -> Result<u64, Problem> {
    let ahead_ms = given.map_or(0, |given| given.0);
    if ahead_ms > MOST_AHEAD_MS {
        return Err(wrong(format!("max_ahead_ms is 0 to {MOST_AHEAD_MS}, not {ahead_ms}")));
    }
    Ok(ahead_ms)
}

/// The window that is asked for, cut to what the server grants.
fn window_ms(app: &App, layout: &Layout, given: Option<Whole<u64>>, ahead_ms: u64) -> Result<u64, Problem> {
    let window_ms = Window::length_ms(layout, given.map(|given| given.0), Window::ENGINE_MS, ahead_ms)?;
    Ok(window_ms.min(app.service.settings.max_window_ms))
}

fn unused_from(given: Whole<i64>) -> Result<i64, Problem> {
    if !(-FARTHEST_MS..=FARTHEST_MS).contains(&given.0) {
        return Err(wrong(format!("unused_from_ms is Unix ms, at most {FARTHEST_MS}, not {}", given.0)));
    }
    Ok(given.0)
}

/// A lost lease, or a clock that is not the server's, is the holder's to hear.
fn lost(error: Error) -> Problem {
    let conflict = matches!(error.kind(), ErrorKind::WindowClosed | ErrorKind::InvalidId);
    let problem = Problem::from(error);
    if conflict { problem.with_status(StatusCode::CONFLICT) } else { problem }
}

/// Claim a node; the same nonce gets the same one again
#[utoipa::path(post, path = "/v1/namespaces/{ns}/leases", operation_id = "claim_node", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 102, pattern = "^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63}|@[0-9a-f]{1,16}(-[0-9a-f]{1,16}){5})$")),
    request_body = Claim,
    responses(
        (status = 201, description = "The node is held from now on", body = Lease),
        Failures,
    )
)]
pub async fn claim(
    State(app): State<App>,
    ns: Result<Path<String>, PathRejection>,
    claim: Result<Json<Claim>, JsonRejection>,
) -> Result<(StatusCode, Json<Lease>), Problem> {
    let (Path(ns), Json(claim)) = (ns?, claim?);
    if claim.exclude.len() > 1024 {
        return Err(wrong("exclude has at most 1024 nodes"));
    }
    let layout = match &claim.layout {
        Some(layout) => Layout::find(layout)?,
        None => app.service.settings.layout,
    };
    let max_ahead_ms = ahead(claim.max_ahead_ms)?;
    let node = claim.node.map(|node| layout.node(Integer::from(u64::from(node.0)))).transpose()?;
    let terms = Terms {
        namespace: Namespace::parse(&ns)?,
        layout,
        node,
        exclude: claim.exclude.into_iter().map(|node| node.0).collect(),
        max_ahead_ms,
        max_wait_ms: Options::DEFAULT.max_wait_ms,
        window_ms: window_ms(&app, &layout, claim.window_ms, max_ahead_ms)?,
        system_clock: true,
    };
    let claimer = Claimer {
        nonce: token(&claim.nonce)?,
        label: claim.label.unwrap_or_else(|| "over HTTP".to_owned()),
        last_node: claim.last_node.map(|node| node.0),
    };
    let granted = app.service.leases.claim(&terms, &claimer).await;
    let granted = granted.map_err(|(error, wait_ms)| Problem::of_namespace(error).with_retry_after_ms(wait_ms))?;
    let lease = Lease {
        node: granted.node,
        window: span(granted.window),
        window_ms: terms.window_ms,
        layout: layout.to_string(),
        server_time_ms: SystemHost::unix_ms(),
    };
    Ok((StatusCode::CREATED, Json(lease)))
}

/// Who has which node
#[utoipa::path(get, path = "/v1/namespaces/{ns}/leases", operation_id = "list_nodes", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 102, pattern = "^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63}|@[0-9a-f]{1,16}(-[0-9a-f]{1,16}){5})$")),
    responses(
        (status = 200, description = "The nodes", body = Held),
        Failures,
    )
)]
pub async fn list(State(app): State<App>, ns: Result<Path<String>, PathRejection>) -> Result<Json<Held>, Problem> {
    let Path(ns) = ns?;
    let namespace = Namespace::parse(&ns)?.to_string();
    let leases = app.service.leases.list(&namespace).await?.into_iter().map(|(node, record)| Entry {
        node,
        window: span(record.window),
        label: String::from_utf8_lossy(&record.label).trim_end_matches('\0').to_owned(),
        released: record.released,
    });
    Ok(Json(Held { leases: leases.collect(), server_time_ms: SystemHost::unix_ms() }))
}

/// Move a window on
#[utoipa::path(put, path = "/v1/namespaces/{ns}/leases/{node}", operation_id = "renew_node", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 102, pattern = "^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63}|@[0-9a-f]{1,16}(-[0-9a-f]{1,16}){5})$"), ("node" = u64, Path, maximum = 4_294_967_295_u64)),
    request_body = Renewal,
    responses(
        (status = 200, description = "The window is moved on", body = Renewed),
        (status = 409, description = "The node is not held with this nonce: close the generator", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn renew(
    State(app): State<App>,
    place: Result<Path<(String, u32)>, PathRejection>,
    renewal: Result<Json<Renewal>, JsonRejection>,
) -> Result<Json<Renewed>, Problem> {
    let (Path((ns, node)), Json(renewal)) = (place?, renewal?);
    let namespace = Namespace::parse(&ns)?;
    let (least_ms, most_ms) = (Window::LEAST_MS, Window::MOST_MS);
    let window_ms = renewal.window_ms.map_or(Window::ENGINE_MS, |given| given.0);
    let ahead_ms = ahead(renewal.max_ahead_ms)?;
    // Four ticks are the claim's to see to.
    if window_ms < least_ms || window_ms.saturating_add(ahead_ms) > most_ms {
        let range = format!("{least_ms} or more, and with max_ahead_ms {most_ms} at most");
        return Err(wrong(format!("window_ms is {range}, not {window_ms}")));
    }
    let reach_ms = ahead_ms + window_ms.min(app.service.settings.max_window_ms);
    let token = token(&renewal.nonce)?;
    let unused_from_ms = unused_from(renewal.unused_from_ms)?;
    let renewed = app.service.leases.renew(&namespace, node, token, unused_from_ms, reach_ms).await;
    let window = span(renewed.map_err(lost)?);
    Ok(Json(Renewed { node, window, server_time_ms: SystemHost::unix_ms() }))
}

/// Give a node back, and the rest of its window
#[utoipa::path(delete, path = "/v1/namespaces/{ns}/leases/{node}", operation_id = "release_node", tag = "leases",
    params(("ns" = String, Path, min_length = 1, max_length = 102, pattern = "^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63}|@[0-9a-f]{1,16}(-[0-9a-f]{1,16}){5})$"), ("node" = u64, Path, maximum = 4_294_967_295_u64)),
    request_body = Release,
    responses(
        (status = 200, description = "The node is given back", body = Released),
        (status = 409, description = "The node is not held with this nonce", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn release(
    State(app): State<App>,
    place: Result<Path<(String, u32)>, PathRejection>,
    release: Result<Json<Release>, JsonRejection>,
) -> Result<Json<Released>, Problem> {
    let (Path((ns, node)), Json(release)) = (place?, release?);
    let namespace = Namespace::parse(&ns)?;
    let token = token(&release.nonce)?;
    let unused_from_ms = unused_from(release.unused_from_ms)?;
    app.service.leases.release(&namespace, node, token, unused_from_ms).await.map_err(lost)?;
    Ok(Json(Released { node, server_time_ms: SystemHost::unix_ms() }))
}
