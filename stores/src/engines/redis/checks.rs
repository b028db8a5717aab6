//! Whether a server keeps what it confirms.

use std::collections::HashMap;

use ::redis::aio::MultiplexedConnection;
use ::redis::{ErrorKind, FromRedisValue, RedisError, ServerErrorKind, cmd};
use snowmint_core::durability::Engine;

use crate::error::Error;

/// Refuses settings under which confirmed writes can be lost.
pub(super) async fn refuse_unsafe(connection: &mut MultiplexedConnection, name: &str) -> Result<(), Error> {
    let info: String = ask(connection, name, &["INFO"]).await?;
    let mut found: HashMap<_, _> = info.lines().filter_map(|line| line.split_once(':')).map(owned).collect();
    for setting in Engine::Redis.settings() {
        if !found.contains_key(setting)
            && let Some(value) = setting_of(connection, name, setting).await?
        {
            found.insert(setting.to_owned(), value);
        }
    }
    Error::refuse_unsafe(name, Engine::Redis, |setting| found.get(setting).map(String::as_str))
}

fn owned((setting, value): (&str, &str)) -> (String, String) {
    (setting.to_owned(), value.to_owned())
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
