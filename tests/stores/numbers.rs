//! Segments, tickets, sequences and sections over a store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use snowmint::stores::{CounterStore, Sections, SectionsOptions, Segments, SegmentsOptions, Sequences, Tag, Tickets};
use snowmint::{ErrorKind, Integer};
use snowmint_core::sequence::{Dialect, Options, Set};
use snowmint_tests::takes::USERS;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::scene::{Scene, unique};

fn tag(next: u64, step: u64) -> Tag {
    Tag::new(next, step).description("for a test")
}

async fn segments(store: &Arc<dyn CounterStore>, tag: &str) -> Segments {
    Segments::open(store.clone(), tag, SegmentsOptions::default().max_wait(Duration::from_secs(20)))
        .await
        .expect("there is such a tag")
}

pub async fn a_segment_starts_at_the_first_number_of_its_tag(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let name = unique("it's a `tag`; % ");
    let refused = Segments::open(store.clone(), &name, SegmentsOptions::default()).await.expect_err("there is none");
    assert_eq!(refused.kind(), ErrorKind::InvalidText);
    assert_eq!(Segments::create(&*store, &name, &tag(1, 10)).await, Ok(true));
    assert_eq!(Segments::create(&*store, &name, &tag(7, 7)).await, Ok(false), "it stays as it is");
    assert!(Segments::tags(&*store).await.expect("an answer").contains(&name));
    let numbers = segments(&store, &name).await;
    for wanted in 1..=100 {
        assert_eq!(numbers.next().await, Ok(wanted));
    }
    for (row, kind) in [(tag(1, 0), ErrorKind::InvalidId), (tag(1 << 63, 1), ErrorKind::InvalidId)] {
        assert_eq!(Segments::create(&*store, &unique("no"), &row).await.expect_err("no row").kind(), kind);
    }
}

pub async fn an_open_makes_a_missing_tag_and_keeps_a_tag_that_exists(scene: Arc<Scene>) {
    let (store, name) = (scene.connect().await, unique("made"));
    let options = SegmentsOptions::default().max_wait(Duration::from_secs(20));
    let open = async |row| Segments::open_or_create(store.clone(), &name, &row, options).await;
    for (row, said) in [(tag(1, 0), "step"), (tag(1 << 63, 1), "starts at")] {
        let refused = open(row).await.expect_err("no row");
        assert_eq!(refused.kind(), ErrorKind::InvalidId);
        assert!(refused.to_string().contains(said), "{refused}");
    }
    assert_eq!(open(tag(100, 10)).await.expect("made").next().await, Ok(100));
    assert_eq!(open(Tag::default()).await.expect("it exists").next().await, Ok(110), "it keeps its step");
    assert!(open(tag(1, 0)).await.is_err(), "a wrong row is refused for a tag that exists too");
}

