//! The verbs of a store.

use std::sync::Arc;
use std::time::SystemTime;

use snowmint::layouts::SNOWMINT;
use snowmint::stores::host::{Claimer, Leases, Namespace, Terms};
use snowmint::stores::{MAX_KEY_BYTES, MAX_VALUE_BYTES, Versioned, WriteOutcome};
use snowmint::{ErrorKind, Nodes};
use tokio::task::JoinSet;

use crate::scene::{Scene, unique};

pub async fn a_write_needs_the_version_that_was_read(scene: Arc<Scene>) {
    let (store, other) = (scene.connect().await, scene.connect().await);
    let key = format!("{}/a", unique("verbs"));
    assert_eq!(store.read(&key).await, Ok(None));
    assert_eq!(store.write(&key, b"x", 7).await, Ok(WriteOutcome::Conflict), "nothing is there");
    let Ok(WriteOutcome::Version(first)) = store.write(&key, b"one", 0).await else { panic!("it is written") };
    assert!(first > 0);
    assert_eq!(other.write(&key, b"x", 0).await, Ok(WriteOutcome::Conflict), "something is there");
    assert_eq!(other.read(&key).await, Ok(Some(Versioned::new(b"one", first))));
    let Ok(WriteOutcome::Version(second)) = other.write(&key, b"two", first).await else { panic!("it is written") };
    assert_ne!(first, second);
    assert_eq!(store.write(&key, b"three", first).await, Ok(WriteOutcome::Conflict), "that version is gone");
    assert_eq!(store.read(&key).await, Ok(Some(Versioned::new(b"two", second))));
    // A write of the same bytes makes a new version too.
    let Ok(WriteOutcome::Version(third)) = store.write(&key, b"two", second).await else { panic!("it is written") };
    assert_ne!(second, third);
    assert_eq!(other.write(&key, b"four", second).await, Ok(WriteOutcome::Conflict));
}

pub async fn exactly_one_of_many_concurrent_writers_succeeds(scene: Arc<Scene>) {
    let key = format!("{}/a", unique("verbs"));
    let mut version = 0;
    for round in 0..5_u8 {
        let mut writers = JoinSet::new();
        for writer in 0..8_u8 {
            let (scene, key) = (scene.clone(), key.clone());
            writers.spawn(async move {
                let store = scene.connect().await;
                store.write(&key, &[round, writer], version).await.map(|wrote| (writer, wrote))
            });
        }
        let outcomes: Vec<_> =
            writers.join_all().await.into_iter().map(|outcome| outcome.expect("an answer")).collect();
        let first: Vec<_> = outcomes.iter().filter(|(_, wrote)| *wrote != WriteOutcome::Conflict).collect();
        let [(writer, WriteOutcome::Version(written))] = first[..] else { panic!("one is first: {outcomes:?}") };
        let found = scene.connect().await.read(&key).await.expect("an answer").expect("a record");
        assert_eq!(found, Versioned::new(vec![round, *writer], *written));
        version = *written;
    }
}

pub async fn a_list_has_exactly_the_records_directly_under_its_prefix(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let name = unique("verbs");
    assert_eq!(store.list(&format!("{name}/")).await, Ok(vec![]));
    let mut wanted = Vec::new();
    for part in ["0", "1", "10", "%2F_", "a.b"] {
        let Ok(WriteOutcome::Version(version)) = store.write(&format!("{name}/{part}"), part.as_bytes(), 0).await
        else {
            panic!("it is written")
        };
        wanted.push((part.to_owned(), Versioned::new(part.as_bytes().to_vec(), version)));
    }
    // Wildcards of SQL and other languages are ordinary letters in a key.
    for key in [format!("{name}x/0"), format!("{name}/deeper/0"), format!("{}_/0", &name[..name.len() - 1])] {
        assert!(matches!(store.write(&key, b"no", 0).await, Ok(WriteOutcome::Version(_))), "{key}");
    }
    let mut found = store.list(&format!("{name}/")).await.expect("an answer");
    found.sort_by(|a, b| a.0.cmp(&b.0));
    wanted.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found, wanted);
}

pub async fn a_deep_list_has_every_record_below_its_prefix(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let name = unique("verbs");
    if let Some(empty) = store.list_below(&format!("{name}/")).await.expect("an answer") {
        assert_eq!(empty, vec![]);
    }
    let mut wanted = Vec::new();
    for part in ["0", "a.b/1", "a.b/10", "%2F_/%40x/2", "A/3"] {
        let Ok(WriteOutcome::Version(version)) = store.write(&format!("{name}/{part}"), part.as_bytes(), 0).await
        else {
            panic!("it is written")
        };
        wanted.push((part.to_owned(), Versioned::new(part.as_bytes().to_vec(), version)));
    }
    for key in [format!("{name}x/0/1"), format!("{}_/0/1", &name[..name.len() - 1])] {
        assert!(matches!(store.write(&key, b"no", 0).await, Ok(WriteOutcome::Version(_))), "{key}");
    }
    let Some(mut found) = store.list_below(&format!("{name}/")).await.expect("an answer") else {
        // Redis finds keys by their beginning only if it reads all keys.
        return assert!(store.name().starts_with("Redis"), "{}", store.name());
    };
    found.sort_by(|a, b| a.0.cmp(&b.0));
    wanted.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found, wanted);
    let below = store.list_below(&format!("{name}/a.b/")).await.expect("an answer").expect("such a query");
    assert_eq!(below.len(), 2);
}

