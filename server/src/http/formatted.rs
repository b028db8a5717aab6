//! `/v1/formatted`: texts such as `INV-2026-000042`.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use snowmint_core::ErrorKind;
use snowmint_core::formatted::{Date, Definition, Pattern};
use utoipa::ToSchema;

use super::App;
use super::problem::{Failures, Problem};
use crate::service::Failure;

/// The definition of formatted numbers.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// The form of the texts, 1 to 64 bytes: `{yyyy}` or `{yy}`, `{MM}`, `{dd}` and `{HH}` for the date, zeros such as `{000000}` for
    /// the counter, and `{luhn}` or `{mod97}` at the end for check digits. `{{` and `}}` are braces.
    #[schema(format = "snowmint-pattern", min_length = 1, max_length = 64, example = "INV-{yyyy}-{000000}")]
    pattern: String,
    /// When the counter begins again: never (`none`, the default), each `year`, `month` or `day`. The pattern needs the date of it.
    #[schema(value_type = Option<String>, pattern = "^(none|year|month|day)$", example = "year")]
    period: Option<String>,
    /// The zone of the dates: `Z` (the default), `UTC`, or an offset.
    #[schema(value_type = Option<String>, pattern = "^(Z|UTC|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$", example = "+01:00")]
    zone: Option<String>,
    /// What happens to a number with more digits than the counter: `error` (the default), or `grow`, so that texts become longer.
    #[schema(value_type = Option<String>, pattern = "^(error|grow)$", example = "error")]
    overflow: Option<String>,
    /// The first number of each period, 0 to 2^63-1, by default 1.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,18}$", example = "1")]
    start: Option<String>,
    /// The step, by default 1.
    #[schema(value_type = Option<String>, pattern = "^-?[1-9][0-9]{0,17}$", example = "1")]
    increment: Option<String>,
}

impl Format {
    fn definition(&self) -> Result<Definition, Problem> {
        let (period, zone, overflow) = (self.period.as_deref(), self.zone.as_deref(), self.overflow.as_deref());
        let pattern = Pattern::named(&self.pattern, period, zone, overflow)?;
        let number = |name: &str, given: &Option<String>| {
            given.as_deref().map(str::parse::<i128>).transpose().map_err(|_| {
                let detail = format!("{name} must be an integer in digits, such as \"1\"");
                Problem::new(StatusCode::BAD_REQUEST, "INVALID_ID", detail)
            })
        };
        Ok(Definition::new(pattern, number("start", &self.start)?, number("increment", &self.increment)?)?)
    }
}

/// A definition that the store keeps.
#[derive(Debug, Serialize, ToSchema)]
pub struct Defined {
    #[schema(example = "INV-{yyyy}-{000000}")]
    pattern: String,
    #[schema(example = "year")]
    period: &'static str,
    /// `Z`, or the offset.
    #[schema(example = "+01:00")]
    zone: String,
    #[schema(example = "error")]
    overflow: &'static str,
    #[schema(example = "1")]
    start: String,
    #[schema(example = "1")]
    increment: String,
}

/// A number and its text.
#[derive(Debug, Serialize, ToSchema)]
pub struct Next {
    #[schema(example = "INV-2026-000042")]
    text: String,
    /// The value of the counter.
    #[schema(example = "42")]
    number: String,
    /// The year, month or day in which the counter runs, such as `2026-11`. Empty if the counter never begins again.
    #[schema(example = "2026")]
    period: String,
}

/// A text to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    #[schema(example = "INV-2026-000042")]
    text: String,
}

/// The parts of a text. A part of the date is missing if the text does not show it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Read {
    /// The value of the counter.
    #[schema(example = "42")]
    number: String,
    /// The year, month or day in which the counter runs, such as `2026-11`. Empty if the counter never begins again.
    #[schema(example = "2026")]
    period: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 2026)]
    year: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    month: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    day: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hour: Option<u8>,
}

/// Converts an error of a name that the store has no definition of.
fn unknown(name: &str, failure: Failure) -> Problem {
    match failure {
        Failure::Error(error) if error.kind() == ErrorKind::InvalidText && (1..=128).contains(&name.len()) => {
            let detail = format!("there are no formatted numbers {name:?}: define them with POST /v1/formatted/NAME");
            Problem::new(StatusCode::NOT_FOUND, error.code(), detail)
        }
        failure => failure.into(),
    }
}

/// Define formatted numbers, for good. The same definition again changes nothing; another one is refused with 409
#[utoipa::path(post, path = "/v1/formatted/{name}", operation_id = "define_formatted", tag = "numbers",
    params(("name" = String, Path, format = "snowmint-name", min_length = 1, max_length = 128, description = "1 to 128 bytes of text in NFC, without control and format characters; 5, 8 or 11 bytes fewer with a period of a year, month or day")),
    request_body = Format,
    responses(
        (status = 200, description = "The definition that the store keeps", body = Defined),
        Failures,
    )
)]
pub async fn define(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    body: Result<Json<Format>, JsonRejection>,
) -> Result<Json<Defined>, Problem> {
    let (Path(name), Json(format)) = (name?, body?);
    let definition = format.definition()?;
    if !app.service.numbers.define_formatted(&name, &definition).await? {
        let detail = format!(
            "the formatted numbers {name:?} have another definition, for good, so that no text repeats: use another name"
        );
        return Err(Problem::new(StatusCode::CONFLICT, "INVALID_TEXT", detail));
    }
    let pattern = definition.pattern();
    Ok(Json(Defined {
        pattern: pattern.as_str().to_owned(),
        period: pattern.period().name(),
        zone: pattern.zone().to_string(),
        overflow: pattern.overflow().name(),
        start: definition.start().to_string(),
        increment: definition.increment().to_string(),
    }))
}

/// Take the next number of the present period, as a text
#[utoipa::path(post, path = "/v1/formatted/{name}/next", operation_id = "next_formatted", tag = "numbers",
    params(("name" = String, Path, format = "snowmint-name", min_length = 1, max_length = 128)),
    responses(
        (status = 200, description = "The number and its text", body = Next),
        Failures,
    )
)]
pub async fn next(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Next>, Problem> {
    let Path(name) = name?;
    let next = app.service.numbers.formatted(&name).await.map_err(|failure| match failure {
        // The pattern cannot show this year, or the sequence cycles.
        Failure::Error(error) if matches!(error.kind(), ErrorKind::TimeOverflow | ErrorKind::InvalidId) => {
            Problem::from(error).with_status(StatusCode::CONFLICT)
        }
        failure => unknown(&name, failure),
    })?;
    app.metrics.http.numbers.inc();
    Ok(Json(Next { text: next.text, number: next.number.to_string(), period: next.period }))
}

/// Read a text back, and check its check digits
#[utoipa::path(post, path = "/v1/formatted/{name}/parse", operation_id = "parse_formatted", tag = "numbers",
    params(("name" = String, Path, format = "snowmint-name", min_length = 1, max_length = 128)),
    request_body = Given,
    responses(
        (status = 200, description = "What the text says", body = Read),
        Failures,
    )
)]
pub async fn parse(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    body: Result<Json<Given>, JsonRejection>,
) -> Result<Json<Read>, Problem> {
    let (Path(name), Json(given)) = (name?, body?);
    let pattern = app.service.numbers.pattern(&name).await.map_err(|failure| unknown(&name, failure))?;
    let reading = pattern.parse(&given.text)?;
    let Date { year, month, day, hour } = reading.date();
    let (number, period) = (reading.number().to_string(), reading.period().to_string());
    Ok(Json(Read { number, period, year, month, day, hour }))
}
