//! `/v1/segments` and `/v1/tickets`, and the answers with numbers.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use snowmint_core::ErrorKind;
use snowmint_core::segment::MAX_STEP;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::problem::{Failures, Problem};
use crate::service::Failure;

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

/// A number, or a list if the request has `count`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Taken {
    One(One),
    Several(Values),
}

impl One {
    pub fn new(number: &impl ToString) -> Self {
        Self { id: number.to_string() }
    }
}

impl Values {
    /// Answers with numbers that a client took.
    pub fn taken<N: ToString>(app: &App, numbers: &[N]) -> Self {
        app.metrics.http.numbers.inc_by(numbers.len() as u64);
        Self { ids: numbers.iter().map(ToString::to_string).collect() }
    }
}

impl Taken {
    /// Answers with numbers that a client took: with the first one alone, unless the client named a count.
    pub fn of<N: ToString>(app: &App, numbers: &[N], few: &Few) -> Self {
        let mut values = Values::taken(app, numbers);
        if few.count.is_none() && values.ids.len() == 1 {
            return Self::One(One { id: values.ids.remove(0) });
        }
        Self::Several(values)
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Count {
    /// How many numbers, by default 1.
    #[param(minimum = 1, maximum = 2_147_483_647)]
    count: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Few {
    /// How many numbers, by default 1.
    #[param(minimum = 1, maximum = 1000)]
    count: Option<u64>,
}

impl Few {
    /// Returns the count.
    ///
    /// # Errors
    /// `INVALID_ID`, if the count is not 1 to 1000.
    pub fn checked(&self) -> Result<u64, Problem> {
        checked(self.count, 1000)
    }
}

fn checked(count: Option<u64>, most: u64) -> Result<u64, Problem> {
    let count = count.unwrap_or(1);
    if (1..=most).contains(&count) {
        return Ok(count);
    }
    let detail = format!("count must be 1 to {most}, not {count}");
    Err(Problem::new(StatusCode::BAD_REQUEST, "INVALID_ID", detail))
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
    let count = checked(query.count, MAX_STEP)?;
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

/// Take tickets of a name, ascending within an answer; the first use creates the ticket
#[utoipa::path(get, path = "/v1/tickets/{name}", operation_id = "take_ticket", tag = "numbers",
    params(("name" = String, Path, format = "snowmint-name", min_length = 1, max_length = 128, description = "1 to 128 bytes of text in NFC, without control and format characters"), Few),
    responses(
        (status = 200, description = "The number, or with `count` a list", body = Taken),
        Failures,
    )
)]
pub async fn ticket(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    query: Result<Query<Few>, QueryRejection>,
) -> Result<Json<Taken>, Problem> {
    let (Path(name), Query(few)) = (name?, query?);
    let tickets = app.service.numbers.tickets(&name, few.checked()?).await?;
    Ok(Json(Taken::of(&app, &tickets, &few)))
}
