//! Calls one function COUNT times: `snowmint-instructions FUNCTION COUNT`. `scripts/instructions.py` counts what a call takes.
//!
//! The time is an argument of all of them, so that a count is the same in each run.

use std::env;
use std::hint::black_box;

use snowmint::core::{CycleClock, LocalRun, Minter, Words};
use snowmint::{Layout, Options, TextForm};

/// Room for 2^20 IDs a ms, so that no call is refused.
const ROOMY: &str = "time:41,node:3,sequence:20;epoch=2025-01-01T00:00:00Z";
const NOW_MS: i64 = 1_772_323_200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = env::args().collect();
    let [_, function, count] = &*arguments else { return Err("usage: snowmint-instructions FUNCTION COUNT".into()) };
    let layout = Layout::parse(ROOMY)?;
    let minter = Minter::new(&layout, 1, &Options::DEFAULT, Words::vouched());
    let mut run = LocalRun::new();
    let (mut clock, mut counter) = (clock(), COUNTER);
    let count = count.parse()?;
    match function.as_str() {
        "next_id" => repeat(count, || minter.try_next_id(NOW_MS)),
        "next_local" => repeat(count, || minter.next_local(&mut run, NOW_MS)),
        "cycle_clock" => repeat(count, || {
            counter += 1;
            clock.unix_ms(counter)
        }),
        "decode" => repeat(count, || layout.decode(black_box(1 << 60))),
        "base62" => repeat(count, || TextForm::Base62.encode(black_box(1 << 60))),
        _ => return Err(format!("there is no function {function}").into()),
    }
    Ok(())
}

fn repeat<T>(count: u32, mut call: impl FnMut() -> T) {
    for _ in 0..count {
        black_box(call());
    }
}

const COUNTER: u64 = 1 << 40;

/// A clock with a counter of 2 million cycles a ms, which has just read `COUNTER`.
fn clock() -> CycleClock {
    let mut clock = CycleClock::new();
    for back in [2, 1, 0] {
        let counter = COUNTER - back * 80_000_000;
        clock.learn([counter, counter + 9], 1_000_000_000 - back * 40_000_000);
    }
    clock.show(COUNTER, NOW_MS, 0);
    clock
}
