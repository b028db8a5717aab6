//! HTTP, with one file per resource. A handler parses the request, calls the service and writes the answer.

mod cors;
mod document;
mod formatted;
mod guard;
mod hosts;
mod ids;
mod leaf;
mod leases;
mod numbers;
mod pace;
mod pages;
mod peer;
mod problem;
mod queries;
mod sequences;
mod site;
mod status;
mod users;

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1::{self, Parts};
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_io_timeout::TimeoutStream;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::cors::origins;
pub use self::document::document;
use self::guard::Known;
pub use self::hosts::{Hosts, allowed};
use self::pace::{Pace, TimeLimits, close, paced};
use self::pages::Pages;
use self::queries::Queries;
use crate::auth::Tokens;
use crate::connections::{CLIENT_TIMEOUT, Ending, FIRST_BYTE_TIMEOUT, Place, Protocol, Seat, over};
use crate::metrics::{Counts, Metrics};
use crate::service::Service;

/// The limit of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// How long an ending server keeps connections open for requests that are on their way.
const KEEP_OPEN_TIME: Duration = Duration::from_secs(1);
/// How long the server still reads from a connection that it has closed, which could be reset otherwise.
const UNREAD_TIMEOUT: Duration = Duration::from_millis(500);
/// The same on a reserved connection, for which others may wait.
const RESERVED_UNREAD_TIMEOUT: Duration = Duration::from_millis(50);
/// The limit of IDs in memory, over all answers that clients are still reading.
const MAX_IDS_IN_MEMORY: usize = 4_000_000;

/// The state that all requests share.
pub struct App {
    service: Arc<Service>,
    tokens: Tokens,
    hosts: Hosts,
    pages: Pages,
    queries: Queries,
    metrics: Arc<Metrics>,
    openapi: String,
    /// One permit for each ID of an unfinished answer.
    room: Arc<Semaphore>,
    ending: Ending,
}

/// The HTTP protocol.
pub struct Http {
    router: Router,
    counts: Counts,
    idle: Duration,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "snowmint", description = "Unique IDs and numbers. 64-bit numbers are strings in JSON."),
    components(schemas(problem::Problem)),
    tags(
        (name = "ids", description = "IDs of the Snowflake family"),
        (name = "leases", description = "Nodes for generators of clients. Windows are Unix ms of the server's clock"),
        (name = "numbers", description = "Numbers that contain no time"),
        (name = "leaf", description = "Endpoints compatible with Leaf's service"),
        (name = "server", description = "Endpoints for operators")
    )
)]
struct Document;

fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(ids::take))
        .routes(routes!(numbers::segment))
        .routes(routes!(sequences::next))
        .routes(routes!(formatted::next))
        .routes(routes!(numbers::ticket))
        .routes(routes!(users::next))
        .routes(routes!(users::next_in_set))
        .routes(routes!(leaf::segment))
        .routes(routes!(leaf::snowflake))
        // The routes above give numbers.
        .layer(from_fn(guard::refuse_head))
        .routes(routes!(sequences::create, sequences::replace, sequences::show))
        .routes(routes!(sequences::current))
        .routes(routes!(sequences::set))
        .routes(routes!(users::current))
        .routes(routes!(users::current_in_set))
        .routes(routes!(ids::inspect))
        .routes(routes!(formatted::define))
        .routes(routes!(formatted::parse))
        .routes(routes!(leases::claim, leases::list))
        .routes(routes!(leases::renew, leases::release))
        .routes(routes!(site::healthz))
        .routes(routes!(site::readyz))
        .routes(routes!(site::metrics))
        .routes(routes!(status::status))
}

impl App {
    pub fn new(
        service: Arc<Service>,
        tokens: Tokens,
        hosts: Hosts,
        metrics: &Arc<Metrics>,
        origins: &[String],
        ending: &Ending,
    ) -> Arc<Self> {
        Arc::new(Self {
            service,
            pages: Pages::new(&tokens, origins),
            queries: Queries::of(&routes().into_openapi()),
            tokens,
            hosts,
            metrics: Arc::clone(metrics),
            openapi: document(),
            room: Arc::new(Semaphore::new(MAX_IDS_IN_MEMORY)),
            ending: ending.clone(),
        })
    }

