//! A store with a wrong configuration fails with `INVALID_STORE`, which never passes by itself. A store without an
//! answer fails with `STORE_UNAVAILABLE`.

use snowmint::ErrorKind;
use snowmint_tests::engines::{Engine, Server, shared, with_option};

use crate::sql_scenes::{assert_says, refused, run};

/// Each URL is refused for good, by a message with these words.
fn are_invalid<const N: usize>(urls: [(&str, &str); N]) {
    run(async {
        for (url, word) in urls {
            assert_says(&refused(url).await, ErrorKind::InvalidStore, &[word]);
        }
    });
}

#[test]
fn a_url_of_no_store_is_invalid() {
    are_invalid([
        ("oracle://db", "no such store"),
        ("db", "a store needs a URL"),
        ("redis://db?timeout_ms=0", "timeout_ms"),
        ("redis:db", "two slashes"),
        ("file:", "needs a directory"),
        ("sqlite:/nowhere/at/all/x.db", "does not exist"),
    ]);
    run(async {
        let away = refused("redis://127.0.0.1:1").await;
        assert_says(&away, ErrorKind::StoreUnavailable, &["127.0.0.1:1"]);
    });
}

#[test]
fn an_unknown_role_or_database_of_postgres_is_invalid() {
    let shared = shared(Engine::Postgres);
    let url = shared.url();
    let (server, _) = url.rsplit_once('/').expect("a database");
    are_invalid([
        (&url.replace("postgres@", "nobody@"), "nobody"),
        (&format!("{server}/nothing"), "nothing"),
        (&with_option(url, "sslmode=wrong"), "ssl_mode"),
    ]);
}

#[test]
fn an_unknown_user_or_database_of_mariadb_is_invalid() {
    let shared = shared(Engine::Mariadb);
    let url = shared.url();
    let (server, _) = url.rsplit_once('/').expect("a database");
    are_invalid([(&url.replace("root@", "nobody:x@"), "nobody"), (&format!("{server}/nothing"), "nothing")]);
}

#[test]
fn a_wrong_database_of_redis_is_invalid() {
    let server = Server::start(Engine::Redis);
    are_invalid([(&format!("{}/9999", server.url().trim_end_matches('/')), "out of range")]);
}
