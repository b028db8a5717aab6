//! Settings that decide whether the servers of a bucket keep confirmed writes.

use std::collections::HashMap;

use futures_util::future::join_all;
use snowmint_core::durability::Engine;

use super::bucket::{Info, Server};
use super::monitor::{self, Monitors};
use crate::engines::settings;
use crate::error::Error;

/// What to do if a server does not report its settings.
const CURE: &str = "start each server with http_port (or -m PORT), and name all of them by the option \
                    monitor=http://HOST:PORT,http://HOST:PORT";

/// Refuses a bucket, or a server of the bucket, that can lose confirmed writes.
///
/// Every server that reports its settings is judged, and every server that confirms writes has to report them.
pub(super) async fn check(
    store: &str,
    info: &Info,
    servers: &[Server],
    monitors: &Monitors,
) -> Result<Option<Error>, Error> {
    let (reports, silent) = ask(monitors).await;
    if !servers.iter().any(|server| server.confirms) {
        return Err(Error::unavailable(store, "the stream of the bucket has no leader at the moment"));
    }
    for Server { name: server, confirms } in servers {
        let Some(sync_interval) = reports.get(server) else {
            if !confirms {
                continue;
            }
            let silent = if silent.is_empty() { String::new() } else { format!(" ({})", silent.join("; ")) };
            let found = format!("no monitoring address reports the sync_interval of the server {server}{silent}");
            return Err(Error::unsafe_store(store, &found, CURE));
        };
        let mut found: HashMap<_, _> = info.settings().into_iter().collect();
        found.extend(sync_interval.clone().map(|value| ("sync_interval", value)));
        settings::check(store, Engine::Nats, |setting| found.get(setting).map(String::as_str))?;
    }
    Ok(None)
}

/// Reads the settings of the bucket, and a `sync_interval` of its servers: the value of the first server that does not
/// sync each write, otherwise `always`.
pub(super) async fn read(info: &Info, servers: &[Server], monitors: &Monitors) -> HashMap<String, String> {
    let (reports, _) = ask(monitors).await;
    let judged = servers.iter().filter(|server| server.confirms || reports.contains_key(&server.name));
    let mut intervals = judged.map(|server| reports.get(&server.name).cloned().flatten());
    let always = Some("always".to_owned());
    let interval = intervals.find(|interval| *interval != always).unwrap_or(always);
    let mut found: HashMap<_, _> = info.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    found.extend(interval.map(|interval| ("sync_interval".to_owned(), interval)));
    found
}

/// Asks each monitoring address. Returns the `sync_interval` of each server by its name, and the reasons of missing answers.
async fn ask(Monitors { urls, timeout }: &Monitors) -> (HashMap<String, Option<String>>, Vec<String>) {
    let (mut reports, mut silent) = (HashMap::new(), Vec::new());
    for answer in join_all(urls.iter().map(|url| monitor::report(url.clone(), *timeout))).await {
        match answer {
            Ok(report) => drop(reports.insert(report.name, report.sync_interval)),
            Err(why) => silent.push(why),
        }
    }
    (reports, silent)
}
