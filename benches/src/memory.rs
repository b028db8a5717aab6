//! A process of which `benches/memory.py` reads the memory: `memory vouched|leased COUNT DIRECTORY` makes COUNT generators and
//! keeps them; `memory use 0 DIRECTORY` makes, uses and closes generators until it is killed.

use std::path::Path;
use std::time::Duration;
use std::{env, thread};

use snowmint::{Layout, LeaseOptions, Snowflake};

/// 2^14 nodes.
const LAYOUT: &str = "time:41,node:14,sequence:8;epoch=2025-01-01T00:00:00Z";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = env::args().collect();
    let [_, kind, count, directory] = &*arguments else { return Err("memory KIND COUNT DIRECTORY".into()) };
    let (layout, count): (_, u32) = (Layout::parse(LAYOUT)?, count.parse()?);
    let lease = |namespace: u32| {
        let store = format!("file:{}", Path::new(directory).display());
        // Generators of one namespace would share a lease. Ten minutes, so that the disk has rest.
        Snowflake::lease(
            LeaseOptions::new()
                .layout(layout)
                .store(store)
                .namespace(format!("n{namespace}"))
                .window(Duration::from_secs(600)),
        )
    };
    let mut kept = Vec::new();
    for number in 0..count {
        let generator = if kind == "vouched" { Snowflake::new(&layout, number)? } else { lease(number)? };
        generator.next_id()?;
        kept.push(generator);
    }
    println!("ready");
    if kind != "use" {
        loop {
            thread::park();
        }
    }
    loop {
        for number in 0..10 {
            // A lease takes a low node.
            let (leased, vouched) = (lease(number)?, Snowflake::new(&layout, 1000 + number)?);
            for _ in 0..1000 {
                assert_ne!(leased.next_id()?, vouched.next_id()?, "the node differs");
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
}
