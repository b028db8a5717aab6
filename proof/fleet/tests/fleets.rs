//! A few fleets, in each test run. `make prove` runs them for two minutes, and without each check.

use snowmint_fleet::faults::Fault;
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
    for fault in Fault::ALL {
        assert!(sum.faults[fault as usize] > 0, "no {}", fault.name());
    }
}

#[test]
fn the_fleet_of_the_page_repeats_nothing() {
    let mut world = World::new(Plan::for_page(), Random::new(1));
    assert!(!world.run_until_duplicate(300 * world.plan().window_ms));
    let tally = &world.checker().tally;
    assert_eq!((tally.violation, tally.numbers), (None, 0));
    assert!(tally.ids > 30_000 && tally.all_faults() > 300, "{tally:?}");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    for seed in [1, 2, 3] {
        let counts = |world: &World| {
            let Tally { ids, numbers, leases, faults, .. } = world.checker().tally;
            (world.now_ms(), ids, numbers, leases, faults)
        };
        assert_eq!(counts(&fleet(seed)), counts(&fleet(seed)), "seed {seed}");
    }
    assert_ne!(fleet(1).now_ms(), fleet(2).now_ms());
}
