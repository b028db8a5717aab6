//! `/v1/users`: a sequence for each user. The users without a set are the set `users`.
#![allow(unused_qualifications, reason = "the macro of the document qualifies")]

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use snowmint_core::{ErrorKind, Integer};
use snowmint_stores::{Error, SectionHolder};
use utoipa::IntoParams;

use super::numbers::{Few, One, Taken};
use super::problem::{Failures, Problem};
use super::{App, peer};
use crate::service::{RETRY_AFTER_MS, USERS};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct User {
    /// 0 to 2^64-1.
    // Exactly these numbers, in at most 20 digits.
    #[param(pattern = "^([0-9]{1,19}|0[0-9]{19}|1[0-7][0-9]{18}|18[0-3][0-9]{17}|184[0-3][0-9]{16}|\
        1844[0-5][0-9]{15}|18446[0-6][0-9]{14}|184467[0-3][0-9]{13}|1844674[0-3][0-9]{12}|\
        184467440[0-6][0-9]{10}|1844674407[0-2][0-9]{9}|18446744073[0-6][0-9]{8}|\
        1844674407370[0-8][0-9]{6}|18446744073709[0-4][0-9]{5}|184467440737095[0-4][0-9]{4}|\
        18446744073709550[0-9]{3}|18446744073709551[0-5][0-9]{2}|1844674407370955160[0-9]|\
        1844674407370955161[0-5])$")]
    uid: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct Set {
    /// 1 to 128 bytes of text in NFC, without control and format characters.
    #[param(format = "snowmint-name", min_length = 1, max_length = 128)]
    set: String,
}

/// Take the next number of a user; the numbers of a user increase over all servers
#[utoipa::path(post, path = "/v1/users/{uid}/next", operation_id = "next_of_user", tag = "numbers",
    params(User, Few),
    responses(
        (status = 200, description = "The number, or with `count` a list", body = Taken),
        (status = 421, description = "`WRONG_SERVER`: another server has the user; `server` is its address", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn next(
    State(app): State<Arc<App>>,
    user: Result<Path<User>, PathRejection>,
    query: Result<Query<Few>, QueryRejection>,
) -> Result<Json<Taken>, Problem> {
    let (Path(user), Query(few)) = (user?, query?);
    taken(&app, USERS, &user, &few).await
}

/// Take the next number of a user of a set; the first use creates the set
#[utoipa::path(post, path = "/v1/users/{set}/{uid}/next", operation_id = "next_of_user_in_set", tag = "numbers",
    params(Set, User, Few),
    responses(
        (status = 200, description = "The number, or with `count` a list", body = Taken),
        (status = 421, description = "`WRONG_SERVER`: another server has the user; `server` is its address", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn next_in_set(
    State(app): State<Arc<App>>,
    set: Result<Path<Set>, PathRejection>,
    user: Result<Path<User>, PathRejection>,
    query: Result<Query<Few>, QueryRejection>,
) -> Result<Json<Taken>, Problem> {
    let (Path(Set { set }), Path(user), Query(few)) = (set?, user?, query?);
    taken(&app, &set, &user, &few).await
}

/// Read the last number of a user, and take none
#[utoipa::path(get, path = "/v1/users/{uid}/current", operation_id = "current_of_user", tag = "numbers",
    params(User),
    responses(
        (status = 200, description = "The last number", body = One),
        (status = 404, description = "This server has given the user no number since it took over the user's section", body = Problem, content_type = "application/problem+json"),
        (status = 421, description = "`WRONG_SERVER`: another server has the user; `server` is its address", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn current(
    State(app): State<Arc<App>>,
    user: Result<Path<User>, PathRejection>,
) -> Result<Json<One>, Problem> {
    let Path(user) = user?;
    last(&app, USERS, &user).await
}

/// Read the last number of a user of a set, and take none
#[utoipa::path(get, path = "/v1/users/{set}/{uid}/current", operation_id = "current_of_user_in_set", tag = "numbers",
    params(Set, User),
    responses(
        (status = 200, description = "The last number", body = One),
        (status = 404, description = "This server has given the user no number since it took over the user's section", body = Problem, content_type = "application/problem+json"),
        (status = 421, description = "`WRONG_SERVER`: another server has the user; `server` is its address", body = Problem, content_type = "application/problem+json"),
        Failures,
    )
)]
pub async fn current_in_set(
    State(app): State<Arc<App>>,
    set: Result<Path<Set>, PathRejection>,
    user: Result<Path<User>, PathRejection>,
) -> Result<Json<One>, Problem> {
    let (Path(Set { set }), Path(user)) = (set?, user?);
    last(&app, &set, &user).await
}

impl User {
    fn number(&self) -> Result<u64, Problem> {
        let Self { uid } = self;
        let digits = !uid.is_empty() && uid.len() <= 20 && uid.bytes().all(|byte| byte.is_ascii_digit());
        uid.parse().ok().filter(|_| digits).ok_or_else(|| {
            Problem::new(StatusCode::BAD_REQUEST, "INVALID_ID", "a user must be a number from 0 to 2^64-1, in digits")
        })
    }
}

async fn taken(app: &App, set: &str, user: &User, few: &Few) -> Result<Json<Taken>, Problem> {
    let (user, count) = (user.number()?, few.checked()?);
    match app.service.next_of_user(set, Integer::from(user), count).await {
        Ok(numbers) => Ok(Json(Taken::of(app, &numbers, few))),
        Err(error) => Err(refused(app, set, user, error).await),
    }
}

async fn last(app: &App, set: &str, user: &User) -> Result<Json<One>, Problem> {
    let user = user.number()?;
    match app.service.last_of_user(set, Integer::from(user)).await {
        Ok(Some(number)) => Ok(Json(One::new(&number))),
        Ok(None) => Err(Problem::not_there(format!(
            "this server has given user {user} no number since it took over the user's section: take one by POST .../next"
        ))),
        Err(error) => Err(refused(app, set, user, error).await),
    }
}

async fn refused(app: &App, set: &str, user: u64, error: Error) -> Problem {
    let kind = error.kind();
    let problem = Problem::from(error);
    match kind {
        ErrorKind::WindowClosed if *app.ending.borrow() => Problem::ending(),
        ErrorKind::WindowClosed => match app.service.server_of_user(set, user.into()) {
            // No other server is known yet.
            None => problem.with_retry_after_ms(Some(RETRY_AFTER_MS)),
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
