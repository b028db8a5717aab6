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

use std::process::ExitCode;

use self::lease::Leases;
use self::report::check;
use self::section::Sections;
use self::segment::Segments;

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

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--only", name] => Some(name),
        _ => {
            eprintln!("usage: snowmint-exhaustive [--only claims|cells|takeovers|restores|vanishes|segments|sections]");
            return ExitCode::from(2);
        }
    };
    let leases = [
        // Three holders want two nodes.
        ("claims", Leases { holders: 3, lives: 3, writes: 0, ..LEASES }),
        // Calls stall while windows are renewed and released; three times of the clock.
        ("cells", Leases { clocks: &[0, 1, 3], stalls: true, ..LEASES }),
        ("takeovers", Leases { lives: 3, writes: 2, faults: 0, stalls: true, ..LEASES }),
        ("restores", Leases { restores: true, ..LEASES }),
        ("vanishes", Leases { vanishes: true, stalls: true, ..LEASES }),
    ];
    let segments = [
        (
            "segments",
            Segments { allocators: 3, lives: 3, numbers: 4, fetches: 3, faults: 1, stalls: true, restores: false },
        ),
        (
            "restored segments",
            Segments { allocators: 2, lives: 2, numbers: 4, fetches: 4, faults: 1, stalls: false, restores: true },
        ),
    ];
    let sections = [("sections", Sections { allocators: 2, lives: 2, numbers: 3, halves: 3, requests: 5, faults: 1 })];
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut holds = true;
    let mut searches = 0;
    for (name, model) in leases.into_iter().filter(|(name, _)| wanted(name)) {
        searches += 1;
        holds &= check(name, &format!("{model:?}"), model);
    }
    for (name, model) in segments.into_iter().filter(|(name, _)| wanted(name)) {
        searches += 1;
        holds &= check(name, &format!("{model:?}"), model);
    }
    for (name, model) in sections.into_iter().filter(|(name, _)| wanted(name)) {
        searches += 1;
        holds &= check(name, &format!("{model:?}"), model);
    }
    if searches == 0 {
        eprintln!("there is no search of that name");
        return ExitCode::from(2);
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