pub async fn segments_of_several_clients_never_repeat(scene: Arc<Scene>) {
    let name = unique("shared");
    assert_eq!(Segments::create(&*scene.connect().await, &name, &tag(1000, 50)).await, Ok(true));
    let mut clients = JoinSet::new();
    for _ in 0..4 {
        let (store, name) = (scene.connect().await, name.clone());
        clients.spawn(async move {
            let shared = segments(&store, &name).await;
            let mut threads = JoinSet::new();
            for thread in 0..3 {
                let shared = shared.clone();
                threads.spawn(async move {
                    let mut local = shared.local();
                    let mut taken = Vec::new();
                    while taken.len() < 500 {
                        match thread {
                            0 => taken.push(shared.next().await.expect("a number")),
                            1 => taken.extend(shared.next_run(7).await.expect("numbers")),
                            _ => taken.push(local.next().await.expect("a number")),
                        }
                    }
                    assert!(taken.is_sorted_by(|a, b| a < b), "numbers of one thread increase");
                    taken
                });
            }
            threads.join_all().await.concat()
        });
    }
    let all = clients.join_all().await.concat();
    assert!(all.iter().all(|number| *number >= 1000));
    let distinct: HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

pub async fn a_closed_segment_returns_its_unused_numbers(scene: Arc<Scene>) {
    let store = scene.connect().await;
    let name = unique("closed");
    assert_eq!(Segments::create(&*store, &name, &tag(1, 100)).await, Ok(true));
    let numbers = segments(&store, &name).await;
    assert_eq!([numbers.next().await, numbers.next().await], [Ok(1), Ok(2)]);
    assert_eq!(numbers.close().await, Ok(98));
    assert_eq!(numbers.next().await.expect_err("it is closed").kind(), ErrorKind::WindowClosed);
    assert_eq!(numbers.close().await, Ok(0));
    let (first, second) = (segments(&store, &name).await, segments(&store, &name).await);
    assert_eq!(first.next().await, Ok(3));
    assert_eq!(second.next().await, Ok(103));
    assert_eq!(first.close().await, Ok(0), "somebody has fetched since");
    assert_eq!(second.close().await, Ok(99));
}

pub async fn tickets_over_two_stores_have_no_gap_and_no_repeat(scene: Arc<Scene>) {
    let stores: Vec<Arc<dyn CounterStore>> =
        vec![scene.connect().await, Arc::new(snowmint::stores::memory::Memory::new())];
    let name = unique("tickets");
    // Long waits, since on a busy machine a slow store would be skipped.
    let tickets = || Tickets::over(stores.clone(), &name).expect("two stores").with_max_wait(Duration::from_secs(60));
    let (first, second) = (tickets(), tickets());
    let mut taken = Vec::new();
    for _ in 0..20 {
        taken.push(first.next().await.expect("a ticket"));
        taken.push(second.next().await.expect("a ticket"));
    }
    taken.sort_unstable();
    assert_eq!(taken, (1..=40).collect::<Vec<u64>>());
}

pub async fn another_number_or_order_of_ticket_stores_is_refused(scene: Arc<Scene>) {
    let stores: Vec<Arc<dyn CounterStore>> =
        vec![scene.connect().await, Arc::new(snowmint::stores::memory::Memory::new())];
    let name = unique("tickets");
    // Long waits, since on a busy machine a slow store would be skipped.
    let over =
        |stores, name: &str| Tickets::over(stores, name).expect("ticket stores").with_max_wait(Duration::from_secs(60));
    let first = over(stores[..1].to_vec(), &name);
    assert_eq!(first.next().await, Ok(1));
    // Over both stores, the second ticket would be 1 again.
    let both = over(stores.clone(), &name);
    for _ in 0..3 {
        let refused = both.next().await.expect_err("there was one store");
        assert_eq!(refused.kind(), ErrorKind::InvalidId, "{refused}");
        assert!(refused.to_string().contains("from 1 stores") && refused.to_string().contains("from 2"), "{refused}");
    }
    assert_eq!(first.next().await, Ok(2));
    let name = unique("tickets");
    let ordered = over(stores.clone(), &name);
    assert_eq!([ordered.next().await, ordered.next().await], [Ok(1), Ok(2)]);
    let turned = over(stores.into_iter().rev().collect(), &name);
    assert_eq!(turned.next().await.expect_err("another order").kind(), ErrorKind::InvalidId);
    assert!(Tickets::names(&*scene.connect().await).await.expect("a list").contains(&name));
}

async fn sequences(scene: &Scene) -> Sequences {
    Sequences::new(scene.connect().await).with_max_wait(Duration::from_secs(20))
}

pub async fn a_sequence_answers_like_psql(scene: Arc<Scene>) {
    let (session, name) = (sequences(&scene).await, unique("it's a \"sequence\""));
    assert_eq!(session.current(&name).await.expect_err("not yet defined").kind(), ErrorKind::InvalidId);
    assert_eq!(session.last().await.expect_err("not yet defined").kind(), ErrorKind::InvalidId);
    assert_eq!([session.next(&name).await, session.next(&name).await], [Ok(1), Ok(2)]);
    assert_eq!(session.current(&name).await, Ok(Some(2)));
    let first_again = Set { is_called: Some(false), ..Set::to(1) };
    assert_eq!(session.set(&name, &first_again).await, Ok(Some(1)));
    assert_eq!(session.current(&name).await, Ok(Some(2)), "which leaves it alone");
    assert_eq!([session.next(&name).await, session.next(&name).await], [Ok(1), Ok(2)]);
    assert_eq!(session.set(&name, &Set::to(20)).await, Ok(Some(20)));
    assert_eq!([session.current(&name).await, session.last().await.map(Some)], [Ok(Some(20)), Ok(Some(20))]);
    assert_eq!(session.next(&name).await, Ok(21));
    let other = sequences(&scene).await;
    assert_eq!(other.next(&name).await, Ok(22));
    assert_eq!(other.current(&name).await, Ok(Some(22)));
    assert_eq!(session.current(&name).await, Ok(Some(21)));
    assert_eq!(session.definition(&name).await, Ok(Some(Options::DEFAULT)), "from its first use on");
}

pub async fn every_session_uses_the_first_definition_of_a_sequence(scene: Arc<Scene>) {
    let (session, name) = (sequences(&scene).await, unique("created"));
    let options = Options { start: Some(2), increment: 4, max: Some(6), cycle: true, ..Options::DEFAULT };
    assert_eq!(session.create(&name, &options).await, Ok(true));
    assert_eq!(session.create(&name, &Options::DEFAULT).await, Ok(false), "it stays as it is");
    let other = sequences(&scene).await;
    assert_eq!(other.definition(&name).await, Ok(Some(options)));
    for (session, wanted) in [(&session, 2), (&other, 6), (&other, 1), (&session, 5), (&session, 1)] {
        assert_eq!(session.next(&name).await, Ok(wanted));
    }
    let name = unique("created");
    let tidb = Options {
        dialect: Dialect::Tidb,
        start: Some(3),
        increment: 2,
        max: Some(100),
        cache: Some(5),
        ..Options::DEFAULT
    };
    assert_eq!(session.create(&name, &tidb).await, Ok(true));
    assert_eq!([session.next(&name).await, session.next(&name).await], [Ok(3), Ok(5)]);
    assert_eq!(other.next(&name).await, Ok(13), "a block of five is the first session's");
    assert_eq!(session.set(&name, &Set::to(6)).await, Ok(Some(6)));
    assert_eq!(session.next(&name).await, Ok(7), "which keeps the progression");
    let name = unique("created");
    let short = Options { min: Some(-3), max: Some(-1), increment: -1, ..Options::DEFAULT };
    assert_eq!(session.create(&name, &short).await, Ok(true));
    for wanted in [-1, -2, -3] {
        assert_eq!(session.next(&name).await, Ok(wanted));
    }
    assert_eq!(session.next(&name).await.expect_err("it has run out").kind(), ErrorKind::Exhausted);
    let zero = Options { increment: 0, ..Options::DEFAULT };
    assert_eq!(session.create(&unique("no"), &zero).await.expect_err("no step").kind(), ErrorKind::InvalidId);
}

pub async fn a_sequence_of_several_sessions_never_repeats(scene: Arc<Scene>) {
    let name = unique("shared");
    for cache in [1, 20] {
        let name = format!("{name}{cache}");
        let options = Options { cache: Some(cache), ..Options::DEFAULT };
        assert_eq!(sequences(&scene).await.create(&name, &options).await, Ok(true));
        let mut sessions = JoinSet::new();
        for _ in 0..4 {
            let (session, name) = (sequences(&scene).await, name.clone());
            sessions.spawn(async move {
                let mut taken = Vec::new();
                for _ in 0..50 {
                    taken.push(session.next(&name).await.expect("a value"));
                }
                taken
            });
        }
        let mut all = sessions.join_all().await.concat();
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b));
        if cache == 1 {
            assert_eq!(all, (1..=200).collect::<Vec<i128>>(), "nothing is left out");
        }
    }
}

