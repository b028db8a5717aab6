//! P3: generators of one process never share a layout and node unknowingly.

#[path = "support.rs"]
mod support;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use snowmint::core::Host;
use snowmint::host::{ClockId, ProcessGenerator};
use snowmint::layouts::{DISCORD, LEAF, MASTODON, SAFE53, TWITTER};
use snowmint::{Error, ErrorKind, Id, Layout, LeaseOptions, Options, Snowflake};
use support::{ONE_NODE, Running, Scene, assert_unique, wait_for};

fn lease(scene: &Scene) -> LeaseOptions {
    LeaseOptions::new().store(scene.store().replace("store=", ""))
}

#[test]
fn generators_of_one_node_share_a_state_under_any_names() {
    let generators = [(); 4].map(|()| Snowflake::new(&TWITTER, 37).expect("fits"));
    let other = Snowflake::new(&LEAF, 37).expect("fits");
    let ids: Vec<_> = (0..5000)
        .flat_map(|_| generators.iter().chain([&other]))
        .map(|generator| generator.next_id().expect("in time"))
        .collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "duplicates or steps back");
}

#[test]
fn a_node_used_again_goes_on_above_its_last_id() {
    let ids: Vec<_> = (0..1000)
        .map(|_| Snowflake::new(&TWITTER, 38).and_then(|generator| generator.next_id()).expect("in time"))
        .collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "duplicates or steps back");
}

#[test]
fn signed_integers_are_refused_before_an_id_is_negative() {
    struct At(i64);

    impl Host for At {
        type Error = Error;

        fn now_ms(&mut self) -> Result<i64, Error> {
            Ok(self.0)
        }

        fn pause(&mut self, _: u64) -> Result<(), Error> {
            Ok(())
        }

        fn paused_ms(&mut self) -> u64 {
            0
        }
    }

    let until_ms = DISCORD.signed_until_ms().expect("64 bits");
    let options = Options { max_ahead_ms: 5, max_wait_ms: 1000, ..Options::DEFAULT };
    let clock = Some(ClockId(usize::MAX));
    let generator = ProcessGenerator::vouched(&DISCORD, 5, options, clock).expect("fits");
    generator.refuse_negative(&mut At(until_ms - 1006)).expect("positive");
    let refused = generator.refuse_negative(&mut At(until_ms - 1005)).expect_err("negative");
    assert_eq!(refused.kind(), ErrorKind::InvalidId);
    let generator = ProcessGenerator::vouched(&TWITTER, 5, options, clock).expect("fits");
    generator.refuse_negative(&mut At(i64::MAX)).expect("63 bits");
}

#[test]
fn closing_one_sharer_leaves_the_others_open() {
    let (first, second) = (Snowflake::new(&TWITTER, 39).expect("fits"), Snowflake::new(&TWITTER, 39).expect("fits"));
    first.close();
    assert_eq!(first.next_id().expect_err("closed").kind(), ErrorKind::WindowClosed);
    assert_eq!(first.try_next_id().expect_err("closed").kind(), ErrorKind::WindowClosed);
    assert_eq!(first.fill(&mut [Id::new(0); 3]).expect_err("closed").kind(), ErrorKind::WindowClosed);
    second.next_id().expect("open");
}

#[test]
fn generators_of_one_namespace_share_a_lease_until_all_close() {
    let scene = Scene::new();
    let (first, second) =
        (Snowflake::lease(lease(&scene)).expect("free"), Snowflake::lease(lease(&scene)).expect("free"));
    assert_eq!((first.node(), second.node()), (0, 0));
    let mut ids: Vec<_> =
        (0..5000).flat_map(|_| [&first, &second]).map(|generator| generator.next_id().expect("in time")).collect();
    drop(first);
    ids.push(second.next_id().expect("still open"));
    second.close();
    assert_eq!(second.next_id().expect_err("closed").kind(), ErrorKind::WindowClosed);
    let third = Snowflake::lease(lease(&scene)).expect("free");
    ids.extend(third.next_ids(100).expect("in time"));
    assert_unique(ids);
}

#[test]
fn leases_of_two_namespaces_are_two() {
    let scene = Scene::new();
    let of = |namespace: &str| Snowflake::lease(lease(&scene).namespace(namespace)).expect("free");
    let (orders, mails) = (of("orders"), of("mails"));
    orders.close();
    mails.next_id().expect("open");
    assert_eq!(mails.status().namespace.as_deref(), Some("mails"));
}

