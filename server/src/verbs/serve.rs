//! `snowmint serve`: starts the service, and ends it on a signal.

use std::io::{self, Write as _, stderr, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::maybe_done;
use snowmint::host::Environment;
use snowmint_core::host::whole_ms;
use snowmint_core::lease::Reservation;
use snowmint_core::ticket::MAX_SERVERS;
use snowmint_core::{ErrorKind, Layout, Window};
use snowmint_stores::host::{Namespace, longest_call, refuse_default_database};
use snowmint_stores::{RecordStore as _, Url, connect_to};
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing_subscriber::EnvFilter;

use super::signals;
use crate::arguments::serve::{LogFormat, Serve};
use crate::auth::{Role, Tokens};
use crate::connections::{AllPlaces, Door, Ending, Limits, Port, Protocol, Reserve};
use crate::http::{App, Hosts, Http, document};
use crate::metrics::Metrics;
use crate::monitor::{self, Gauges};
use crate::monitored_store::MonitoredStore;
use crate::range_log::RangeLog;
use crate::resp::Resp;
use crate::service::{Service, Settings, TicketStores};
use crate::tls::Certificate;
use snowmint_cli::Exit;

/// The limit for ending: service managers kill a program that takes longer.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// How many connections the port of `--health` serves, for probes and scrapers.
const HEALTH_CONNECTIONS: usize = 64;
/// How many files the process opens besides connections of clients: for the store, the log and the runtime.
#[cfg(unix)]
const OTHER_FILES: u64 = 100;
/// The part of [`SHUTDOWN_TIMEOUT`] in which open connections may finish.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves until a signal ends it.
pub fn serve(options: &Serve) -> Result<u8, Exit> {
    if options.openapi {
        writeln!(stdout().lock(), "{}", document())?;
        return Ok(0);
    }
    log(options)?;
    #[cfg(unix)]
    allow_connections();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Leases are renewed on this runtime too.
    snowmint_stores::host::adopt(runtime.handle().clone());
    runtime.block_on(run(options))?;
    // Does not wait longer for operations that the store leaves unanswered.
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(0)
}

/// Raises the limit of open files to its maximum. The usual 1024 includes the files of the store.
#[cfg(unix)]
fn allow_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

/// Warns if the connections of some ports may need more files than the process may open.
#[cfg(unix)]
fn warn_of_few_files<'a>(ports: impl Iterator<Item = &'a Port>, max_connections: u32) {
    use rustix::process::{Resource, getrlimit};
    let needed = ports.map(Port::most_files).sum::<u64>() + OTHER_FILES;
    if let Some(limit) = getrlimit(Resource::Nofile).current.filter(|limit| *limit < needed) {
        tracing::warn!(
            "the limit of open files is {limit}, and --max-connections {max_connections} needs {needed}: raise the limit \
             (LimitNOFILE, ulimit -n), or lower --max-connections"
        );
    }
}