    /// Completes a router by the checks and headers that every answer has.
    fn guard(self: &Arc<Self>, router: Router<Arc<Self>>, origins: &[String]) -> Result<Router, snowmint_cli::Exit> {
        let router = router
            .method_not_allowed_fallback(problem::method_not_allowed)
            .layer(from_fn_with_state(Arc::clone(self), guard::guard))
            .with_state(Arc::clone(self));
        let router = match origins {
            [] => router,
            origins => router.layer(cors::layer(origins)?),
        };
        // A cached answer would give its number to a second client.
        let no_store = SetResponseHeaderLayer::if_not_present(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // No browser guesses the type of an answer, which may contain text of other clients.
        let no_sniff = SetResponseHeaderLayer::overriding(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Ok(router.layer(no_store).layer(no_sniff))
    }
}

impl Http {
    /// Returns the protocol of `--http`.
    pub fn new(app: &Arc<App>, origins: &[String], idle: Duration) -> Result<Self, snowmint_cli::Exit> {
        let (router, _) = routes().split_for_parts();
        let router = router
            .route("/api/segment/get/", get(leaf::no_key))
            .route("/api/snowflake/get/", get(leaf::no_key))
            .route("/openapi.json", get(site::openapi))
            .route("/", get(site::page))
            .fallback(problem::not_found);
        Ok(Self { router: app.guard(router, origins)?, counts: app.metrics.http.clone(), idle })
    }

    /// Returns the protocol of `--health`, which mints nothing.
    pub fn health(app: &Arc<App>, idle: Duration) -> Result<Self, snowmint_cli::Exit> {
        let router = Router::new()
            .route("/healthz", get(site::healthz))
            .route("/readyz", get(site::readyz))
            .route("/metrics", get(site::metrics))
            .fallback(problem::only_health);
        Ok(Self { router: app.guard(router, &[])?, counts: app.metrics.health.clone(), idle })
    }
}

impl Protocol for Http {
    const FULL: &'static [u8] =
        b"HTTP/1.1 503 Service Unavailable\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    // For health checks.
    const RESERVED: usize = 32;

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn silence(&self) -> Duration {
        CLIENT_TIMEOUT.min(self.idle)
    }

    async fn serve<S>(self: Arc<Self>, stream: S, ending: Ending, seat: Arc<Seat>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(CLIENT_TIMEOUT));
        let place = seat.place();
        let reserved = place == Place::Reserved;
        let soon = if reserved { FIRST_BYTE_TIMEOUT } else { self.silence() };
        let pace = Pace::new(TimeLimits { head: soon, unknown: soon, idle: self.idle }, seat.since());
        let stream = paced(Box::pin(stream), &pace);
        let router = TowerToHyperService::new(self.router.clone());
        let watched = Arc::clone(&pace);
        let service = service_fn(move |mut request: Request<Incoming>| {
            pace.asked();
            seat.asked();
            request.extensions_mut().insert(place);
            let (answer, pace, seat) = (router.call(request), Arc::clone(&pace), Arc::clone(&seat));
            Box::pin(async move {
                let answer = answer.await;
                let known = answer.as_ref().is_ok_and(|answer| answer.extensions().get::<Known>().is_some());
                pace.answered(known, Instant::now());
                seat.answered(known);
                answer
            })
        });
        let mut connection = http1::Builder::new()
            // `pace` limits the time of a head.
            .header_read_timeout(None)
            .keep_alive(!reserved)
            // A client may close its sending side after the request: its number is taken, so it gets the answer.
            .half_close(true)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let done = tokio::select! {
            done = poll_fn(|cx| connection.poll_without_shutdown(cx)) => done,
            () = watched.over() => return,
            () = async {
                over(ending).await;
                // Requests that arrive now get an answer with `connection: close`.
                sleep(KEEP_OPEN_TIME).await;
            } => {
                std::pin::Pin::new(&mut connection).graceful_shutdown();
                tokio::select! {
                    done = poll_fn(|cx| connection.poll_without_shutdown(cx)) => done,
                    () = watched.over() => return,
                }
            }
        };
        // The service has the seat, which stays taken until the stream is closed.
        let Parts { io, service: _seated, .. } = connection.into_parts();
        close(io.into_inner(), if reserved { RESERVED_UNREAD_TIMEOUT } else { UNREAD_TIMEOUT }).await;
        if let Err(error) = done {
            tracing::debug!(%error, "an HTTP connection ended");
        }
    }
}
