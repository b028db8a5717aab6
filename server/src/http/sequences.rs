//! `/v1/sequences`: definitions, `nextval`, `currval` and `setval`.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

mod whole;

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use snowmint_core::sequence::{Options, Set};
use utoipa::{IntoParams, ToSchema};

use self::whole::Whole;
use super::App;
use super::numbers::{Few, One, Values};
use super::problem::{Failures, Problem};
use crate::definition::Definition;
use crate::service::Defined;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct Name {
    /// 1 to 128 bytes of text in NFC, without control and format characters.
    #[param(format = "snowmint-name", min_length = 1, max_length = 128)]
    name: String,
}

/// The options of a new sequence, as of SQL's `CREATE SEQUENCE`. An integer is a string, or a number of JSON.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The first value, by default the minimum if ascending, the maximum if descending.
    #[schema(value_type = Option<Whole>)]
    start: Option<Whole>,
    /// The distance between two values, by default 1; negative if descending.
    #[schema(value_type = Option<Whole>)]
    increment: Option<Whole>,
    /// The lowest value.
    #[schema(value_type = Option<Whole>)]
    min: Option<Whole>,
    /// The highest value.
    #[schema(value_type = Option<Whole>)]
    max: Option<Whole>,
    /// How many values a server takes at a time, by default 1 for `pg`, 1000 for `mariadb` and `tidb`. With more than one,
    /// servers give values in turns of as many.
    #[schema(value_type = Option<Whole>)]
    cache: Option<Whole>,
    /// Whether the sequence begins again after its last value, by default not. Then values repeat.
    #[serde(default)]
    cycle: bool,
    /// The database whose `setval` is followed, by default `pg`.
    #[schema(pattern = "^(pg|mariadb|tidb)$", example = "pg")]
    dialect: Option<String>,
    /// The type of the values, by default `bigint`.
    #[schema(pattern = "^(smallint|integer|bigint|bigint unsigned)$", example = "bigint")]
    r#type: Option<String>,
}

impl Wanted {
    fn options(&self) -> Result<Options, Problem> {
        let whole = |given: Option<Whole>| given.map(|Whole(number)| number);
        let default = Options::named(self.dialect.as_ref(), self.r#type.as_ref())?;
        Ok(Options {
            increment: whole(self.increment).unwrap_or(default.increment),
            min: whole(self.min),
            max: whole(self.max),
            start: whole(self.start),
            cache: whole(self.cache),
            cycle: self.cycle,
            ..default
        })
    }
}

/// A value to set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The value, as a string or a number of JSON.
    #[schema(value_type = Whole)]
    value: Whole,
    /// Whether the value counts as given, by default so: then the next one follows it. `tidb` knows only the default.
    called: Option<bool>,
    /// The round of a cycling sequence, only for `mariadb`.
    round: Option<u64>,
}

