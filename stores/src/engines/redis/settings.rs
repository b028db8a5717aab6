//! Settings that decide whether a server keeps confirmed writes.

use std::collections::HashMap;

use ::redis::aio::MultiplexedConnection;
use ::redis::{ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ServerErrorKind, Value, pipe};
use snowmint_core::durability::Engine;

use crate::engines::settings;
use crate::error::Error;
use crate::scripts::REDIS_LOOK;

/// Adds the commands of a look to a pipeline.
pub(super) fn look(pipeline: &mut Pipeline) {
    for line in REDIS_LOOK.lines() {
        for (at, word) in line.split(' ').enumerate() {
            if at == 0 {
                pipeline.cmd(word)
            } else {
                pipeline.arg(word)
            };
        }
    }
}

/// Sends a look alone.
pub(super) async fn ask(connection: &mut MultiplexedConnection, name: &str) -> Result<Vec<RedisResult<Value>>, Error> {
    let mut questions = pipe();
    look(&mut questions);
    questions.ignore_errors().query_async(connection).await.map_err(|error| Error::of_driver(name, error))
}

/// Refuses settings that can lose confirmed writes. Returns a setting by which a failover could lose them.
pub(super) fn judge(answers: impl Iterator<Item = RedisResult<Value>>, name: &str) -> Result<Option<Error>, Error> {
    let found = read(answers, name)?;
    let value = |setting: &str| found.get(setting).map(String::as_str);
    settings::check(name, Engine::Redis, value)
}

/// Reads the settings from the answers to a look.
pub(super) fn read(
    mut answers: impl Iterator<Item = RedisResult<Value>>,
    name: &str,
) -> Result<HashMap<String, String>, Error> {
    // The client has the server's own address, not a Sentinel's.
    let mut found = HashMap::from([("sentinel".to_owned(), "no".to_owned())]);
    for line in REDIS_LOOK.lines() {
        if line == "INFO" {
            let info: String = decode(name, line, answers.next())?;
            found.extend(info.lines().filter_map(|line| line.split_once(':')).map(owned));
        } else {
            found.extend(decode::<HashMap<String, String>>(name, line, answers.next())?);
        }
    }
    Ok(found)
}

fn owned((setting, value): (&str, &str)) -> (String, String) {
    (setting.to_owned(), value.to_owned())
}

/// Decodes an answer. `UnsafeStore` if the server forbids the question.
fn decode<T: FromRedisValue>(name: &str, asked: &str, answer: Option<RedisResult<Value>>) -> Result<T, Error> {
    let answer = answer.ok_or_else(|| Error::unavailable(name, format_args!("no answer to {asked}")))?;
    answer.and_then(|value| T::from_redis_value(value).map_err(Into::into)).map_err(|error| {
        if forbidden(&error) {
            let found = format!("{asked} is refused ({error}), so the server does not show whether writes are synced");
            Error::unsafe_store(name, &found, "allow this user INFO and CONFIG GET")
        } else {
            Error::of_driver(name, error)
        }
    })
}

/// Returns whether the user may not send the command, or the server has renamed it. Other refusals are temporary: the server
/// loads its data, or has too many clients.
fn forbidden(error: &RedisError) -> bool {
    let has_too_many_clients = error.detail().is_some_and(|detail| detail.starts_with("max number of clients"));
    !has_too_many_clients
        && matches!(error.kind(), ErrorKind::Server(ServerErrorKind::NoPerm | ServerErrorKind::ResponseError))
}

#[cfg(test)]
mod tests {
    use super::{RedisError, forbidden};

    #[test]
    fn a_server_with_too_many_clients_is_not_unsafe() {
        let refused = |line: &str| {
            let parsed = redis::parse_redis_value(format!("-{line}\r\n").as_bytes());
            let error: RedisError = parsed.and_then(redis::Value::extract_error).expect_err("an error");
            forbidden(&error)
        };
        assert!(refused("NOPERM this user has no permissions to run the 'config|get' command"));
        assert!(refused("ERR unknown command 'CONFIG', with args beginning with: 'GET'"));
        assert!(!refused("ERR max number of clients reached"));
        assert!(!refused("LOADING Redis is loading the dataset in memory"));
    }
}