#[test]
fn a_vouched_node_and_a_lease_are_never_the_same() {
    let scene = Scene::new();
    let leased = Snowflake::lease(lease(&scene).layout(DISCORD)).expect("free");
    assert_eq!(leased.node(), 0);
    assert_eq!(Snowflake::new(&DISCORD, 0).expect_err("leased").kind(), ErrorKind::InvalidNode);
    let _vouched = Snowflake::new(&SAFE53, 0).expect("fits");
    let leased = Snowflake::lease(lease(&scene).layout(SAFE53)).expect("free");
    assert_eq!(leased.node(), 1, "node 0 is vouched for");
}

#[test]
fn excluded_nodes_are_not_leased() {
    let scene = Scene::new();
    let generator = Snowflake::lease(lease(&scene).exclude([0, 1, 3])).expect("free");
    assert_eq!(generator.node(), 2);
}

#[test]
fn a_generator_that_excludes_a_held_node_gets_another() {
    let scene = Scene::new();
    let first = Snowflake::lease(lease(&scene)).expect("free");
    let second = Snowflake::lease(lease(&scene).exclude([first.node()])).expect("free");
    assert_ne!(first.node(), second.node());
}

#[test]
fn a_call_behind_another_claim_ends_by_its_deadline() {
    let scene = Scene::new();
    let layout = Layout::find(ONE_NODE).expect("valid");
    let of = |max_wait_ms| {
        let options = Options { max_wait_ms, ..Options::DEFAULT };
        Snowflake::lease(lease(&scene).layout(layout).options(options).window(Duration::from_secs(1)))
    };
    // A killed holder leaves the only node unavailable for two seconds and more.
    let mut held = Running::start(&mut scene.minter("mint", &[&format!("layout={ONE_NODE}"), "window_ms=4000"]));
    held.node();
    held.kill();
    std::thread::scope(|scope| {
        let patient = scope.spawn(|| of(10_000));
        std::thread::sleep(Duration::from_millis(100));
        let started = Instant::now();
        assert_eq!(of(50).expect_err("claimed by the other").kind(), ErrorKind::NodesExhausted);
        assert!(!patient.is_finished(), "{:?}: not after the other", started.elapsed());
        patient.join().expect("no panic").expect("free in the end");
    });
}

#[test]
fn a_layout_without_node_bits_has_one_node_to_lease() {
    let scene = Scene::new();
    let generator = Snowflake::lease(lease(&scene).layout(MASTODON)).expect("free");
    assert_eq!(generator.node(), 0);
    generator.next_id().expect("minted");
}

#[test]
fn many_threads_that_lease_at_once_get_one_lease() {
    let scene = Scene::new();
    let lease = lease(&scene);
    let generators: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| Snowflake::lease(lease.clone()).expect("free"))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let nodes: HashSet<_> = generators.iter().map(Snowflake::node).collect();
    assert_eq!(nodes.len(), 1);
    let ids = std::thread::scope(|scope| {
        let threads: Vec<_> =
            generators.iter().map(|generator| scope.spawn(|| generator.next_ids(5000).expect("in time"))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(assert_unique(ids), 80_000);
}

/// A call of a lease runs on a thread that stays, not on a new one.
#[cfg(target_os = "linux")]
#[test]
fn no_renewal_of_eight_leases_starts_a_thread() {
    use std::fs::read_dir;
    use std::process::Stdio;

    let scene = Scene::new();
    let mut holder = Running::start(scene.minter("hold", &["leases=8", "window_ms=1000"]).stdin(Stdio::piped()));
    holder.node();
    let slots = || {
        let namespaces = read_dir(scene.path("slots")).expect("slots").map(|entry| entry.expect("an entry").path());
        namespaces.map(|path| path.join("0.slot")).filter(|path| path.exists()).collect::<Vec<_>>()
    };
    wait_for("it has eight leases", || slots().len() == 8);
    let slots = slots();
    let threads = || {
        let tasks = read_dir(format!("/proc/{}/task", holder.child.id())).expect("its threads");
        tasks.map(|task| task.expect("a thread").file_name()).collect::<HashSet<_>>()
    };
    let renewed = || {
        for slot in &slots {
            let before = std::fs::read(slot).expect("a record");
            wait_for("it is renewed", || std::fs::read(slot).expect("a record") != before);
        }
    };
    // The thread that calls starts with the first call.
    renewed();
    let before = threads();
    (0..4).for_each(|_| renewed());
    assert_eq!(threads(), before);
}