/// Create a sequence; the same definition again changes nothing. Needs a token of the role admin
#[utoipa::path(post, path = "/v1/sequences/{name}", operation_id = "create_sequence", tag = "numbers", params(Name),
    request_body = Wanted,
    responses(
        (status = 200, description = "The sequence is there with this definition", body = Definition),
        (status = 201, description = "The sequence is new", body = Definition),
        (status = 409, description = "The sequence has another definition, and keeps it", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn create(
    State(app): State<Arc<App>>,
    name: Result<Path<Name>, PathRejection>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Result<(StatusCode, Json<Definition>), Problem> {
    let (Path(Name { name }), Json(wanted)) = (name?, wanted?);
    let (rules, defined) = app.service.numbers.define(&name, &wanted.options()?).await?;
    let definition = Definition::of(&name, &rules);
    match defined {
        Defined::Made => Ok((StatusCode::CREATED, Json(definition))),
        Defined::Same => Ok((StatusCode::OK, Json(definition))),
        Defined::Other(there) => {
            let there = Definition::of(&name, &there);
            let detail = format!("the sequence is defined as {there}, not as {definition}: a definition is for good");
            Err(Problem::new(StatusCode::CONFLICT, "CONFLICT", detail))
        }
    }
}

/// Create a sequence, as POST does
#[utoipa::path(put, path = "/v1/sequences/{name}", operation_id = "put_sequence", tag = "numbers", params(Name),
    request_body = Wanted,
    responses(
        (status = 200, description = "The sequence is there with this definition", body = Definition),
        (status = 201, description = "The sequence is new", body = Definition),
        (status = 409, description = "The sequence has another definition, and keeps it", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn replace(
    app: State<Arc<App>>,
    name: Result<Path<Name>, PathRejection>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Result<(StatusCode, Json<Definition>), Problem> {
    create(app, name, wanted).await
}

/// Show the definition of a sequence
#[utoipa::path(get, path = "/v1/sequences/{name}", operation_id = "show_sequence", tag = "numbers", params(Name),
    responses(
        (status = 200, description = "The definition", body = Definition),
        (status = 404, description = "There is no such sequence", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn show(
    State(app): State<Arc<App>>,
    name: Result<Path<Name>, PathRejection>,
) -> Result<Json<Definition>, Problem> {
    let Path(Name { name }) = name?;
    let Some(rules) = app.service.numbers.definition(&name).await? else {
        return Err(Problem::not_there(format!("there is no sequence {name:?}: create it by POST, or take a value")));
    };
    Ok(Json(Definition::of(&name, &rules)))
}

/// Take the next values of a sequence, as `nextval`; the first use creates the sequence
#[utoipa::path(post, path = "/v1/sequences/{name}/next", operation_id = "next_of_sequence", tag = "numbers",
    params(Name, Few),
    responses(
        (status = 200, description = "The numbers", body = Values),
        Failures,
    )
)]
pub async fn next(
    State(app): State<Arc<App>>,
    name: Result<Path<Name>, PathRejection>,
    query: Result<Query<Few>, QueryRejection>,
) -> Result<Json<Values>, Problem> {
    let (Path(Name { name }), Query(few)) = (name?, query?);
    let values = app.service.numbers.sequence(&name, few.checked()?).await?;
    Ok(Json(Values::taken(&app, &values)))
}

/// Read the last value of a sequence that this server gave, as `currval`: the clients of a server share its session
#[utoipa::path(get, path = "/v1/sequences/{name}/current", operation_id = "current_of_sequence", tag = "numbers",
    params(Name),
    responses(
        (status = 200, description = "The last value", body = One),
        (status = 404, description = "This server has given no value of the sequence since it started, or since it closed the name, unused for minutes", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn current(
    State(app): State<Arc<App>>,
    name: Result<Path<Name>, PathRejection>,
) -> Result<Json<One>, Problem> {
    let Path(Name { name }) = name?;
    let Some(value) = app.service.numbers.current(&name).await? else {
        return Err(Problem::not_there(format!(
            "this server has given no value of {name:?} yet: take one by POST /v1/sequences/.../next"
        )));
    };
    Ok(Json(One::new(&value)))
}

/// Set the value of a sequence, as `setval`: in `pg` also back, so that values repeat. Needs a token of the role admin
#[utoipa::path(post, path = "/v1/sequences/{name}/set", operation_id = "set_sequence", tag = "numbers", params(Name),
    request_body = Setting,
    responses(
        (status = 200, description = "The value is set", body = One),
        (status = 409, description = "The sequence is at this value or beyond: its dialect changes nothing", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn set(
    State(app): State<Arc<App>>,
    name: Result<Path<Name>, PathRejection>,
    setting: Result<Json<Setting>, JsonRejection>,
) -> Result<Json<One>, Problem> {
    let (Path(Name { name }), Json(Setting { value: Whole(value), called, round })) = (name?, setting?);
    let set = Set { value: Some(value), is_called: called, round };
    let Some(value) = app.service.numbers.set(&name, &set).await? else {
        let detail = "nothing was changed: the sequence is at this value or beyond";
        return Err(Problem::new(StatusCode::CONFLICT, "CONFLICT", detail));
    };
    Ok(Json(One::new(&value)))
}
