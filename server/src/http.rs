//! HTTP: a resource a file. Each parses, calls the service, prints.

mod cors;
mod guard;
mod hosts;
mod ids;
mod leaf;
mod leases;
mod numbers;
mod problem;
mod site;
mod whole;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::cors::origins;
pub use self::hosts::{Hosts, allowed};
use crate::auth::Token;
use crate::connections::{Ending, PATIENCE, Protocol, over};
use crate::metrics::{Counts, Metrics};
use crate::service::Service;

/// The most bytes of a body.
const MOST_BODY: usize = 16 * 1024;
/// The most bytes of a request's head.
const MOST_HEAD: usize = 16 * 1024;
/// How many IDs all answers under way have together, at most.
const MOST_IDS: usize = 2_000_000;

/// What the requests share.
#[derive(Clone)]
pub struct App {
    service: Arc<Service>,
    token: Token,
    hosts: Arc<Hosts>,
    metrics: Arc<Metrics>,
    openapi: Arc<str>,
    /// One for each ID of an answer under way.
    room: Arc<Semaphore>,
}

/// The protocol.
pub struct Http {
    router: Router,
    metrics: Arc<Metrics>,
    idle: Duration,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "snowmint", description = "Unique IDs and numbers. Those of 64 bits are strings in JSON."),
    components(schemas(problem::Problem)),
    tags(
        (name = "ids", description = "IDs of the Snowflake family"),
        (name = "leases", description = "Nodes for generators elsewhere: `window` in Unix ms, by the server's clock"),
        (name = "numbers", description = "Numbers without a time in them"),
        (name = "leaf", description = "As the service of Leaf answers"),
        (name = "server", description = "What is for operators")
    )
)]
struct Document;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(ids::take))
        .routes(routes!(ids::inspect))
        .routes(routes!(leases::claim, leases::list))
        .routes(routes!(leases::renew, leases::release))
        .routes(routes!(numbers::segment))
        .routes(routes!(numbers::sequence))
        .routes(routes!(numbers::ticket))
        .routes(routes!(numbers::user))
        .routes(routes!(leaf::segment))
        .routes(routes!(leaf::snowflake))
        .routes(routes!(site::healthz))
        .routes(routes!(site::metrics))
}

/// The `OpenAPI` document, in JSON.
pub fn document() -> String {
    routes().into_openapi().to_pretty_json().unwrap_or_default()
}

impl Http {
    pub fn new(
        service: Arc<Service>,
        token: Token,
        hosts: Hosts,
        metrics: &Arc<Metrics>,
        origins: &[String],
        idle: Duration,
    ) -> Result<Self, crate::exit::Exit> {
        let app = App {
            service,
            token,
            hosts: Arc::new(hosts),
            metrics: Arc::clone(metrics),
            openapi: document().into(),
            room: Arc::new(Semaphore::new(MOST_IDS)),
        };
        let (router, _) = routes().split_for_parts();
        let router = router
            .route("/api/segment/get/", get(leaf::no_key))
            .route("/api/snowflake/get/", get(leaf::no_key))
            .route("/openapi.json", get(site::openapi))
            .route("/", get(site::page))
            .fallback(problem::nothing_here)
            .method_not_allowed_fallback(problem::no_such_method)
            .layer(axum::extract::DefaultBodyLimit::max(MOST_BODY))
            .layer(from_fn_with_state(app.clone(), guard::guard))
            .with_state(app);
        let router = match origins {
            [] => router,
            origins => router.layer(cors::layer(origins)?),
        };
        Ok(Self { router, metrics: Arc::clone(metrics), idle })
    }
}

impl Protocol for Http {
    const FULL: &'static [u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

    fn counts(&self) -> &Counts {
        &self.metrics.http
    }

    async fn serve<S>(self: Arc<Self>, stream: S, ending: Ending)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut stream = TimeoutStream::new(stream);
        stream.set_read_timeout(Some(self.idle));
        stream.set_write_timeout(Some(PATIENCE));
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.idle)
            .max_buf_size(MOST_HEAD)
            .pipeline_flush(true)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        let mut connection = std::pin::pin!(connection);
        let done = tokio::select! {
            done = connection.as_mut() => done,
            () = over(ending) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = done {
            tracing::debug!(%error, "a connection of HTTP ended");
        }
    }
}
