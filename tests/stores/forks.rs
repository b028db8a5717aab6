//! Numbers fetched before a fork belong to the parent. Also several leases of one process over one store.

use std::collections::HashSet;
use std::process::{Command, Stdio};

use snowmint::{LeaseOptions, Snowflake};

use crate::support::{assert_unique, run};

pub fn children(verb: &str, url: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snowmint-taker"));
    let printed = run(command.args([verb, url]).stdin(Stdio::null()));
    let lines: Vec<_> = printed.lines().collect();
    let [first, _, children @ .., last] = &lines[..] else { panic!("{printed}") };
    assert_eq!(children.len(), 4 * 8, "{printed}");
    assert!(children.iter().all(|line| *line == "child FORKED"), "{printed}");
    let numbers: Vec<&str> = first.split(' ').chain(last.split(' ')).collect();
    assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 4, "the parent goes on: {printed}");
}

#[test]
fn a_forked_child_hands_out_no_number_of_its_parent() {
    children("fork", "memory:forks");
}

#[test]
fn a_raw_clone_hands_out_no_number_of_its_parent() {
    children("clone", "memory:forks");
}

#[test]
fn eight_leases_of_one_process_have_eight_nodes() {
    let mut threads = Vec::new();
    for lease in 0..8 {
        // Different exclusions are different leases.
        let exclude = vec![1000 + lease];
        threads.push(std::thread::spawn(move || {
            let lease = LeaseOptions::new().store("memory:leases").exclude(exclude);
            let generator = Snowflake::lease(lease).expect("a node");
            let ids: Vec<_> = (0..1000).map(|_| generator.next_id().expect("an ID")).collect();
            (generator, ids)
        }));
    }
    let (generators, ids): (Vec<_>, Vec<_>) =
        threads.into_iter().map(|thread| thread.join().expect("no panic")).unzip();
    assert_unique(ids.concat());
    let nodes: HashSet<_> = generators.iter().map(Snowflake::node).collect();
    assert_eq!(nodes.len(), 8, "{nodes:?}");
    assert!(generators[0].status().window.is_some_and(|window| window.end_ms - window.start_ms >= 30_000));
}
