//! The KV bucket, a stream of `JetStream`: its configuration, the servers that hold it, and its clock.

use std::collections::HashMap;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{Context, RequestErrorKind};
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::{Config as StreamConfig, DiscardPolicy, StorageType};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::store::Version;

/// The server's answer about the stream of a bucket.
#[derive(Debug, Deserialize)]
pub(super) struct Info {
    config: Config,
    cluster: Option<Cluster>,
    #[serde(default)]
    state: State,
    /// The server's clock, RFC 3339. Servers before 2.10 do not send it.
    pub(super) ts: Option<String>,
    #[serde(default)]
    total: usize,
}

#[derive(Debug, Deserialize)]
struct Config {
    storage: String,
    discard: String,
    #[serde(default)]
    max_age: i64,
    persist_mode: Option<String>,
    mirror: Option<Mirror>,
    #[serde(default)]
    allow_direct: bool,
}

#[derive(Debug, Deserialize)]
struct Mirror {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Cluster {
    leader: Option<String>,
    #[serde(default)]
    replicas: Vec<Replica>,
}

#[derive(Debug, Deserialize)]
struct Replica {
    name: String,
    #[serde(default)]
    current: bool,
    #[serde(default)]
    offline: bool,
}

#[derive(Debug, Default, Deserialize)]
struct State {
    #[serde(default)]
    subjects: HashMap<String, u64>,
    #[serde(default)]
    last_seq: Version,
}

/// The subjects of a list.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    pub(super) names: Vec<String>,
    /// The newest revision of the bucket.
    pub(super) newest: Version,
    /// Whether the servers read many values by one request.
    pub(super) batches: bool,
}

/// A server of the bucket.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: String,
    /// Whether it confirms writes at the moment.
    pub(super) confirms: bool,
}

impl Info {
    /// Returns the value of a setting of core's table.
    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        let Config { storage, discard, max_age, persist_mode, mirror, allow_direct: _ } = &self.config;
        let mut settings =
            vec![("storage", storage.clone()), ("discard", discard.clone()), ("max_age", max_age.to_string())];
        settings.extend(persist_mode.clone().map(|mode| ("persist_mode", mode)));
        settings.extend(mirror.as_ref().map(|mirror| ("mirror", mirror.name.clone())));
        settings
    }

    /// Returns the servers of the bucket, the leader first. A server before 2.10 that is alone does not name itself, so it is
    /// the server that answered.
    pub(super) fn servers(&self, answered: &str) -> Vec<Server> {
        let Some(Cluster { leader, replicas }) = &self.cluster else {
            return vec![Server { name: answered.to_owned(), confirms: true }];
        };
        let leader = leader.iter().map(|name| Server { name: name.clone(), confirms: true });
        // An unreachable replica confirms nothing until it has caught up.
        let replicas = replicas
            .iter()
            .map(|replica| Server { name: replica.name.clone(), confirms: replica.current && !replica.offline });
        leader.chain(replicas).collect()
    }
}

/// The bucket of a store.
#[derive(Debug)]
pub(super) struct Bucket {
    /// The name of its stream.
    pub(super) stream: String,
    /// The beginning of its subjects, with a dot at the end.
    subjects: String,
    /// Whether to make it if it is missing.
    pub(super) create: bool,
}

impl Bucket {
    /// Names a bucket. `None` for a name that no bucket can have.
    pub(super) fn new(name: &str, create: bool) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let fits = (1..=128).contains(&name.len()) && name.bytes().all(plain);
        fits.then(|| Self { stream: format!("KV_{name}"), subjects: format!("$KV.{name}."), create })
    }

    pub(super) fn subject(&self, key: &str) -> String {
        format!("{}{key}", self.subjects)
    }

    /// Asks the leader of the stream about it. `None` if the bucket does not exist.
    pub(super) async fn info(&self, store: &str, context: &Context) -> Result<Option<Info>, Error> {
        self.ask(store, context, &json!({})).await
    }

    /// Lists the subjects that have a value and match a pattern.
    pub(super) async fn subjects(&self, store: &str, context: &Context, pattern: &str) -> Result<Subjects, Error> {
        let mut found = Subjects::default();
        loop {
            let question = json!({ "subjects_filter": pattern, "offset": found.names.len() });
            let info = self.ask(store, context, &question).await?;
            let info = info.ok_or_else(|| self.missing(store))?;
            (found.newest, found.batches) = (info.state.last_seq, info.config.allow_direct);
            let before = found.names.len();
            found.names.extend(info.state.subjects.into_keys());
            if found.names.len() >= info.total || found.names.len() == before {
                return Ok(found);
            }
        }
    }

    async fn ask(&self, store: &str, context: &Context, question: &Value) -> Result<Option<Info>, Error> {
        let answer = context.request(format!("STREAM.INFO.{}", self.stream), question).await;
        let answer: Response<Info> = answer.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => {
                Error::invalid_store(store, "JetStream is off there, or this account may not use it").with_source(error)
            }
            _ => Error::of_driver(store, error),
        })?;
        match answer {
            Response::Ok(info) => Ok(Some(info)),
            Response::Err { error } if error.error_code() == ErrorCode::STREAM_NOT_FOUND => Ok(None),
            Response::Err { error } => Err(Error::of_driver(store, error)),
        }
    }

    /// Makes the bucket as other clients of NATS make theirs, on one server and without history.
    pub(super) async fn make(&self, store: &str, context: &Context) -> Result<Info, Error> {
        if !self.create {
            return Err(self.missing(store));
        }
        let made = context.create_stream(StreamConfig {
            name: self.stream.clone(),
            description: Some("nodes and numbers of snowmint".to_owned()),
            subjects: vec![format!("{}>", self.subjects)],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            num_replicas: 1,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..StreamConfig::default()
        });
        // Another process may have made it meanwhile, and perhaps otherwise.
        let refused = made.await.err();
        match (self.info(store, context).await?, refused) {
            (Some(info), _) => Ok(info),
            (None, Some(error)) => Err(Error::of_driver(store, error)),
            (None, None) => Err(self.missing(store)),
        }
    }

    fn missing(&self, store: &str) -> Error {
        let stream = &self.stream;
        Error::invalid_store(
            store,
            format_args!("there is no bucket (stream {stream}): make it, or let create be true"),
        )
    }
}
