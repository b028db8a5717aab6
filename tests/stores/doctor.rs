//! `snowmint doctor` on real servers: what it finds, and that it claims nothing.

use serde_json::Value;
use snowmint::stores::connect;
use snowmint::{Environment, LeaseOptions, Snowflake, doctor};
use snowmint_inspect::render::Format;
use snowmint_tests::engines::{Engine, Server, shared, shared_database};

use crate::scene::{directory, unique};
use crate::sql_scenes::run;

/// Examines a store. Returns whether nothing must be mended, and the findings.
fn examine(options: LeaseOptions) -> (bool, Vec<Value>) {
    let mut text = String::new();
    let is_well = doctor::examine(options, &Environment::default(), &mut text, Format::Json).expect("a text");
    (is_well, text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

fn over(url: &str, namespace: &str) -> LeaseOptions {
    LeaseOptions::new().store(url).namespace(namespace)
}

/// Returns level and sentence of all findings about a topic.
fn about<'a>(found: &'a [Value], topic: &str) -> Vec<(&'a str, &'a str)> {
    let text = |finding: &'a Value, name: &str| finding[name].as_str().expect("a text");
    found.iter().filter(|each| each["topic"] == topic).map(|each| (text(each, "level"), text(each, "told"))).collect()
}

#[test]
fn a_doctor_finds_nothing_wrong_with_shared_servers_and_claims_nothing() {
    for engine in Engine::STORES {
        let (server, namespace) = (shared(engine), unique("doctor"));
        for _ in 0..2 {
            let (is_well, found) = examine(over(server.url(), &namespace));
            assert!(is_well, "{engine:?}: {found:?}");
            let [(level, told)] = about(&found, "namespace")[..] else { panic!("one namespace: {found:?}") };
            assert!(
                level == "ok" && told.ends_with(" is new: the first claim writes its layout down"),
                "{engine:?}: {told}"
            );
            let node = found.iter().find(|each| each["topic"] == "node").expect("a node");
            assert_eq!((&node["node"], &node["free"]), (&0.into(), &1024.into()), "{engine:?}");
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
    let [(_, told)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(is_well && told == "a claim gets node 1: 1,023 of 1,024 nodes are free, 1 is held", "{told}");
    let (is_well, found) = examine(over(url, "doctor").node(holder.node()));
    let [(level, told)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(is_well && level == "note" && told.starts_with("node 0 is held until "), "{told}");
    assert!(told.contains("(its holder is "), "{told}");
    let (is_well, found) = examine(over(url, "doctor").layout(snowmint::layouts::TWITTER));
    let [(level, told)] = about(&found, "layout")[1..] else { panic!("{found:?}") };
    assert!(!is_well && level == "mend" && told.contains("namespace doctor is of layout"), "{told}");
}

#[test]
fn a_doctor_names_every_setting_that_loses_writes() {
    let cured = Server::start_with(Engine::Postgres, &["-c", "synchronous_commit=off"]);
    let (is_well, found) = examine(over(&cured.url(), "doctor"));
    let [(level, told)] = about(&found, "durability")[..] else { panic!("{found:?}") };
    assert!(is_well && level == "ok" && told.contains("synchronous_commit=on"), "its own transactions wait: {told}");

    let lossy = Server::start_with(Engine::Postgres, &["-c", "fsync=off", "-c", "full_page_writes=off"]);
    let (is_well, found) = examine(over(&lossy.url(), "doctor"));
    let told = about(&found, "durability");
    assert!(!is_well && told.len() == 2, "{told:?}");
    for ((level, told), setting) in told.iter().zip(["fsync=off, so ", "full_page_writes=off, so "]) {
        assert!(*level == "mend" && told.starts_with(setting) && told.contains("allow_unsafe=true"), "{told}");
    }
    let (is_well, found) = examine(over(&format!("{}?allow_unsafe=true", lossy.url()), "doctor"));
    assert!(is_well && about(&found, "durability").iter().all(|(level, _)| *level == "note"), "{found:?}");

    let redis = Server::start_with(Engine::Redis, &["--appendonly", "no", "--appendfsync", "everysec"]);
    let (is_well, found) = examine(over(&redis.url(), "doctor"));
    let told: Vec<_> = about(&found, "durability").into_iter().map(|(level, told)| (level, &told[..13])).collect();
    assert!(!is_well, "{found:?}");
    assert_eq!(told, [("mend", "appendonly=no"), ("mend", "appendfsync=e")]);

    let mariadb = Server::start_with(Engine::Mariadb, &["--innodb-flush-log-at-trx-commit=2"]);
    let (is_well, found) = examine(over(&mariadb.url(), "doctor"));
    let told = about(&found, "durability");
    assert!(!is_well && told[0].1.starts_with("innodb_flush_log_at_trx_commit=2, so "), "{told:?}");
}

#[test]
fn a_doctor_says_where_a_server_does_not_answer() {
    let mut server = Server::start(Engine::Redis);
    server.kill();
    let (is_well, found) = examine(over(&server.url(), "doctor"));
    let [(level, told)] = about(&found, "store")[..] else { panic!("{found:?}") };
    assert!(!is_well && level == "mend" && told.starts_with("Redis at "), "{told}");
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
    let [(level, told)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(!is_well && level == "mend" && told.contains("records have vanished from the store"), "{told}");
}

#[test]
fn a_doctor_makes_no_slots() {
    let place = directory();
    let slots = place.path().join("slots");
    let url = format!("file:{}?allow_unsafe=true", slots.display());
    assert!(examine(over(&url, "doctor")).0 && !slots.exists(), "the directory is not made");
    let holder = Snowflake::lease(over(&url, "doctor")).expect("a slot");
    let (is_well, found) = examine(over(&url, "doctor"));
    let [(_, told)] = about(&found, "node")[..] else { panic!("{found:?}") };
    assert!(is_well && told == "a claim gets node 1: 1,023 of 1,024 nodes are free, 1 is held", "{told}");
    let (_, found) = examine(over(&url, "doctor").node(holder.node()));
    assert_eq!(about(&found, "node")[0].0, "note");
    drop(holder);
    assert_eq!(examine(over(&url, "doctor")).1.last().expect("a node")["node"], 0);
}
