//! A few fleets, in each test run. `make prove` runs them for two minutes, and without each check.

use snowmint_core::lease::Reservation;
use snowmint_fleet::faults::{Fault, Rates};
use snowmint_fleet::plan::Plan;
use snowmint_fleet::random::Random;
use snowmint_fleet::tally::Tally;
use snowmint_fleet::world::World;

/// Runs the fleet of a seed.
fn fleet(seed: u64) -> World {
    let mut world = World::of_seed(seed);
    world.run(20_000);
    world
}

#[test]
fn forty_fleets_meet_all_faults_and_repeat_nothing() {
    let mut sum = Tally::default();
    for seed in 0..40 {
        let world = fleet(seed);
        let tally = &world.checker().tally;
        assert_eq!(tally.violation, None, "seed {seed}");
        sum.add(tally);
    }
    assert_eq!((sum.duplicates, sum.disorders), (0, 0));
    assert!(sum.ids > 40_000 && sum.numbers > 40_000 && sum.takeovers > 400, "{sum:?}");
    assert!(sum.reserved_ids > 4000 && sum.slots > 100 && sum.unconfirmed > 20, "{sum:?}");
    for fault in Fault::ALL {
        assert!(sum.faults[fault as usize] > 0, "no {}", fault.name());
    }
}

#[test]
fn the_fleet_of_the_page_repeats_nothing() {
    let mut world = World::new(Plan::for_page(), Random::new(1));
    assert!(!world.run_until_duplicate(300 * world.plan().window_ms));
    let tally = &world.checker().tally;
    assert_eq!((tally.violation, tally.numbers, tally.slots), (None, 0, 0));
    assert!(tally.ids > 30_000 && tally.all_faults() > 300, "{tally:?}");
}

/// The machines are never connected for long, and their processes are killed all the time.
#[test]
fn machines_that_are_cut_off_start_processes_and_repeat_nothing() {
    let mut sum = Tally::default();
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let plan = Plan { machines: 2, tenants: 1, holders: 2, ..Plan::of_seed(&mut random) };
        let reserve_ms = Reservation::MIN_MS.max(24 * plan.window_ms);
        assert_eq!(Reservation::refuse_length(reserve_ms, plan.window_ms), Ok(()));
        let mut rates = Rates::DEFAULT;
        (rates.0[Fault::CutOff as usize], rates.0[Fault::Crash as usize]) = (100, 200);
        let mut world = World::new(Plan { reserve_ms, rates, ..plan }, random);
        world.run(20_000);
        assert_eq!(world.checker().tally.violation, None, "seed {seed}");
        sum.add(&world.checker().tally);
    }
    assert!(sum.reserved_ids > 10_000 && sum.unconfirmed > 100, "{sum:?}");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    for seed in [1, 2, 3] {
        let counts = |world: &World| {
            let Tally { ids, numbers, leases, slots, faults, .. } = world.checker().tally;
            (world.now_ms(), ids, numbers, leases, slots, faults)
        };
        assert_eq!(counts(&fleet(seed)), counts(&fleet(seed)), "seed {seed}");
    }
    assert_ne!(fleet(1).now_ms(), fleet(2).now_ms());
}
