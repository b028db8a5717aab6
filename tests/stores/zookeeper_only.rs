//! Properties that only a store on `ZooKeeper` has.

use snowmint::ErrorKind;
use snowmint::stores::{WriteOutcome, connect};
use snowmint_tests::engines::{Engine, shared};

use crate::faults;
use crate::scene::unique;

#[test]
fn confirmed_writes_outlive_kills() {
    faults::run(faults::confirmed_writes_outlive_kills(Engine::Zookeeper));
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    faults::run(faults::a_silent_server_is_given_up_in_time(Engine::Zookeeper));
}

#[test]
fn dropped_futures_are_harmless() {
    faults::run(faults::dropped_futures_are_harmless(Engine::Zookeeper));
}

#[test]
fn a_server_that_was_away_is_found_again() {
    faults::run(faults::a_server_that_was_away_is_found_again(Engine::Zookeeper));
}

#[test]
fn a_chroot_is_made_and_keeps_stores_apart() {
    faults::run(async {
        let (server, deep) = (shared(Engine::Zookeeper), unique("deep"));
        let (url, port) = (server.url(), server.port());
        let plain = connect(&format!("{url}?prefix={}", unique("plain"))).await.expect("it connects");
        // No server listens at the first address.
        let below = format!("zookeeper://127.0.0.1:1,127.0.0.1:{port}/{deep}/er");
        let below = connect(&below).await.expect("it connects");
        let other = connect(&format!("{url}/{deep}/er/?prefix=other")).await.expect("it connects");
        for store in [&plain, &below, &other] {
            assert_eq!(store.read("a/b").await, Ok(None));
            assert_eq!(store.list("a/").await, Ok(vec![]));
            assert!(matches!(store.write("a/b", b"x", 0).await, Ok(WriteOutcome::Version(_))));
            assert!(matches!(store.write("a", b"y", 0).await, Ok(WriteOutcome::Version(_))), "also a directory");
            assert!(matches!(store.write("a/b/c", b"z", 0).await, Ok(WriteOutcome::Version(_))));
            assert_eq!(store.add("a/b", 1, 0).await, Ok(1));
            assert_eq!(store.list("a/").await.expect("an answer").len(), 1);
        }
        let same = connect(&format!("{url}/{deep}/er")).await.expect("it connects");
        assert_eq!(same.read("a/b").await.expect("an answer").expect("a record").value, b"x");
    });
}

#[test]
fn errors_name_the_fault_of_a_url() {
    faults::run(async {
        for (url, expected) in [
            ("zookeeper://me:secret@127.0.0.1:1".to_owned(), "a user or password is not supported"),
            ("zookeeper://127.0.0.1:1?timeout_ms=500".to_owned(), "ZooKeeper at 127.0.0.1:1"),
            ("zookeeper://127.0.0.1:99999".to_owned(), "ZooKeeper at"),
            ("zookeeper://127.0.0.1:1?wrong=1".to_owned(), "no option wrong"),
            ("zookeepers://127.0.0.1:1".to_owned(), "TLS is not supported"),
        ] {
            let error = faults::refused(&url).await;
            let is_away = expected.starts_with("ZooKeeper at");
            assert_eq!(
                error.kind(),
                if is_away { ErrorKind::StoreUnavailable } else { ErrorKind::InvalidStore },
                "{error}"
            );
            assert!(error.to_string().contains(expected) && !error.to_string().contains("secret"), "{error}");
        }
    });
}

#[test]
fn a_key_that_no_node_can_have_is_an_error() {
    faults::run(async {
        let url = format!("{}?prefix={}", shared(Engine::Zookeeper).url(), unique("keys"));
        let store = connect(&url).await.expect("it connects");
        for key in ["a/.", "a/..", "../a"] {
            let error = store.write(key, b"x", 0).await.expect_err(key);
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        }
        assert!(matches!(store.write("x/y", b"x", 0).await, Ok(WriteOutcome::Version(_))), "it goes on");
    });
}