pub async fn values_and_keys_are_stored_unchanged(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let name = unique("verbs");
    let all_bytes: Vec<u8> = (0..=255).collect();
    let long = format!("{name}/{}", "k".repeat(MAX_KEY_BYTES - name.len() - 1));
    for (key, value) in
        [(format!("{name}/a"), all_bytes), (format!("{name}/A"), vec![]), (long, vec![0xff; MAX_VALUE_BYTES])]
    {
        let Ok(WriteOutcome::Version(version)) = store.write(&key, &value, 0).await else { panic!("{key} is written") };
        assert_eq!(store.read(&key).await, Ok(Some(Versioned::new(value, version))));
    }
}

pub async fn the_leases_of_all_namespaces_are_listed(scene: Arc<Scene>) {
    let leases = Leases::new(scene.connect().await);
    let names = [2, 1, 0].map(|nodes| (unique("all."), nodes));
    let terms = |name: &str| Terms {
        namespace: Namespace::named(name).expect("a name"),
        layout: SNOWMINT,
        nodes: Nodes::ALL,
        exclude: Vec::new(),
        max_ahead_ms: 0,
        max_wait_ms: 20_000,
        window_ms: 60_000,
        system_clock: true,
    };
    for (name, nodes) in &names {
        let terms = terms(name);
        leases.make(&terms.namespace, &SNOWMINT).await.expect("it is made");
        for nonce in 1..=*nodes {
            let claimer = Claimer { nonce, label: name.clone(), last_node: None };
            leases.claim(&terms, &claimer, None).await.expect("a node");
        }
    }
    let all = leases.all().await.expect("a list");
    for (name, nodes) in &names {
        let found = leases.namespace(name).await.expect("a list");
        assert_eq!((found.nodes.len() as u128, all.get(name)), (*nodes, Some(&found)), "{name}");
        // No window ends before that time.
        let now_ms = 0;
        let held = u64::try_from(*nodes).expect("a few");
        assert_eq!((found.held(now_ms), found.free(now_ms)), (held, Some(1024 - held)), "{name}");
    }
    // The list omits a namespace that an operator removed, until a claim makes it again.
    let (name, _) = &names[2];
    let terms = terms(name);
    leases.remove(&terms.namespace).await.expect("it is not in use");
    assert!(!leases.all().await.expect("a list").contains_key(name));
    let claimer = Claimer { nonce: 1, label: name.clone(), last_node: None };
    leases.claim(&terms, &claimer, None).await.expect("a node");
    assert_eq!(leases.all().await.expect("a list")[name].nodes.len(), 1);
}

pub async fn a_counter_begins_at_its_start_and_repeats_no_sum(scene: Arc<Scene>) {
    let counter = format!("{}/c", unique("verbs"));
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (scene, counter) = (scene.clone(), counter.clone());
        tasks.spawn(async move {
            let store = scene.connect().await;
            let mut sums = Vec::new();
            for _ in 0..25 {
                sums.push(store.add(&counter, 3, 100).await.expect("a sum"));
            }
            assert!(sums.is_sorted_by(|a, b| a < b));
            sums
        });
    }
    let mut sums: Vec<u64> = tasks.join_all().await.concat();
    sums.sort_unstable();
    assert_eq!(sums, (1..=100).map(|count| 100 + 3 * count).collect::<Vec<u64>>());
    // A record of the same key is independent of the counter.
    let store = scene.connect().await;
    assert_eq!(store.read(&counter).await, Ok(None));
    assert_eq!(store.add(&format!("{counter}2"), 0, 5).await, Ok(5));
}

pub async fn a_counter_ends_at_2_63_and_stays(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let counter = format!("{}/c", unique("verbs"));
    let last = u64::try_from(i64::MAX).expect("positive");
    assert_eq!(store.add(&counter, 1, last - 9_007_199_254_740_993).await, Ok(last - 9_007_199_254_740_992));
    assert_eq!(store.add(&counter, 9_007_199_254_740_991, 0).await, Ok(last - 1), "beyond what a double can hold");
    assert_eq!(store.add(&counter, 2, 0).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    assert_eq!(store.add(&counter, last, 0).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    assert_eq!(store.add(&counter, 1, 0).await, Ok(last));
    assert_eq!(store.add(&counter, 1, 0).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    assert_eq!(store.add(&counter, 0, 0).await, Ok(last));
    let fresh = format!("{counter}2");
    assert_eq!(store.add(&fresh, 2, last - 1).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    assert_eq!(store.add(&fresh, 1, last - 1).await, Ok(last));
}

pub async fn a_counter_is_lowered_only_from_its_present_value(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let counter = format!("{}/c", unique("verbs"));
    assert_eq!(store.lower(&counter, 10, 5).await, Ok(false), "there is none");
    assert_eq!(store.add(&counter, 10, 0).await, Ok(10));
    assert_eq!(store.add(&counter, 10, 0).await, Ok(20));
    assert_eq!(store.lower(&counter, 10, 5).await, Ok(false));
    assert_eq!(store.lower(&counter, 20, 15).await, Ok(true));
    assert_eq!(store.lower(&counter, 20, 15).await, Ok(false));
    assert_eq!(store.add(&counter, 1, 0).await, Ok(16));
}

pub async fn a_clock_is_within_a_minute_of_ours(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let Some(clock_ms) = store.clock_ms().await.expect("an answer") else { return };
    let ours = SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_millis();
    assert!(i128::from(clock_ms).abs_diff(i128::try_from(ours).expect("small")) < 60_000);
}
