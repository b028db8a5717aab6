//! `/v1/segments`, `/v1/sequences`, `/v1/tickets` and `/v1/users`.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use snowmint_core::{ErrorKind, Integer};
use snowmint_stores::{Error, SectionHolder};
use utoipa::{IntoParams, ToSchema};

use super::problem::{Failures, Problem};
use super::{App, peer};
use crate::service::{Failure, count};

/// Numbers without gaps, from `start` to `end`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Range {
    /// The first number.
    #[schema(example = "1")]
    start: String,
    /// The end, not included.
    #[schema(example = "2")]
    end: String,
}

/// A number.
#[derive(Debug, Serialize, ToSchema)]
pub struct One {
    #[schema(example = "1")]
    id: String,
}

/// A list of numbers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Values {
    #[schema(example = json!(["1"]))]
    ids: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// How many numbers, by default 1.
    #[param(minimum = 1, maximum = 100_000)]
    count: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Few {
    /// How many numbers, by default 1. A sequence without a cache needs one write for each number.
    #[param(minimum = 1, maximum = 1000)]
    count: Option<u64>,
}

/// Take numbers of an existing segment tag
#[utoipa::path(get, path = "/v1/segments/{tag}", operation_id = "take_segment", tag = "numbers",
    params(("tag" = String, Path, min_length = 1, max_length = 128), Count),
    responses(
        (status = 200, description = "The numbers, without the end", body = Range),
        Failures,
    )
)]
pub async fn segment(
    State(app): State<Arc<App>>,
    tag: Result<Path<String>, PathRejection>,
    query: Result<Query<Count>, QueryRejection>,
) -> Result<Json<Range>, Problem> {
    let (Path(tag), Query(query)) = (tag?, query?);
    let count = count(query.count)?;
    let numbers = app.service.numbers.segment(&tag, count).await.map_err(|failure| match failure {
        Failure::Error(error) if error.kind() == ErrorKind::InvalidText && (1..=128).contains(&tag.len()) => {
            let detail = format!("there is no segment tag {tag:?}: create it with snowmint segment create");
            Problem::new(StatusCode::NOT_FOUND, error.code(), detail)
        }
        failure => failure.into(),
    })?;
    app.metrics.http.numbers.inc_by(count);
    Ok(Json(Range { start: numbers.start.to_string(), end: numbers.end.to_string() }))
}

/// Take the next values of a sequence, as `nextval`; the first use creates the sequence
#[utoipa::path(post, path = "/v1/sequences/{name}/next", operation_id = "next_of_sequence", tag = "numbers",
    params(("name" = String, Path, format = "snowmint-name", min_length = 1, max_length = 128, description = "1 to 128 bytes of text in NFC, without control and format characters"), Few),
    responses(
        (status = 200, description = "The numbers", body = Values),
        Failures,
    )
)]
pub async fn sequence(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    query: Result<Query<Few>, QueryRejection>,
) -> Result<Json<Values>, Problem> {
    let (Path(name), Query(query)) = (name?, query?);
    let count = query.count.unwrap_or(1);
    if !(1..=1000).contains(&count) {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ID",
            format!("count must be 1 to 1000, not {count}"),
        ));
    }
    let values = app.service.numbers.sequence(&name, count).await?;
    app.metrics.http.numbers.inc_by(count);
    Ok(Json(Values { ids: values.iter().map(ToString::to_string).collect() }))
}

/// Take the next ticket of a name; the first use creates the ticket
#[utoipa::path(get, path = "/v1/tickets/{name}", operation_id = "take_ticket", tag = "numbers",
    params(("name" = String, Path, format = "snowmint-name", min_length = 1, max_length = 128, description = "1 to 128 bytes of text in NFC, without control and format characters")),
    responses(
        (status = 200, description = "The number", body = One),
        Failures,
    )
)]
pub async fn ticket(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<One>, Problem> {
    let Path(name) = name?;
    let ticket = app.service.numbers.ticket(&name).await?;
    app.metrics.http.numbers.inc();
    Ok(Json(One { id: ticket.to_string() }))
}

/// Take the next number of a user; the numbers of a user increase over all servers
#[utoipa::path(post, path = "/v1/users/{uid}/next", operation_id = "next_of_user", tag = "numbers",
    params((
        "uid" = String, Path, description = "0 to 2^64-1",
        // Exactly these numbers, in at most 20 digits.
        pattern = "^([0-9]{1,19}|0[0-9]{19}|1[0-7][0-9]{18}|18[0-3][0-9]{17}|184[0-3][0-9]{16}|\
            1844[0-5][0-9]{15}|18446[0-6][0-9]{14}|184467[0-3][0-9]{13}|1844674[0-3][0-9]{12}|\
            184467440[0-6][0-9]{10}|1844674407[0-2][0-9]{9}|18446744073[0-6][0-9]{8}|\
            1844674407370[0-8][0-9]{6}|18446744073709[0-4][0-9]{5}|184467440737095[0-4][0-9]{4}|\
            18446744073709550[0-9]{3}|18446744073709551[0-5][0-9]{2}|1844674407370955160[0-9]|\
            1844674407370955161[0-5])$"
    )),
    responses(
        (status = 200, description = "The number", body = One),
        (status = 421, description = "`WRONG_SERVER`: another server has the user; `server` is its address", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn user(State(app): State<Arc<App>>, uid: Result<Path<String>, PathRejection>) -> Result<Json<One>, Problem> {
    let Path(uid) = uid?;
    let digits = !uid.is_empty() && uid.len() <= 20 && uid.bytes().all(|byte| byte.is_ascii_digit());
    let user = uid.parse::<u64>().ok().filter(|_| digits).ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "INVALID_ID", "a user must be a number from 0 to 2^64-1, in digits")
    })?;
    let next = match app.service.next_of_user(Integer::from(user)).await {
        Ok(next) => next,
        Err(error) => return Err(refused(&app, user, error).await),
    };
    app.metrics.http.numbers.inc();
    Ok(Json(One { id: next.to_string() }))
}

async fn refused(app: &App, user: u64, error: Error) -> Problem {
    let kind = error.kind();
    let problem = Problem::from(error);
    match kind {
        // This server is ending, or no other server is known yet.
        ErrorKind::WindowClosed if *app.ending.borrow() => problem.with_retry_after_ms(Some(1000)),
        ErrorKind::WindowClosed => match app.service.server_of_user(user.into()) {
            None => problem.with_retry_after_ms(Some(1000)),
            // The holder has this server's address: the client would come back here.
            Some(holder) if holder.is_namesake => problem.with_retry_after_ms(Some(holder.free_in_ms.max(1))),
            Some(SectionHolder { label, free_in_ms, is_overdue, .. }) => {
                if is_overdue || peer::is_gone(&label).await {
                    Problem::server_gone(user, &label, free_in_ms.max(1))
                } else {
                    Problem::wrong_server(user, &label)
                }
            }
        },
        _ => problem,
    }
}