const WINDOW_MS: u64 = 1000;

async fn allocator(scene: &Scene, set: &str, label: &str) -> Sections {
    let options = SectionsOptions::default()
        .window(Duration::from_millis(WINDOW_MS))
        .step(10)
        .max_wait(Duration::from_secs(20))
        .label(label);
    Sections::new(scene.connect().await, set, options).expect("an allocator")
}

/// The next number. On a busy machine a window may end, or a store be slow: then the call is repeated.
async fn next(allocator: &Sections, user: u64) -> u64 {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match allocator.next(Integer::from(user)).await {
            Err(error) if matches!(error.kind(), ErrorKind::WindowClosed | ErrorKind::Exhausted) => {
                assert!(Instant::now() < deadline, "no number within 60 s: {error}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            done => return done.expect("a number"),
        }
    }
}

pub async fn a_restart_keeps_every_users_numbers_increasing(scene: Arc<Scene>) {
    let set = unique("users");
    let mut last = USERS.map(|_| 0);
    for round in 0..4_u64 {
        // In a separate runtime, which can end like a killed process.
        let process = Runtime::new().expect("a runtime");
        let numbers = {
            let (scene, set) = (scene.clone(), set.clone());
            process.spawn(async move {
                let allocator = allocator(&scene, &set, "one").await;
                let mut numbers = Vec::new();
                for user in USERS {
                    for _ in 0..=round * 7 {
                        numbers.push((user, next(&allocator, user).await));
                    }
                }
                if round < 2 {
                    allocator.close().await.expect("it closes");
                    let refused = allocator.next(Integer::from(0u64)).await.expect_err("it is closed");
                    assert_eq!(refused.kind(), ErrorKind::WindowClosed);
                } else {
                    std::mem::forget(allocator);
                }
                numbers
            })
        };
        for (user, number) in numbers.await.expect("no panic") {
            let last = &mut last[USERS.iter().position(|each| *each == user).expect("one of them")];
            assert!(number > *last, "user {user} got {number} after {last}");
            *last = number;
        }
        process.shutdown_background();
    }
    // A new user begins above all numbers of the section.
    let allocator = allocator(&scene, &set, "two").await;
    let fresh = next(&allocator, 77_777).await;
    assert!(last[..4].iter().all(|last| fresh > *last), "{fresh} {last:?}");
}

pub async fn another_size_of_sections_is_refused(scene: Arc<Scene>) {
    let set = unique("users");
    let first = allocator(&scene, &set, "one").await;
    assert_eq!(next(&first, 1500).await, 1);
    let of_size = async |size: u32| {
        let options = SectionsOptions::default().size(size.try_into().expect("not zero"));
        Sections::new(scene.connect().await, &set, options).expect("an allocator")
    };
    // With sections of 1,000, user 1500 would be in another section and begin with 1.
    let other = of_size(1000).await;
    for refused in [other.pin().await.map(|()| 0), other.next(Integer::from(1500u64)).await] {
        let refused = refused.expect_err("another size");
        assert_eq!(refused.kind(), ErrorKind::InvalidId, "{refused}");
        assert!(
            refused.to_string().contains("100000 users") && refused.to_string().ends_with("instead of 1000"),
            "{refused}"
        );
    }
    assert_eq!(of_size(100_000).await.pin().await, Ok(()));
    assert!(Sections::sets(&*scene.connect().await).await.expect("a list").contains(&set));
    let huge = SectionsOptions::default().size(std::num::NonZeroU32::MAX);
    let refused = Sections::new(scene.connect().await, &set, huge).expect_err("34 GB a section");
    assert!(refused.to_string().contains("1 to 1000000 users, not 4294967295"), "{refused}");
}

pub async fn an_idle_section_makes_room(scene: Arc<Scene>) {
    let set = unique("users");
    let options =
        SectionsOptions::default().max_sections(2).max_wait(Duration::from_secs(20)).window(Duration::from_secs(60));
    let few = Sections::new(scene.connect().await, &set, options).expect("an allocator");
    assert_eq!([next(&few, 0).await, next(&few, 100_000).await], [1, 1]);
    let begun = Instant::now();
    loop {
        match few.next(Integer::from(200_000u64)).await {
            Ok(number) => break assert_eq!(number, 1),
            // Both sections were used a moment ago.
            Err(error) => assert_eq!(error.kind(), ErrorKind::Exhausted, "{error}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "neither made room");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The first section made room: another allocator gets it at once.
    let other = allocator(&scene, &set, "other").await;
    assert!(next(&other, 0).await > 1);
}

pub async fn a_full_memory_forgets_users_and_gives_unused_sections_back(scene: Arc<Scene>) {
    let set = unique("users");
    let options = SectionsOptions::default()
        .memory_bytes(1 << 20)
        .step(100)
        .max_wait(Duration::from_secs(20))
        .window(Duration::from_secs(60));
    let full = Sections::new(scene.connect().await, &set, options).expect("an allocator");
    let other = SectionsOptions::default().max_wait(Duration::from_millis(50));
    let other = Sections::new(scene.connect().await, &set, other).expect("an allocator");
    let deadline = Instant::now() + Duration::from_secs(60);
    // 30,000 users of a section take 400 kB: the memory has room for two such sections.
    for section in 0.. {
        for user in section * 100_000..section * 100_000 + 30_000 {
            let number = next(&full, user).await;
            assert!(number % 100 == 1 && next(&full, user).await > number, "{number} of user {user}");
        }
        match other.next(Integer::from(0u64)).await {
            // On a slow machine the record is not read within the wait.
            Err(error) if matches!(error.kind(), ErrorKind::WindowClosed | ErrorKind::Exhausted) => {
                assert!(Instant::now() < deadline, "{error}");
            }
            // The first section was unused for a second.
            number => return assert!(number.expect("a number") > 2),
        }
    }
}

pub async fn a_section_has_one_allocator_and_then_a_successor(scene: Arc<Scene>) {
    let set = unique("users");
    let (first, second) = (allocator(&scene, &set, "host-1:8000").await, allocator(&scene, &set, "host-2:8000").await);
    assert_eq!([next(&first, 5).await, next(&first, 5).await], [1, 2]);
    // Both waits end early: within 2,500 ms the allocator sees that the holder renews, even without calls; half a
    // window is too short to find a holder dead.
    for max_wait_ms in [2500, WINDOW_MS / 2] {
        let other = SectionsOptions::default()
            .window(Duration::from_millis(WINDOW_MS))
            .max_wait(Duration::from_millis(max_wait_ms));
        let other = Sections::new(scene.connect().await, &set, other).expect("an allocator");
        assert_eq!(other.holder(Integer::from(6u64)), None);
        let refused = loop {
            let refused = other.next(Integer::from(6u64)).await.expect_err("another has it");
            // The store is slow: the holder is not read yet.
            if refused.kind() != ErrorKind::Exhausted {
                break refused;
            }
        };
        assert_eq!(refused.kind(), ErrorKind::WindowClosed, "{refused}");
        assert!(refused.to_string().contains("host-1:8000"), "{refused}");
        let holder = other.holder(Integer::from(99_999u64)).expect("a holder");
        assert_eq!((holder.label.as_str(), holder.is_namesake), ("host-1:8000", false));
        other.close().await.expect("it gives up");
    }
    assert_eq!(next(&first, 5).await, 3);
    // Another section is free.
    assert_eq!(next(&second, 100_000).await, 1);
    let refused = Arc::new(Notify::new());
    let waiting = {
        let (second, refused) = (second.clone(), refused.clone());
        tokio::spawn(async move {
            loop {
                match second.next(Integer::from(5u64)).await {
                    Err(error) if error.kind() == ErrorKind::WindowClosed => {
                        refused.notify_one();
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    // The store is slow: the section is claimed, and its numbers are on their way.
                    Err(error) if error.kind() == ErrorKind::Exhausted => {}
                    done => return done.expect("a number"),
                }
            }
        })
    };
    refused.notified().await;
    let given_back = Instant::now();
    first.close().await.expect("it closes");
    assert!(waiting.await.expect("no panic") > 3);
    assert!(given_back.elapsed() < Duration::from_secs(60), "it need not wait for long");
}
