//! `snowmint doctor` on real servers: its findings, and that it claims no node.

use snowmint::host::doctor::{Facts, Finding, Level};
use snowmint::host::{Environment, doctor};
use snowmint::stores::connect;
use snowmint::{LeaseOptions, Snowflake};
use snowmint_tests::engines::{Engine, Server, shared, shared_database};

use crate::scene::{directory, unique};
use crate::sql_scenes::run;

/// Examines a store. Returns whether no finding is an error, and the findings.
fn examine(options: LeaseOptions) -> (bool, Vec<Finding>) {
    let found = doctor::examine(options, &Environment::default());
    (found.iter().all(|finding| finding.level != Level::Error), found)
}

fn over(url: &str, namespace: &str) -> LeaseOptions {
    LeaseOptions::new().store(url).namespace(namespace)
}

/// Returns level and message of all findings about a topic.
fn about<'a>(found: &'a [Finding], topic: &str) -> Vec<(Level, &'a str)> {
    found.iter().filter(|each| each.topic == topic).map(|each| (each.level, each.message.as_str())).collect()
}

/// Returns the node that a claim gets, and how many nodes are free.
fn node(found: &[Finding]) -> (Option<u32>, u64) {
    let nodes = found.iter().find_map(|each| match each.facts {
        Facts::Nodes { node, free, .. } => Some((node, free)),
        _ => None,
    });
    nodes.expect("a finding about nodes")
}

#[test]
fn a_doctor_finds_nothing_wrong_with_shared_servers_and_claims_nothing() {
    for engine in Engine::STORES {
        let (server, namespace) = (shared(engine), unique("doctor"));
        for _ in 0..2 {
            let (is_well, found) = examine(over(server.url(), &namespace));
            assert!(is_well, "{engine:?}: {found:?}");
            let [(level, message)] = about(&found, "namespace")[..] else { panic!("one namespace: {found:?}") };
            assert!(
                level == Level::Ok && message.ends_with(" is new: the first claim writes its layout down"),
                "{engine:?}: {message}"
            );
            assert_eq!(node(&found), (Some(0), 1024), "{engine:?}");
        }
        let clock = about(&examine(over(server.url(), &namespace)).1, "clock")[0].1.to_owned();
        let has_clock = !matches!(engine, Engine::Etcd | Engine::Zookeeper);
        assert_eq!(clock.contains("of the store's") || clock.contains("behind the store's"), has_clock, "{clock}");
    }
}

#[test]
fn a_doctor_sees_holders() {
    let server = shared_database(Engine::Postgres);
    let url = server.url();
    let holder = Snowflake::lease(over(url, "doctor")).expect("a node");
    let (is_well, found) = examine(over(url, "doctor"));
    let [(_, message)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(is_well && message == "a claim gets node 1: 1,023 of 1,024 nodes are free, 1 is held", "{message}");
    let (is_well, found) = examine(over(url, "doctor").node(holder.node()));
    let [(level, message)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(is_well && level == Level::Warning && message.starts_with("node 0 is held until "), "{message}");
    assert!(message.contains("(its holder is "), "{message}");
    let (is_well, found) = examine(over(url, "doctor").layout(snowmint::layouts::TWITTER));
    let [(level, message)] = about(&found, "layout")[1..] else { panic!("{found:?}") };
    assert!(!is_well && level == Level::Error && message.contains("namespace doctor is of layout"), "{message}");
}

#[test]
fn a_doctor_names_every_setting_that_loses_writes() {
    let cured = Server::start_with(Engine::Postgres, &["-c", "synchronous_commit=off"]);
    let (is_well, found) = examine(over(&cured.url(), "doctor"));
    let [(level, message)] = about(&found, "durability")[..] else { panic!("{found:?}") };
    assert!(
        is_well && level == Level::Ok && message.contains("synchronous_commit=on"),
        "its own transactions wait: {message}"
    );

    let lossy = Server::start_with(Engine::Postgres, &["-c", "fsync=off", "-c", "full_page_writes=off"]);
    let (is_well, found) = examine(over(&lossy.url(), "doctor"));
    let message = about(&found, "durability");
    assert!(!is_well && message.len() == 2, "{message:?}");
    for ((level, message), setting) in message.iter().zip(["fsync=off, so ", "full_page_writes=off, so "]) {
        assert!(
            *level == Level::Error && message.starts_with(setting) && message.contains("allow_unsafe=true"),
            "{message}"
        );
    }
    let (is_well, found) = examine(over(&format!("{}?allow_unsafe=true", lossy.url()), "doctor"));
    assert!(is_well && about(&found, "durability").iter().all(|(level, _)| *level == Level::Warning), "{found:?}");

    let redis = Server::start_with(Engine::Redis, &["--appendonly", "no", "--appendfsync", "everysec"]);
    let (is_well, found) = examine(over(&redis.url(), "doctor"));
    let message: Vec<_> =
        about(&found, "durability").into_iter().map(|(level, message)| (level, &message[..13])).collect();
    assert!(!is_well, "{found:?}");
    assert_eq!(message, [(Level::Error, "appendonly=no"), (Level::Error, "appendfsync=e")]);

    let mariadb = Server::start_with(Engine::Mariadb, &["--innodb-flush-log-at-trx-commit=2"]);
    let (is_well, found) = examine(over(&mariadb.url(), "doctor"));
    let message = about(&found, "durability");
    assert!(!is_well && message[0].1.starts_with("innodb_flush_log_at_trx_commit=2, so "), "{message:?}");
}

#[test]
fn a_doctor_says_where_a_server_does_not_answer() {
    let mut server = Server::start(Engine::Redis);
    server.kill();
    let (is_well, found) = examine(over(&server.url(), "doctor"));
    let [(level, message)] = about(&found, "store")[..] else { panic!("{found:?}") };
    assert!(!is_well && level == Level::Error && message.starts_with("Redis at "), "{message}");
}

#[test]
fn a_doctor_looks_at_records_that_vanished() {
    let place = directory();
    let url = format!("sqlite:{}?allow_unsafe=true", place.path().join("ids.db").display());
    drop(Snowflake::lease(over(&url, "doctor")).expect("a node"));
    run(async {
        let store = connect(&url).await.expect("it connects");
        let found = store.read("layouts/doctor").await.expect("read").expect("a record");
        let text = String::from_utf8(found.value).expect("text").replace("nodes=1", "nodes=2");
        store.write("layouts/doctor", text.as_bytes(), found.version).await.expect("written");
    });
    let (is_well, found) = examine(over(&url, "doctor"));
    let [(level, message)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(!is_well && level == Level::Error && message.contains("records have vanished from the store"), "{message}");
}

#[test]
fn a_doctor_makes_no_slots() {
    let place = directory();
    let slots = place.path().join("slots");
    let url = format!("file:{}?allow_unsafe=true", slots.display());
    assert!(examine(over(&url, "doctor")).0 && !slots.exists(), "the directory is not made");
    let holder = Snowflake::lease(over(&url, "doctor")).expect("a slot");
    let (is_well, found) = examine(over(&url, "doctor"));
    let [(_, message)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(is_well && message == "a claim gets node 1: 1,023 of 1,024 nodes are free, 1 is held", "{message}");
    let (_, found) = examine(over(&url, "doctor").node(holder.node()));
    assert_eq!(about(&found, "node")[0].0, Level::Warning);
    holder.close();
    assert_eq!(node(&examine(over(&url, "doctor")).1).0, Some(0));
}
