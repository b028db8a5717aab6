//! A simulated fleet for the inspector. Only numbers cross the border; names are read from the module's memory.
//!
//! The page makes a new instance for each run, because a check that was left out stays left out.
#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code, reason = "an export keeps its name")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "counts and times of a page are small"
)]

use std::cell::RefCell;

use snowmint_core::Window;
use snowmint_fleet::faults::{Fault, Rates};
use snowmint_fleet::plan::{Plan, START_MS};
use snowmint_fleet::random::Random;
use snowmint_fleet::tally::{Duplicate, Span};
use snowmint_fleet::world::World;

/// The checks of core that the page can leave out, and the fault of an engine without the check.
const CHECKS: [(&str, &str); 8] = [
    ("none", "All checks are in place"),
    ("start", "A claim ignores the end of the window before it"),
    ("window", "A generator mints past the end of its window"),
    ("close", "A released generator mints on"),
    ("increase", "A generator follows a clock that goes back"),
    ("swap", "Calls do not compare the word that they swap"),
    ("floor", "A claim ignores the fence after a disaster"),
    ("vanished", "A claim does not notice that records have vanished"),
];

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

fn with<T>(world: impl FnOnce(&mut World) -> T) -> Option<T> {
    WORLD.with_borrow_mut(|place| place.as_mut().map(world))
}

fn text(of: &'static str, part: u32) -> u32 {
    if part == 0 { of.as_ptr() as usize as u32 } else { of.len() as u32 }
}

/// Returns the number of checks that can be left out.
#[unsafe(no_mangle)]
pub extern "C" fn checks() -> u32 {
    CHECKS.len() as u32
}

/// Returns the place (part 0) or length (part 1) of the name of a check.
#[unsafe(no_mangle)]
pub extern "C" fn check_name(check: u32, part: u32) -> u32 {
    CHECKS.get(check as usize).map_or(0, |(name, _)| text(name, part))
}

/// Returns the place (part 0) or length (part 1) of the message of a check.
#[unsafe(no_mangle)]
pub extern "C" fn check_words(check: u32, part: u32) -> u32 {
    CHECKS.get(check as usize).map_or(0, |(_, words)| text(words, part))
}

/// Returns the number of kinds of faults. The fleet of the page has no machines with reservations, whose faults are the last ones.
#[unsafe(no_mangle)]
pub extern "C" fn faults() -> u32 {
    Fault::ALL.iter().filter(|fault| !fault.is_of_machine()).count() as u32
}

/// Returns the place (part 0) or length (part 1) of the name of a fault.
#[unsafe(no_mangle)]
pub extern "C" fn fault_name(fault: u32, part: u32) -> u32 {
    Fault::ALL.get(fault as usize).map_or(0, |fault| text(fault.name(), part))
}

/// Returns the rate of a fault before any slider moves.
#[unsafe(no_mangle)]
pub extern "C" fn default_rate(fault: u32) -> u32 {
    Fault::ALL.get(fault as usize).map_or(0, |fault| Rates::DEFAULT.of(*fault))
}

/// Begins a fleet by a seed, without a check of [`CHECKS`]. Once an instance.
#[unsafe(no_mangle)]
pub extern "C" fn begin(seed: u32, check: u32) {
    if let Some((name, _)) = CHECKS.get(check as usize) {
        snowmint_core::mutant::remove(name);
    }
    WORLD.set(Some(World::new(Plan::for_page(), Random::new(u64::from(seed)))));
}

/// Sets the rate of a fault.
#[unsafe(no_mangle)]
pub extern "C" fn set_rate(fault: u32, rate: u32) {
    with(|world| {
        let mut rates = world.plan().rates;
        if let Some(place) = rates.0.get_mut(fault as usize) {
            *place = rate;
        }
        world.set_rates(rates);
    });
}

/// Runs the fleet for this many simulated ms, or until an ID is minted twice. Returns 1 then.
#[unsafe(no_mangle)]
pub extern "C" fn run(ms: u32) -> u32 {
    with(|world| world.run_until_duplicate(u64::from(ms))).map_or(0, u32::from)
}

/// Returns a count: 0 IDs, 1 leases, 2 duplicates and windows that were left, 3 violations of order, 4 the time in ms,
/// 5 the length of a window in ms, 6 processes, 7 nodes, 8 the start in Unix ms, from 16 on faults of each kind.
#[unsafe(no_mangle)]
pub extern "C" fn count(which: u32) -> f64 {
    with(|world| {
        let tally = &world.checker().tally;
        (match which {
            0 => tally.ids,
            1 => tally.leases,
            2 => tally.duplicates,
            3 => tally.disorders,
            4 => world.now_ms(),
            5 => world.plan().window_ms,
            6 => world.plan().holders as u64,
            7 => Plan::NODES as u64,
            8 => START_MS.cast_unsigned(),
            _ => tally.faults.get((which as usize).wrapping_sub(16)).copied().unwrap_or(0),
        }) as f64
    })
    .unwrap_or(0.0)
}

/// Returns the number of claims so far.
#[unsafe(no_mangle)]
pub extern "C" fn spans() -> u32 {
    with(|world| world.checker().spans.len() as u32).unwrap_or(0)
}

/// Returns a part of a claim: 0 its process, 1 its node, -1 without one, 2 and 3 start and end of its window, 4 and 5 the
/// first and past the last instant with an ID, 6 whether it is closed. Times are ms from the start of the run.
#[unsafe(no_mangle)]
pub extern "C" fn span(at: u32, part: u32) -> f64 {
    with(|world| {
        let Span { holder, windows, closed, minted_ms, .. } = world.checker().spans.get(at as usize)?;
        let (node, window) = windows.last().copied().map_or((None, None), |(node, window)| (Some(node), Some(window)));
        let since = |ms: i64| (ms - START_MS) as f64;
        Some(match part {
            0 => *holder as f64,
            1 => node.map_or(-1.0, f64::from),
            2 => window.map_or(-1.0, |Window { start_ms, .. }| since(start_ms)),
            3 => window.map_or(-1.0, |Window { end_ms, .. }| since(end_ms)),
            4 => minted_ms.map_or(-1.0, |(first_ms, _)| since(first_ms)),
            5 => minted_ms.map_or(-1.0, |(_, last_ms)| since(last_ms)),
            _ => f64::from(u8::from(*closed)),
        })
    })
    .flatten()
    .unwrap_or(-1.0)
}

/// Returns a part of the first duplicate: 0 its node, 1 its time in ms from the start, 2 and 3 its claims, 4 and 5 the
/// high and low half of the ID; -1 without one.
#[unsafe(no_mangle)]
pub extern "C" fn duplicate(part: u32) -> f64 {
    with(|world| {
        let Duplicate { id, node, tick_ms, claims } = world.checker().duplicate?;
        Some(match part {
            0 => f64::from(node),
            1 => (tick_ms - START_MS) as f64,
            2 => claims[0] as f64,
            3 => claims[1] as f64,
            4 => (id >> 32) as f64,
            _ => (id & 0xffff_ffff) as f64,
        })
    })
    .flatten()
    .unwrap_or(-1.0)
}
