//! Properties that only a store on NATS has.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use serde_json::{Value, json};
use snowmint::ErrorKind;
use snowmint::stores::{WriteOutcome, connect};
use snowmint_tests::engines::{Engine, Server, shared, with_option};
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::faults;
use crate::scene::unique;
use crate::sql_scenes::until_safe;

/// How long a cluster may take to choose a leader.
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn confirmed_writes_outlive_kills() {
    faults::run(faults::confirmed_writes_outlive_kills(Engine::Nats));
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    faults::run(faults::a_silent_server_is_given_up_in_time(Engine::Nats));
}

#[test]
fn dropped_futures_are_harmless() {
    faults::run(faults::dropped_futures_are_harmless(Engine::Nats));
}

#[test]
fn a_server_that_was_away_is_found_again() {
    faults::run(faults::a_server_that_was_away_is_found_again(Engine::Nats));
}

#[test]
fn a_server_that_does_not_sync_each_write_is_refused() {
    faults::run(async {
        for (engine, line, found) in [
            (Engine::Nats, "jetstream { sync_interval: 30s }", "sync_interval=30s,"),
            (Engine::Nats, "jetstream: enabled", "sync_interval=120s,"),
            // Debian's server does not know the setting.
            (Engine::Nats29, "", "sync_interval is not reported,"),
        ] {
            let server = Server::start_with(engine, &[line]);
            let error = faults::refused(&server.url()).await;
            assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{error}");
            let message = error.to_string();
            assert!(message.contains(found) && message.contains("sync_interval: always"), "{message}");
            assert!(message.contains("nats-server 2.10"), "{message}");
            let store = connect(&with_option(&server.url(), "allow_unsafe=true")).await.expect("it is allowed");
            let settings = store.settings().await.expect("an answer").expect("settings");
            let interval = settings.values.iter().find(|(name, _)| name == "sync_interval");
            let shown = interval
                .map_or("sync_interval is not reported,".to_owned(), |(name, value)| format!("{name}={value},"));
            assert_eq!(shown, found);
            assert!(matches!(store.write("a/b", b"x", 0).await, Ok(WriteOutcome::Version(_))));
            assert_eq!(store.list("a/").await.expect("an answer").len(), 1);
            assert_eq!(store.add("c", 2, 5).await, Ok(7));
        }
    });
}

#[test]
fn settings_that_nobody_reports_are_refused() {
    faults::run(async {
        let (server, other) = (Server::start(Engine::Nats), Server::start(Engine::Nats));
        let (port, monitor, others) = (server.port(), server.second_port(), other.second_port());
        for (option, expected) in [
            (String::new(), "127.0.0.1:8222"),
            // A port without a monitor, and the monitoring port of another server.
            (format!("?monitor=http://127.0.0.1:{port}"), "http://127.0.0.1:"),
            (format!("?monitor=http://127.0.0.1:{others}"), "no monitoring address reports"),
            (format!("?monitor=http://127.0.0.1:{monitor}/nowhere"), "404"),
        ] {
            let error = faults::refused(&format!("nats://127.0.0.1:{port}/ids{option}")).await;
            assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{error}");
            let message = error.to_string();
            assert!(message.contains(expected) && message.contains("http_port"), "{message}");
        }
        let both = format!("monitor=http://127.0.0.1:{others},http://127.0.0.1:{monitor}");
        let store = connect(&format!("nats://127.0.0.1:{port}/ids?{both}")).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        let error = faults::refused(&format!("nats://127.0.0.1:{port}?monitor=127.0.0.1:{monitor}")).await;
        assert_eq!(error.kind(), ErrorKind::InvalidStore, "{error}");
        assert!(error.to_string().contains("http://HOST:PORT"), "{error}");
    });
}

