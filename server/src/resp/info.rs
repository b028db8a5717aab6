//! The replies of `HELLO` and `INFO`: properties of the server.

use snowmint_core::shown::Shown;
use snowmint_stores::RecordStore as _;

use super::Resp;
use super::reply::Reply;

/// The Redis version that these answers follow.
const REDIS_VERSION: &str = "7.0.15";

/// Returns the reply to `HELLO`.
pub fn hello(resp3: bool) -> Reply {
    let text = |text: &str| Reply::Bulk(text.as_bytes().to_vec());
    Reply::Map(vec![
        ("server", text("snowmint")),
        ("version", text(env!("CARGO_PKG_VERSION"))),
        ("proto", Reply::Integer(if resp3 { 3 } else { 2 })),
        ("id", Reply::Integer(0)),
        ("mode", text("standalone")),
        ("role", text("master")),
        ("modules", Reply::Empty),
    ])
}

/// Returns the reply to `INFO`.
pub fn info(shared: &Resp) -> Reply {
    let lines = [
        "# Server".to_owned(),
        format!("redis_version:{REDIS_VERSION}"),
        format!("snowmint_version:{}", env!("CARGO_PKG_VERSION")),
        "redis_mode:standalone".to_owned(),
        format!("process_id:{}", std::process::id()),
        format!("store:{}", Shown(shared.service.store.name())),
        String::new(),
        "# Clients".to_owned(),
        format!("connected_clients:{}", shared.metrics.redis.connections.get()),
        String::new(),
        "# Persistence".to_owned(),
        "loading:0".to_owned(),
        String::new(),
        "# Stats".to_owned(),
        format!("total_commands_processed:{}", shared.metrics.redis.requests.get()),
        String::new(),
        "# Replication".to_owned(),
        "role:master".to_owned(),
        String::new(),
    ];
    Reply::Bulk(lines.join("\r\n").into_bytes())
}
