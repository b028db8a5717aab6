//! More large batches than the server has time for.

use std::sync::Barrier;
use std::thread;

use super::support::{Server, assert_unique, store, verb};

/// 32 IDs per ms: 10,000 IDs take 312 ms.
const LAYOUT: &str = "time:41,node:10,sequence:5;epoch=2025-01-01T00:00:00Z";
const COUNT: usize = 10_000;
const CLIENTS: usize = 64;
const MAX_WAIT_MS: u64 = 10_000;

#[test]
fn batches_without_time_are_refused_at_once() {
    let (server, directory) = Server::alone(&["--max-wait-ms", &MAX_WAIT_MS.to_string()]);
    verb(&["namespace", "create", "--layout", LAYOUT, "--store", &store(directory.path())]);
    let first = server.get(&format!("/v1/ids?layout={LAYOUT}")).ids();
    let barrier = Barrier::new(CLIENTS);
    let answers: Vec<_> = thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            server.get(&format!("/v1/ids?count={COUNT}&layout={LAYOUT}"))
        };
        let asked: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|asked| asked.join().expect("no panic")).collect()
    });
    let (served, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    // One after another, 32 batches have time. Without a queue each batch would end late.
    println!("{} batches served, {} refused", served.len(), refused.len());
    assert!((8..=36).contains(&served.len()), "{} served; {:?}", served.len(), refused.first());
    let waits = refused.iter().map(|answer| {
        assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
        answer.problem(503, "EXHAUSTED")["retry_after_ms"].as_u64().expect("ms")
    });
    assert!(waits.filter(|wait_ms| *wait_ms > MAX_WAIT_MS).count() > 0, "no batch was refused at once");
    let ids: Vec<u64> = served.iter().flat_map(|answer| answer.ids()).collect();
    assert_eq!(ids.len(), served.len() * COUNT);
    assert_unique([ids, first].concat());
}