#[test]
fn a_server_that_returns_with_another_interval_is_refused() {
    faults::run(async {
        let mut server = Server::start(Engine::Nats);
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        block_in_place(|| {
            server.kill();
            server.set_options(&["jetstream { sync_interval: 120s }"]);
            server.restart();
        });
        let error = loop {
            let error = store.add("c", 1, 0).await.expect_err("unsafe");
            if error.kind() == ErrorKind::UnsafeStore {
                break error;
            }
            sleep(Duration::from_millis(10)).await;
        };
        assert!(error.to_string().contains("sync_interval=120s"), "{error}");
        block_in_place(|| {
            server.set_options(&[]);
            server.restart();
        });
        assert_eq!(until_safe(|| store.add("c", 1, 0)).await, 2);
    });
}

/// Asks `JetStream` until it accepts the request, as a cluster first needs a leader.
async fn accepted(context: &Context, subject: &str, request: &Value) -> Value {
    let begun = Instant::now();
    loop {
        let answer: Result<Value, _> = context.request(subject.to_owned(), request).await;
        match answer {
            Ok(answer) if answer.get("error").is_none() => return answer,
            other => assert!(begun.elapsed() < TIMEOUT, "{subject}: {other:?}"),
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[test]
fn each_server_of_a_cluster_has_to_sync() {
    faults::run(async {
        // All are bound at a time, so that they differ, and are free after that.
        let bound: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let ports: Vec<_> = bound.iter().map(|port| port.local_addr().expect("an address").port()).collect();
        drop(bound);
        let routes: Vec<_> = ports.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let lines = |name: usize| {
            let (port, routes) = (ports[name], routes.join(", "));
            [
                format!("server_name: s{name}"),
                format!("cluster {{ name: c, listen: \"127.0.0.1:{port}\", routes: [{routes}] }}"),
            ]
        };
        let mut servers: Vec<_> = (0..3)
            .map(|name| {
                let [own, cluster] = lines(name);
                let careless = if name == 2 { "jetstream { sync_interval: 30s }" } else { "" };
                Server::start_with(Engine::Nats, &[&own, &cluster, careless])
            })
            .collect();
        let hosts: Vec<_> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port())).collect();
        let monitors: Vec<_> =
            servers.iter().map(|server| format!("http://127.0.0.1:{}", server.second_port())).collect();
        let client = async_nats::connect(format!("nats://{}", hosts[0])).await.expect("it connects");
        let context = async_nats::jetstream::new(client);
        let bucket = json!({
            "name": "KV_ids", "subjects": ["$KV.ids.>"], "storage": "file", "retention": "limits", "discard": "new",
            "max_msgs_per_subject": 1, "num_replicas": 3, "max_age": 0,
        });
        accepted(&context, "STREAM.CREATE.KV_ids", &bucket).await;
        // A replica that has just joined confirms nothing.
        let begun = Instant::now();
        let current = |info: &Value| {
            info["cluster"]["replicas"].as_array().is_some_and(|replicas| {
                replicas.len() == 2 && replicas.iter().all(|replica| replica["current"] == true)
            })
        };
        while !current(&accepted(&context, "STREAM.INFO.KV_ids", &json!({})).await) {
            assert!(begun.elapsed() < TIMEOUT, "the replicas do not catch up");
            sleep(Duration::from_millis(50)).await;
        }
        let url = |monitors: &[String]| format!("nats://{}/ids?monitor={}", hosts.join(","), monitors.join(","));
        for (monitors, expected) in
            [(&monitors[..], "sync_interval=30s"), (&monitors[..2], "sync_interval of the server s2")]
        {
            let error = faults::refused(&url(monitors)).await;
            assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        block_in_place(|| {
            let [own, cluster] = lines(2);
            servers[2].set_options(&[&own, &cluster]);
            servers[2].restart();
        });
        let url = url(&monitors);
        let store = until_safe(|| connect(&url)).await;
        assert_eq!(until_safe(|| store.add("c", 1, 0)).await, 1);
        let leader = accepted(&context, "STREAM.INFO.KV_ids", &json!({})).await["cluster"]["leader"].clone();
        let leader: usize = leader.as_str().and_then(|name| name[1..].parse().ok()).expect("a leader");
        block_in_place(|| servers[leader].kill());
        // Another server takes over without the one that was killed.
        let sum = until_safe(|| store.add("c", 1, 0)).await;
        assert!(sum > 1, "no confirmed addition is lost: {sum}");
        block_in_place(|| servers[leader].restart());
        assert!(until_safe(|| store.add("c", 1, 0)).await > sum);
    });
}

#[test]
fn a_bucket_that_loses_records_is_refused() {
    faults::run(async {
        let server = shared(Engine::Nats);
        let client = async_nats::connect(format!("nats://127.0.0.1:{}", server.port())).await.expect("it connects");
        let context = async_nats::jetstream::new(client);
        let name = unique("bucket");
        let bucket = |more: Value| {
            let mut config = json!({
                "name": format!("KV_{name}"), "subjects": [format!("$KV.{name}.>")], "storage": "file", "retention": "limits",
                "discard": "new", "max_msgs_per_subject": 1, "num_replicas": 1, "max_age": 0,
            });
            config.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            config
        };
        let url = server.url().replace("/ids?", &format!("/{name}?"));
        for (more, expected) in [
            (json!({ "storage": "memory" }), "storage=memory, the bucket is in memory"),
            (json!({ "max_age": 3_600_000_000_000_i64 }), "max_age=3600000000000 ns, records expire"),
            (json!({ "discard": "old" }), "discard=old, a full bucket drops records"),
            (json!({ "persist_mode": "async" }), "persist_mode=async"),
        ] {
            let made: Value =
                context.request(format!("STREAM.CREATE.KV_{name}"), &bucket(more)).await.expect("an answer");
            assert!(made.get("error").is_none(), "{made}");
            let error = faults::refused(&url).await;
            assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{error}");
            assert!(error.to_string().contains(expected), "{error}");
            context.delete_stream(format!("KV_{name}")).await.expect("it is deleted");
        }
        let error = faults::refused(&with_option(&url, "create=false")).await;
        assert_eq!(error.kind(), ErrorKind::InvalidStore, "{error}");
        assert!(error.to_string().contains(&format!("there is no bucket (stream KV_{name})")), "{error}");
        let made: Value =
            context.request(format!("STREAM.CREATE.KV_{name}"), &bucket(json!({}))).await.expect("an answer");
        assert!(made.get("error").is_none(), "{made}");
        let store = connect(&with_option(&url, "create=false")).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
    });
}

#[test]
fn a_deleted_key_has_no_record_and_takes_a_new_one() {
    faults::run(async {
        let server = shared(Engine::Nats);
        let prefix = unique("deleted");
        let store = connect(&with_option(server.url(), &format!("prefix={prefix}"))).await.expect("it connects");
        let Ok(WriteOutcome::Version(first)) = store.write("a/b", b"x", 0).await else { panic!("it is written") };
        let client = async_nats::connect(format!("nats://127.0.0.1:{}", server.port())).await.expect("it connects");
        let context = async_nats::jetstream::new(client);
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("KV-Operation", "DEL");
        let subject = format!("$KV.ids.{prefix}.records.a.b");
        context
            .publish_with_headers(subject, headers, "".into())
            .await
            .expect("it is sent")
            .await
            .expect("it is deleted");
        assert_eq!((store.read("a/b").await, store.list("a/").await), (Ok(None), Ok(vec![])));
        assert_eq!(store.write("a/b", b"y", first).await, Ok(WriteOutcome::Conflict));
        let Ok(WriteOutcome::Version(second)) = store.write("a/b", b"y", 0).await else { panic!("it is written") };
        assert_ne!(second, first);
        assert_eq!(store.write("a/b", b"z", 0).await, Ok(WriteOutcome::Conflict));
    });
}

#[test]
fn a_list_of_many_records_has_each_once() {
    faults::run(async {
        let server = shared(Engine::Nats);
        let client = async_nats::connect(format!("nats://127.0.0.1:{}", server.port())).await.expect("it connects");
        let context = async_nats::jetstream::new(client);
        // Whether the servers read many values by one request.
        for allow_direct in [true, false] {
            let name = unique("many");
            let bucket = json!({
                "name": format!("KV_{name}"), "subjects": [format!("$KV.{name}.>")], "storage": "file", "retention": "limits",
                "discard": "new", "max_msgs_per_subject": 1, "num_replicas": 1, "allow_direct": allow_direct,
            });
            accepted(&context, &format!("STREAM.CREATE.KV_{name}"), &bucket).await;
            let store = connect(&server.url().replace("/ids?", &format!("/{name}?"))).await.expect("it connects");
            let keys: Vec<_> = (0..1005).map(|number| format!("many/{number}")).collect();
            let others = ["many/1/deeper", "many0/1", "many-/1"].map(str::to_owned);
            let mut sent = Vec::new();
            for key in keys.iter().chain(&others) {
                let subject = format!("$KV.{name}.snowmint.records.{}", key.replace('/', "."));
                sent.push(context.publish(subject, key.clone().into()).await.expect("it is sent"));
            }
            for one in sent {
                one.await.expect("it is written");
            }
            let mut listed = store.list("many/").await.expect("an answer");
            for (part, found) in listed.iter().take(20) {
                let key = format!("many/{part}");
                assert_eq!(found.value, key.as_bytes());
                assert_eq!(store.read(&key).await, Ok(Some(found.clone())));
            }
            listed.sort_by_key(|(part, _)| part.parse::<u32>().expect("a number"));
            let parts: Vec<_> = listed.into_iter().map(|(part, _)| format!("many/{part}")).collect();
            assert_eq!(parts, keys);
        }
    });
}

#[test]
fn passwords_and_tokens_are_sent_and_not_shown() {
    faults::run(async {
        let users = "authorization { users: [{ user: app, password: \"se/cret\" }] }";
        let token = "authorization { token: \"se/cret\" }";
        for (line, right) in [(users, "app:se%2Fcret@"), (token, "se%2Fcret@")] {
            let server = Server::start_with(Engine::Nats, &[line]);
            for wrong in ["app:wrong-one@", "wrong-one@", ""] {
                let error = faults::refused(&server.url().replacen("//127", &format!("//{wrong}127"), 1)).await;
                assert_eq!(error.kind(), ErrorKind::InvalidStore, "{error}");
                let message = error.to_string();
                assert!(message.contains("NATS at 127.0.0.1") && message.contains("authorization"), "{message}");
                assert!(!message.contains("wrong-one"), "{message}");
            }
            let url = server.url().replacen("//127", &format!("//{right}127"), 1);
            let store = connect(&url).await.expect("it connects");
            assert_eq!(store.add("c", 1, 0).await, Ok(1));
        }
    });
}

#[test]
fn tls_is_checked_against_the_authority_that_is_named() {
    faults::run(async {
        let certificates = faults::certificates();
        let at = certificates.path().display().to_string();
        let tls = format!("tls {{ cert_file: \"{at}/s.pem\", key_file: \"{at}/s.key\" }}");
        let server = Server::start_with(Engine::Nats, &[&tls]);
        let url = server.url().replace("nats:", "natss:");
        let store = connect(&with_option(&url, &format!("ca={at}/ca.pem"))).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        let error = faults::refused(&url).await;
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!(error.to_string().to_lowercase().contains("certificate"), "{error}");
    });
}

#[test]
fn errors_name_the_fault_of_a_url() {
    faults::run(async {
        let port = shared(Engine::Nats).port();
        for (url, expected) in [
            (format!("nats://127.0.0.1:{port}/a/b"), "the name of a bucket"),
            (format!("nats://127.0.0.1:{port}?ca=/etc/hostname"), "natss://"),
            (format!("natss://127.0.0.1:{port}?ca=/etc/hostname"), "no certificate in PEM"),
            (format!("nats://127.0.0.1:{port}?monitors=x"), "no option monitors"),
            ("nats://127.0.0.1:1?timeout_ms=500".to_owned(), "NATS at 127.0.0.1:1"),
        ] {
            let error = faults::refused(&url).await;
            let is_away = url.contains("127.0.0.1:1?");
            assert_eq!(
                error.kind(),
                if is_away { ErrorKind::StoreUnavailable } else { ErrorKind::InvalidStore },
                "{error}"
            );
            assert!(error.to_string().contains(expected), "{error}");
        }
    });
}
