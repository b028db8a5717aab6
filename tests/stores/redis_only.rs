//! Properties that only a store on Redis has.

use std::time::{Duration, Instant};

use snowmint::ErrorKind;
use snowmint::stores::{Error, WriteOutcome, connect};
use snowmint_tests::engines::{Engine, Server, shared_database};

use crate::faults;
use crate::sql_scenes::until_safe;

#[test]
fn confirmed_writes_outlive_kills() {
    faults::run(faults::confirmed_writes_outlive_kills(Engine::Redis));
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    faults::run(faults::a_silent_server_is_given_up_in_time(Engine::Redis));
}

#[test]
fn dropped_futures_are_harmless() {
    faults::run(faults::dropped_futures_are_harmless(Engine::Redis));
}

#[test]
fn a_server_that_was_away_is_found_again() {
    faults::run(faults::a_server_that_was_away_is_found_again(Engine::Redis));
}

#[test]
fn a_server_that_returns_with_unsafe_settings_is_refused() {
    faults::run(async {
        let server = Server::start(Engine::Redis);
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        Engine::Redis.client(server.port(), "CONFIG SET appendfsync everysec");
        Engine::Redis.client(server.port(), "CLIENT KILL TYPE normal");
        // The first call may use the killed connection.
        let is_unsafe = |error: &Error| error.kind() == ErrorKind::UnsafeStore;
        let begun = Instant::now();
        while !is_unsafe(&store.add("c", 1, 0).await.expect_err("unsafe")) {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is not found unsafe");
        }
        for _ in 0..3 {
            let error = store.add("c", 1, 0).await.expect_err("unsafe");
            assert!(is_unsafe(&error), "{error}");
        }
        Engine::Redis.client(server.port(), "CONFIG SET appendfsync always");
        assert_eq!(until_safe(|| store.add("c", 1, 0)).await, 2);
    });
}

#[test]
fn hidden_settings_and_wrong_passwords_are_refused_with_their_reason() {
    faults::run(async {
        let server = Server::start(Engine::Redis);
        let port = server.port();
        Engine::Redis.client(port, "ACL SETUSER app on >se/cret ~* +@all -config");
        Engine::Redis.client(port, "ACL SETUSER blind on >se/cret ~* +@all -info");
        for (user, command) in [("app", "CONFIG GET"), ("blind", "INFO")] {
            let url = format!("redis://{user}:se%2Fcret@127.0.0.1:{port}");
            let error = faults::refused(&url).await;
            assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{error}");
            assert!(error.to_string().contains(command) && error.to_string().contains("does not show"), "{error}");
            connect(&format!("{url}?allow_unsafe=true")).await.expect("it is allowed");
        }
        Engine::Redis.client(port, "ACL SETUSER default >geheim");
        Engine::Redis.client(port, "ACL SETUSER default resetpass >geheim");
        for (url, word) in [
            (format!("redis://app:wrong-one@127.0.0.1:{port}"), "WRONGPASS"),
            (format!("redis://127.0.0.1:{port}"), "NOAUTH"),
        ] {
            let error = faults::refused(&url).await;
            assert_eq!(error.kind(), ErrorKind::InvalidStore, "{error}");
            let message = error.to_string();
            assert!(
                message.contains(&format!("Redis at 127.0.0.1:{port}")) && !message.contains("wrong-one"),
                "{message}"
            );
            assert!(message.contains(word) || message.to_lowercase().contains("auth"), "{message}");
        }
        connect(&format!("redis://:geheim@127.0.0.1:{port}/3")).await.expect("a password, and a database");
    });
}

#[test]
fn foreign_values_at_our_keys_are_errors_and_stay() {
    faults::run(async {
        let server = shared_database(Engine::Redis);
        let store = connect(server.url()).await.expect("it connects");
        server.client("HSET snowmint:records:a b garbage");
        server.client("SET snowmint:counters:c garbage");
        server.client("SET snowmint:records:d garbage");
        for error in [
            store.read("a/b").await.map(drop).expect_err("no record"),
            store.list("a/").await.map(drop).expect_err("no record"),
            store.write("a/b", b"x", 0).await.map(drop).expect_err("no record"),
            store.write("d/e", b"x", 0).await.map(drop).expect_err("no hash"),
            store.add("c", 1, 0).await.map(drop).expect_err("no number"),
        ] {
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        }
        assert_eq!(server.client("HGET snowmint:records:a b").trim(), "garbage");
        assert_eq!(server.client("GET snowmint:counters:c").trim(), "garbage");
        assert!(matches!(store.write("x", b"y", 0).await, Ok(WriteOutcome::Version(_))), "it goes on");
    });
}

#[test]
fn tls_is_checked_against_the_authority_that_is_named() {
    faults::run(async {
        let certificates = faults::certificates();
        let at = certificates.path().display().to_string();
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let options = format!(
            "--tls-port {port} --tls-cert-file {at}/s.pem --tls-key-file {at}/s.key --tls-ca-cert-file {at}/ca.pem \
             --tls-auth-clients no"
        );
        let _server = Server::start_with(Engine::Redis, &options.split(' ').collect::<Vec<_>>());
        let store = connect(&format!("rediss://127.0.0.1:{port}?ca={at}/ca.pem")).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        let error = faults::refused(&format!("rediss://127.0.0.1:{port}")).await;
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!(error.to_string().to_lowercase().contains("certificate"), "{error}");
    });
}
