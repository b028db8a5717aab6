//! Properties that only a store on etcd has.

use snowmint::ErrorKind;
use snowmint::stores::{WriteOutcome, connect};
use snowmint_tests::engines::{Engine, Server, shared};

use crate::faults;
use crate::scene::unique;

#[test]
fn confirmed_writes_outlive_kills() {
    faults::run(faults::confirmed_writes_outlive_kills(Engine::Etcd));
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    faults::run(faults::a_silent_server_is_given_up_in_time(Engine::Etcd));
}

#[test]
fn dropped_futures_are_harmless() {
    faults::run(faults::dropped_futures_are_harmless(Engine::Etcd));
}

#[test]
fn a_server_that_was_away_is_found_again() {
    faults::run(faults::a_server_that_was_away_is_found_again(Engine::Etcd));
}

#[test]
fn a_list_of_several_pages_has_every_record_once() {
    faults::run(async {
        let server = shared(Engine::Etcd);
        let url = format!("{}?prefix={}", server.url(), unique("pages"));
        let store = connect(&url).await.expect("it connects");
        for number in 0..1205 {
            assert!(matches!(store.write(&format!("pages/{number}"), b"x", 0).await, Ok(WriteOutcome::Version(_))));
        }
        for key in ["pages/1/deeper", "pages0/1", "pages-/1"] {
            assert!(matches!(store.write(key, b"x", 0).await, Ok(WriteOutcome::Version(_))));
        }
        let mut parts: Vec<u32> = Vec::new();
        for (part, _) in store.list("pages/").await.expect("an answer") {
            parts.push(part.parse().expect("a number"));
        }
        parts.sort_unstable();
        assert_eq!(parts, (0..1205).collect::<Vec<_>>());
    });
}

#[test]
fn a_wrong_password_is_reported_and_not_shown() {
    faults::run(async {
        let server = Server::start(Engine::Etcd);
        let port = server.port();
        for command in ["user add root:se/cret", "user grant-role root root", "auth enable"] {
            Engine::Etcd.client(port, command);
        }
        for (user, expected) in [("root:wrong-one@", "authentication failed"), ("", "user name is empty")] {
            let error = faults::refused(&format!("etcd://{user}127.0.0.1:{port}")).await;
            assert_eq!(error.kind(), ErrorKind::InvalidStore);
            let message = error.to_string();
            assert!(message.contains(&format!("etcd at 127.0.0.1:{port}")) && message.contains(expected), "{message}");
            assert!(!message.contains("wrong-one"), "{message}");
        }
        let store = connect(&format!("etcd://root:se%2Fcret@127.0.0.1:{port}")).await.expect("it connects");
        assert_eq!(store.add("c", 1, 4).await, Ok(5));
        assert_eq!(store.read("c").await, Ok(None));
    });
}

#[test]
fn one_answering_member_is_enough() {
    faults::run(async {
        let (port, prefix) = (shared(Engine::Etcd).port(), unique("members"));
        // No member listens at the first address.
        let url = format!("etcd://127.0.0.1:1,127.0.0.1:{port}?prefix={prefix}");
        let store = connect(&url).await.expect("it connects");
        for sum in 1..=20 {
            assert_eq!(store.add("c", 1, 0).await, Ok(sum));
        }
    });
}

#[test]
fn errors_name_the_fault_of_a_url() {
    faults::run(async {
        let port = shared(Engine::Etcd).port();
        let (invalid, away) = (ErrorKind::InvalidStore, ErrorKind::StoreUnavailable);
        for (kind, url, expected) in [
            (invalid, format!("etcd://127.0.0.1:{port}/path"), "prefix=NAME"),
            (invalid, format!("etcd://127.0.0.1:{port}?ca=/etc/hostname"), "etcds://"),
            (away, format!("etcds://127.0.0.1:{port}?timeout_ms=500"), "etcd at 127.0.0.1"),
            (away, format!("etcds://a_b c:{port}?timeout_ms=500"), "etcd at a_b c"),
            (away, "etcd://127.0.0.1:1?timeout_ms=500".to_owned(), "etcd at 127.0.0.1:1"),
        ] {
            let error = faults::refused(&url).await;
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    });
}
