//! Whether a server keeps what it confirms.

use std::collections::HashMap;

use ::redis::aio::MultiplexedConnection;
use ::redis::{ErrorKind, FromRedisValue, RedisError, ServerErrorKind, cmd};

use crate::error::Error;

/// A setting, what it has to be, and what to do about it.
const SETTINGS: [(&str, &str, &str); 3] = [
    ("appendonly", "yes", "set appendonly yes in redis.conf"),
    ("appendfsync", "always", "set appendfsync always in redis.conf"),
    // Writes are not synced while a child process rewrites the file, whatever appendfsync says.
    ("no-appendfsync-on-rewrite", "no", "set no-appendfsync-on-rewrite no in redis.conf"),
];

/// A line of `INFO`, what it has to say, and what to do about it.
const STATES: [(&str, &str, &str); 4] = [
    ("role", "master", "name the primary, one without replicas"),
    ("cluster_enabled", "0", "use a server of its own, outside of a cluster, whose failover loses writes"),
    ("connected_slaves", "0", "use a server without replicas, to which a failover loses writes"),
    ("aof_last_write_status", "ok", "make room on the server's disk"),
];

/// Refuses settings under which confirmed writes can be lost.
pub(super) async fn refuse_unsafe(connection: &mut MultiplexedConnection, name: &str) -> Result<(), Error> {
    let info: String = ask(connection, name, &["INFO"]).await?;
    let info: HashMap<_, _> = info.lines().filter_map(|line| line.split_once(':')).collect();
    for (setting, right, cure) in STATES {
        let found = info.get(setting).copied();
        if found != Some(right) {
            return Err(Error::unsafe_store(name, &told(":", setting, found, "INFO"), cure));
        }
    }
    for (setting, right, cure) in SETTINGS {
        let found = setting_of(connection, name, setting).await?;
        if found.as_deref() != Some(right) {
            return Err(Error::unsafe_store(name, &told(" ", setting, found.as_deref(), "CONFIG GET"), cure));
        }
    }
    let policy = setting_of(connection, name, "maxmemory-policy").await?;
    // The others evict only what has been given a time to live, which nothing of ours has.
    if policy.as_deref().is_none_or(|policy| policy.starts_with("allkeys-")) {
        let found = told(" ", "maxmemory-policy", policy.as_deref(), "CONFIG GET");
        return Err(Error::unsafe_store(name, &found, "set maxmemory-policy noeviction in redis.conf"));
    }
    Ok(())
}

fn told(between: &str, setting: &str, found: Option<&str>, source: &str) -> String {
    match found {
        Some(found) => format!("{setting}{between}{found}"),
        None => format!("{source} does not tell {setting}"),
    }
}

async fn setting_of(
    connection: &mut MultiplexedConnection,
    name: &str,
    setting: &str,
) -> Result<Option<String>, Error> {
    let mut found: HashMap<String, String> = ask(connection, name, &["CONFIG", "GET", setting]).await?;
    Ok(found.remove(setting))
}

/// What the server says; where it is not allowed to ask, that what matters is not known.
async fn ask<T: FromRedisValue>(
    connection: &mut MultiplexedConnection,
    name: &str,
    words: &[&str],
) -> Result<T, Error> {
    let mut command = cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(connection).await.map_err(|error| {
        if forbidden(&error) {
            let asked = words.join(" ");
            let found = format!("{asked} is refused ({error}), and without it nobody knows whether writes are synced");
            Error::unsafe_store(name, &found, "allow this user INFO and CONFIG GET")
        } else {
            Error::unavailable(name, error)
        }
    })
}

/// Whether the command is not allowed, or not there under its name; other refusals pass, such as while data are loaded.
fn forbidden(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(ServerErrorKind::NoPerm | ServerErrorKind::ResponseError))
}
