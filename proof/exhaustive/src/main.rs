//! Runs core's own machines over a store that loses, repeats and delays requests, in every order of events within bounds.
//!
//! Prints the number of states of each search. `--only NAME` runs one search. Exits with 1 if a property fails, or if
//! something never happens that should. The variable `SNOWMINT_MUTANT` names a check to leave out, in a build with
//! `--cfg snowmint_mutants`.

mod digest;
mod fate;
mod lease;
mod report;
mod section;
mod segment;
mod thread;

use std::fmt::Debug;
use std::hash::Hash;
use std::process::ExitCode;

use stateright::Model;

use self::lease::Leases;
use self::report::check;
use self::section::Sections;
use self::segment::Segments;
use self::thread::Threads;

const LEASES: Leases = Leases {
    holders: 2,
    lives: 2,
    writes: 1,
    ids: 2,
    faults: 1,
    clocks: &[0, 2],
    stalls: false,
    restores: false,
    vanishes: false,
};

/// A search that has not begun, with its name. It returns whether each property holds.
type Search = (&'static str, Box<dyn FnOnce() -> bool>);

fn search<M>(name: &'static str, model: M) -> Search
where
    M: Model<State: Clone + Debug + Hash + PartialEq + Send + Sync, Action: Clone + Debug + PartialEq + Send + Sync>,
    M: Debug + Send + Sync + 'static,
{
    (name, Box::new(move || check(name, &format!("{model:?}"), model)))
}

fn searches() -> Vec<Search> {
    let segments =
        Segments { allocators: 3, lives: 3, numbers: 4, fetches: 3, faults: 1, stalls: true, restores: false };
    let sections = Sections { allocators: 2, lives: 2, numbers: 3, halves: 3, requests: 5, faults: 1, forgets: 0 };
    vec![
        // Three holders want two nodes.
        search("claims", Leases { holders: 3, lives: 3, writes: 0, ..LEASES }),
        search("renewals", Leases { holders: 3, lives: 3, writes: 2, faults: 0, ..LEASES }),
        // Calls stall while windows are renewed and released; three times of the clock.
        search("cells", Leases { clocks: &[0, 1, 3], stalls: true, ..LEASES }),
        search("takeovers", Leases { lives: 3, writes: 2, faults: 0, stalls: true, ..LEASES }),
        search("restores", Leases { restores: true, ..LEASES }),
        search("vanishes", Leases { vanishes: true, stalls: true, ..LEASES }),
        search("threads", Threads { ids: 8, extensions: 2, clocks: &[0, 1, 2, 3] }),
        search("segments", segments),
        search(
            "restored segments",
            Segments { allocators: 2, lives: 2, fetches: 4, stalls: false, restores: true, ..segments },
        ),
        search("sections", sections),
        search("three sections", Sections { allocators: 3, lives: 3, requests: 4, faults: 0, ..sections }),
        search("forgotten users", Sections { faults: 0, forgets: 2, ..sections }),
    ]
}

fn main() -> ExitCode {
    let mut searches = searches();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["--only", only] => searches.retain(|(name, _)| *name == only),
        _ => searches.clear(),
    }
    if searches.is_empty() {
        eprintln!("usage: snowmint-exhaustive [--only NAME], such as --only cells; without a name all searches run");
        return ExitCode::from(2);
    }
    let mut holds = true;
    for (_, search) in searches {
        holds &= search();
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