fn log(options: &Serve) -> Result<(), Exit> {
    let filter = EnvFilter::try_new(&options.log).map_err(|error| Exit::Wrong(format!("--log: {error}")))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_target(false);
    match options.log_format {
        LogFormat::Text => log.with_ansi(io::IsTerminal::is_terminal(&stderr())).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

async fn run(options: &Serve) -> Result<(), Exit> {
    let tokens = Tokens::read(&[
        (Role::Metrics, options.metrics_token_file.as_deref()),
        (Role::Mint, options.token_file.as_deref()),
        (Role::Admin, options.admin_token_file.as_deref()),
    ])?;
    let certificate = Certificate::read(options.tls_cert.as_deref(), options.tls_key.as_deref())?;
    let tls = certificate.as_ref().map(Certificate::acceptor).transpose()?;
    // Opens the ports before anything is leased.
    let (all, reserve) = (AllPlaces::default(), Reserve::new());
    let open = async |name, address, limits| -> Result<Option<Port>, Exit> {
        let listener = listen(name, address, &tokens).await?;
        Ok(listener.map(|listener| Port {
            door: Door::new(listener, reserve.clone()),
            tls: tls.clone(),
            limits,
            all: all.clone(),
        }))
    };
    let limits = options.limits();
    let http = open("--http", &options.http, limits).await?;
    let redis = open("--redis", &options.redis, limits).await?;
    let health = open("--health", &options.health, Limits::of(HEALTH_CONNECTIONS, None)).await?;
    let address = |port: &Option<Port>| port.as_ref().and_then(|port| port.address().ok());
    let (http_address, redis_address, health_address) = (address(&http), address(&redis), address(&health));
    let Some(any_address) = http_address.or(redis_address) else {
        return Err(Exit::Wrong("--http and --redis are both off: there is nothing to serve".to_owned()));
    };
    #[cfg(unix)]
    warn_of_few_files([&http, &redis, &health].into_iter().flatten(), options.max_connections);
    let (mut ended, mut hang_up) = (signals::interrupt()?, signals::hang_up()?);

    let scheme = if tls.is_some() { "https" } else { "http" };
    // Looks at every flag before the store is asked, which may be away.
    let mut settings = settings(options, format!("{scheme}://{any_address}"))?;
    let range_log = options.range_log.as_deref().map(|path| RangeLog::open(path, &settings.label)).transpose()?;
    let range_log = range_log.map(Arc::new);
    settings.ticket_stores = ticket_stores(options, range_log.as_ref())?;
    let store_url = options.store.clone().map_or_else(default_store, Ok)?;
    let connected = connect_to(with_connections(options, &store_url)?).await?;
    let store_name = connected.name().to_owned();
    let mut metrics = Metrics::new();
    let store = MonitoredStore::over(connected, metrics.store.clone(), range_log.clone(), options.max_wait_ms);
    let service = Service::new(store, store_url, settings).await.map_err(|error| match error.kind() {
        ErrorKind::InvalidLayout => Exit::Wrong(format!("--layout {}: {error}", options.layout)),
        _ => error.into(),
    })?;
    metrics.add(Box::new(Gauges::of(&service)));
    let metrics = Arc::new(metrics);
    monitor::watch(&service, &metrics);
    tokio::spawn(reserve_node(Arc::clone(&service)));
    let idle = Duration::from_secs(options.idle_s);
    let (end, ending) = watch::channel(false);
    let hosts = Hosts::new(&tokens, &options.http, &options.allow_host);
    let app = App::new(Arc::clone(&service), tokens.clone(), hosts, &metrics, &options.allow_origin, &ending);
    let http_protocol = Arc::new(Http::new(&app, &options.allow_origin, idle)?);
    let health_protocol = Arc::new(Http::health(&app, idle)?);
    let resp_protocol =
        Arc::new(Resp { service: Arc::clone(&service), tokens: tokens.clone(), metrics, idle, get: options.get });
    let shown = |address: Option<SocketAddr>| address.map_or_else(|| "off".to_owned(), |address| address.to_string());
    tracing::info!(
        http = shown(http_address),
        redis = shown(redis_address),
        health = shown(health_address),
        store = store_name,
        tls = tls.is_some(),
        token = tokens.are_set(),
        version = env!("CARGO_PKG_VERSION"),
        "serving"
    );
    for exposure in tokens.exposures() {
        tracing::warn!("{exposure}");
    }
    let mut addresses = [http_address, redis_address, health_address].into_iter().flatten();
    if tokens.are_set() && tls.is_none() && !options.plain && addresses.any(|address| !address.ip().is_loopback()) {
        tracing::warn!(
            "clients on other machines send the token in plain text: add --tls-cert and --tls-key, or --plain if a proxy or the \
             network encrypts"
        );
    }
    let serving = async {
        tokio::join!(
            serve_port(http, http_protocol, &ending),
            serve_port(redis, resp_protocol, &ending),
            serve_port(health, health_protocol, &ending)
        );
    };
    let mut serving = std::pin::pin!(maybe_done(serving));
    loop {
        tokio::select! {
            () = serving.as_mut() => break,
            () = ended.came() => break,
            () = hang_up.came() => read_again(&tokens, certificate.as_deref(), range_log.as_deref()),
        }
    }
    tracing::info!("ending");
    end.send_replace(true);
    give_back(&service, serving, &mut ended).await;
    Ok(())
}

async fn reserve_node(service: Arc<Service>) {
    if let Err(failure) = service.ids.reserve().await {
        tracing::warn!("no node is reserved before the first request for IDs: {failure}");
    }
}

/// Reads the settings of the service, whose address is `own` by default.
///
/// # Errors
/// `Wrong`, with the flag.
fn settings(options: &Serve, own: String) -> Result<Settings, Exit> {
    let layout = Layout::find(&options.layout)?;
    let window_ms = options.window_ms;
    Window::length_ms(&layout, Some(window_ms), Window::ENGINE_MS, 0)
        .map_err(|error| Exit::Wrong(format!("--layout {} with --window-ms {window_ms}: {error}", options.layout)))?;
    if let Some(reserve) = options.reserve {
        Reservation::refuse_length(whole_ms(reserve), window_ms)
            .map_err(|error| Exit::Wrong(format!("--reserve with --window-ms {window_ms}: {error}")))?;
    }
    Ok(Settings {
        layout,
        namespace: options.namespace.as_deref().map(Namespace::named).transpose()?,
        step: options.step,
        max_wait_ms: options.max_wait_ms,
        window_ms,
        reserve: options.reserve,
        max_window_ms: options.max_window_ms,
        max_namespaces: options.max_namespaces,
        node_share: options.node_share,
        section_size: options.section_size,
        users_memory_bytes: options.users_memory.as_u64(),
        ticket_stores: None,
        label: options.advertise.clone().unwrap_or(own),
    })
}

/// Reads the URL of a store, which has the connections of the options if it names no number.
fn with_connections(options: &Serve, text: &str) -> Result<Url, Exit> {
    let mut url = Url::parse(text)?;
    // SQLite has one writer at a time.
    if url.scheme != "sqlite" {
        url.connections.get_or_insert(options.store_connections);
    }
    Ok(url)
}

/// Reads `--tickets-store`. `None` without it.
///
/// # Errors
/// `Wrong` for a malformed URL, and for more stores than tickets can have.
fn ticket_stores(options: &Serve, range_log: Option<&Arc<RangeLog>>) -> Result<Option<TicketStores>, Exit> {
    let given = &options.tickets_store;
    if given.len() > MAX_SERVERS {
        return Err(Exit::Wrong(format!("--tickets-store: tickets come from at most {MAX_SERVERS} stores")));
    }
    let url = |text: &String| -> Result<Url, Exit> {
        // Refuses the URL of an engine that this build does not have.
        longest_call(text)?;
        with_connections(options, text)
    };
    let urls = given.iter().map(url).collect::<Result<Vec<_>, _>>()?;
    Ok((!urls.is_empty()).then(|| TicketStores::of(urls, range_log)))
}

async fn serve_port<P: Protocol>(port: Option<Port>, protocol: Arc<P>, ending: &Ending) {
    if let Some(port) = port {
        port.serve(protocol, ending.clone()).await;
    }
}

/// Gives users, leases and numbers back while open connections finish. Takes at most 10 s.
async fn give_back(service: &Service, serving: impl Future<Output = ()>, ended: &mut signals::Ending) {
    let giving_back = async {
        // Users first, as another server waits for them.
        let _ = tokio::join!(service.close_users(), timeout(DRAIN_TIMEOUT, serving));
        service.close().await;
        service.store.close().await;
    };
    tokio::select! {
        given_back = timeout(SHUTDOWN_TIMEOUT, giving_back) => {
            if given_back.is_ok() {
                tracing::info!("ended: leases and unused numbers are given back");
            } else {
                tracing::warn!("ended after 10 s: some numbers are lost, and some leases last until their window ends");
            }
        }
        // A second signal ends the server without a wait.
        () = ended.came() => {
            tracing::warn!("ended at once: some numbers are lost, and some leases last until their window ends");
        }
    }
}

/// Reads the token files and the certificate again, and opens the log of ranges again. If a file is not usable, the old one stays.
fn read_again(tokens: &Tokens, certificate: Option<&Certificate>, range_log: Option<&RangeLog>) {
    match range_log.map(RangeLog::open_again) {
        None => {}
        Some(Ok(())) => tracing::info!(file = "range log", "opened again"),
        Some(Err(error)) => tracing::error!(file = "range log", "not opened again: {error}"),
    }
    for (file, read) in
        [("token", tokens.read_again()), ("certificate", certificate.map_or(Ok(()), Certificate::read_again))]
    {
        match read {
            Ok(()) => tracing::info!(file, "read again"),
            Err(error) => tracing::error!(file, "not read again: {error}"),
        }
    }
}

/// How many connections may wait until they are accepted, in a burst.
const BACKLOG: u32 = 1024;

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On Unix: a server that is started again must not wait for the end of its old connections.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Opens a port.
///
/// # Errors
/// `Wrong` for an address that cannot be resolved, and without a token for an address that other machines can reach.
/// `Failed`, if the port cannot be opened.
async fn listen(flag: &str, address: &str, tokens: &Tokens) -> Result<Option<TcpListener>, Exit> {
    if address == "off" {
        return Ok(None);
    }
    let wrong = |why: &dyn std::fmt::Display| Exit::Wrong(format!("{flag} {address}: {why}"));
    let addresses: Vec<_> = lookup_host(address).await.map_err(|error| wrong(&error))?.collect();
    if !tokens.are_set() && addresses.iter().any(|address| !address.ip().is_loopback()) {
        return Err(wrong(&"other machines can reach this address, so a token is needed: --token-file FILE"));
    }
    // As a server of several addresses of a name does: the first that can be opened.
    let opened =
        addresses.into_iter().map(bind).reduce(Result::or).unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
    opened.map(Some).map_err(|error| Exit::Failed(format!("{flag} {address}: {error}")))
}

/// Returns the URL of this user's `SQLite` file, or of the service's file if the service manager names a directory.
///
/// # Errors
/// `Wrong` in a container or pod, where each server would get a separate file.
pub fn default_store() -> Result<String, Exit> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = variable("STATE_DIRECTORY")
        .or_else(|| variable("XDG_DATA_HOME").map(|data| data.join("snowmint")))
        .or_else(|| variable("HOME").map(|home| home.join(".local/share/snowmint")))
        .filter(|directory| directory.is_absolute())
        .ok_or_else(|| Exit::Wrong("there is no home directory for a store: use --store sqlite:PATH".to_owned()))?;
    let path = directory.join("snowmint.db");
    let warning = refuse_default_database(&path, Environment::of_process().place)
        .map_err(|error| Exit::Wrong(error.to_string()))?;
    std::fs::create_dir_all(&directory).map_err(|error| {
        Exit::Failed(format!("{}: {error}; use --store URL for another place", directory.display()))
    })?;
    let path = path.to_str();
    let path =
        path.ok_or_else(|| Exit::Wrong("the home directory is not UTF-8: use --store sqlite:PATH".to_owned()))?;
    // The place is judged.
    let allowed = warning.as_ref().map_or("", |_| "?allow_unsafe=true");
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    Ok(format!("sqlite:{path}{allowed}"))
}
