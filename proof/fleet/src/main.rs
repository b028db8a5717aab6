//! Runs fleets by seed on all cores, and prints the results.
//!
//! | arguments | what runs |
//! | --- | --- |
//! | `--seconds N` | fleets of new seeds for that long; `--from SEED` says where the seeds begin |
//! | `--seed SEED` | one fleet again: its plan, its last events and how it ends |
//! | `--find N` | with a check left out: N searches, and the median of their times |
//!
//! Exits with 1 if something went wrong; with `--find`, if a search found nothing. The variable `SNOWMINT_MUTANT` names a
//! check to leave out, in a build with `--cfg snowmint_mutants`.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use snowmint_fleet::faults::Fault;
use snowmint_fleet::tally::{Tally, Violation};
use snowmint_fleet::world::World;

/// How many events a fleet has.
const RUN_EVENTS: u64 = 20_000;
/// How long a search for a missing check may take.
const TIMEOUT: Duration = Duration::from_secs(60);
const YEAR_MS: f64 = 365.25 * 24.0 * 60.0 * 60.0 * 1000.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = arguments.chunks(2).map(|pair| match pair {
        [name, number] => number.parse().ok().map(|number: u64| (name.as_str(), number)),
        _ => None,
    });
    let new_seed = || SystemTime::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs() << 20);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Some(("--seconds", seconds))), None, None) => run_for(seconds, new_seed()),
        (Some(Some(("--seconds", seconds))), Some(Some(("--from", seed))), None) => run_for(seconds, seed),
        (Some(Some(("--seed", seed))), None, None) => again(seed),
        (Some(Some(("--find", searches))), None, None) => find(searches),
        _ => {
            eprintln!("usage: snowmint-fleet --seconds N [--from SEED] | --seed SEED | --find SEARCHES");
            ExitCode::from(2)
        }
    }
}

fn run(seed: u64) -> World {
    let mut world = World::of_seed(seed);
    world.run(RUN_EVENTS);
    world
}

#[derive(Default)]
struct Sum {
    tally: Tally,
    fleets: u64,
    ms: u64,
    failed: Option<(u64, Violation)>,
}

fn run_for(seconds: u64, first: u64) -> ExitCode {
    let started = Instant::now();
    let (next, over, sum) = (AtomicU64::new(first), AtomicBool::new(false), Mutex::new(Sum::default()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) && started.elapsed() < Duration::from_secs(seconds) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let world = run(seed);
                    let tally = &world.checker().tally;
                    let mut sum = sum.lock().expect("no thread panics with it");
                    sum.tally.add(tally);
                    sum.fleets += 1;
                    sum.ms += world.now_ms();
                    if let Some((violation, _)) = tally.violation {
                        sum.failed.get_or_insert((seed, violation));
                        over.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let Sum { tally, fleets, ms, failed } = sum.into_inner().expect("no thread panicked");
    let took = started.elapsed().as_secs_f64();
    println!("{fleets} fleets, seeds from {first}, on {threads} threads in {took:.1} s");
    let years = years(ms);
    println!("{years:.1} simulated years, {:.1} a minute", years / took * 60.0);
    let Tally { ids, numbers, leases, takeovers, events, .. } = tally;
    println!("{ids} IDs, {numbers} numbers, {leases} leases, {takeovers} changes of a node's holder, {events} events");
    println!(
        "{} slots taken within reservations, {} of them without the store; {} IDs there",
        tally.slots, tally.unconfirmed, tally.reserved_ids
    );
    println!("{} faults:", tally.all_faults());
    for fault in Fault::ALL {
        println!("  {:>10} {}", tally.faults[fault as usize], fault.name());
    }
    println!("duplicates: {}, order violations: {}", tally.duplicates, tally.disorders);
    let Some((seed, violation)) = failed else { return ExitCode::SUCCESS };
    println!("seed {seed}: {}; run it again with --seed {seed}", violation.name());
    ExitCode::FAILURE
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn years(ms: u64) -> f64 {
    ms as f64 / YEAR_MS
}

fn again(seed: u64) -> ExitCode {
    let mut world = World::of_seed(seed);
    world.keep_trace();
    world.run(RUN_EVENTS);
    println!("{:#?}\n\nThe last events:", world.plan());
    for event in world.trace() {
        println!("{event}");
    }
    let tally = &world.checker().tally;
    println!("\n{} IDs, {} faults, {} events", tally.ids, tally.all_faults(), tally.events);
    let Some((violation, at_ms)) = tally.violation else {
        println!("nothing went wrong");
        return ExitCode::SUCCESS;
    };
    println!("{at_ms} ms: {}", violation.name());
    ExitCode::FAILURE
}

/// Searches from one seed to the next until something goes wrong, again and again, each time from other seeds.
fn find(searches: u64) -> ExitCode {
    let mut seconds = Vec::new();
    let mut ms = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for search in 0..searches {
        let started = Instant::now();
        let mut simulated_ms = 0;
        for seed in search * 1_000_000.. {
            let world = run(seed);
            simulated_ms += world.now_ms();
            if let Some((violation, _)) = world.checker().tally.violation {
                seen.push(violation.name());
                break;
            }
            if started.elapsed() > TIMEOUT {
                println!("nothing found in {:.0} s", TIMEOUT.as_secs_f64());
                return ExitCode::FAILURE;
            }
        }
        seconds.push(started.elapsed());
        ms.push(simulated_ms);
    }
    seconds.sort_unstable();
    ms.sort_unstable();
    seen.sort_unstable();
    seen.dedup();
    let (Some(time), Some(ms)) = (seconds.get(seconds.len() / 2), ms.get(ms.len() / 2)) else {
        return ExitCode::from(2);
    };
    println!(
        "found {searches} of {searches} times, median {:.2} ms, {:.2} simulated hours: {}",
        time.as_secs_f64() * 1000.0,
        years(*ms) * 365.25 * 24.0,
        seen.join("; ")
    );
    ExitCode::SUCCESS
}
