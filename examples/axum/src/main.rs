use std::env;
use std::fmt::Display;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use snowmint::{Id, LeaseOptions, Snowflake};
use snowmint_sqlx::Id as BigInt;
use sqlx::{FromRow, PgPool};
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Clone)]
struct App {
    generator: Arc<Snowflake>,
    pool: PgPool,
}

#[derive(Deserialize)]
struct NewOrder {
    item: String,
}

#[derive(FromRow, Serialize)]
struct Order {
    #[sqlx(try_from = "BigInt")]
    id: Id, // a string in JSON, a BIGINT in PostgreSQL
    item: String,
}

type Failure = (StatusCode, String);

fn failure(error: impl Display) -> Failure {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn create(State(app): State<App>, Json(new): Json<NewOrder>) -> Result<(StatusCode, Json<Order>), Failure> {
    let id = app.generator.next_id_async().await.map_err(failure)?;
    let insert = sqlx::query("INSERT INTO orders (id, item) VALUES ($1, $2)");
    insert.bind(BigInt::from(id)).bind(&new.item).execute(&app.pool).await.map_err(failure)?;
    Ok((StatusCode::CREATED, Json(Order { id, item: new.item })))
}

async fn show(State(app): State<App>, Path(id): Path<Id>) -> Result<Json<Order>, Failure> {
    let select = sqlx::query_as("SELECT id, item FROM orders WHERE id = $1");
    let order = select.bind(BigInt::from(id)).fetch_optional(&app.pool).await.map_err(failure)?;
    order.map(Json).ok_or((StatusCode::NOT_FOUND, format!("no order {id}")))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = env::var("DATABASE_URL")?;
    let pool = PgPool::connect(&url).await?;
    sqlx::migrate!().run(&pool).await?;

    let options = LeaseOptions::new().store(url).namespace("orders");
    let generator = Arc::new(Snowflake::lease_async(options).await?);
    let app = App { generator: generator.clone(), pool };
    let router = Router::new().route("/orders", post(create)).route("/orders/{id}", get(show)).with_state(app);

    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async move {
        tokio::select! { _ = ctrl_c() => (), _ = terminate.recv() => () }
    };
    axum::serve(listener, router).with_graceful_shutdown(stop).await?;
    generator.close(); // gives the node back at once
    Ok(())
}
