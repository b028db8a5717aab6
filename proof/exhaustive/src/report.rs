//! Runs the checker on a model, and prints what it found.

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

use stateright::{Checker, Expectation, HasDiscoveries, Model};

/// Explores all states of a model. Prints their number, and each property that fails with a short way to it.
///
/// Returns whether each property holds.
pub fn check<M>(name: &str, bounds: &str, model: M) -> bool
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let started = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = model.checker().threads(threads).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!(
        "{name}: {} states, {} transitions, {} steps deep, {:.1} s ({bounds})",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        started.elapsed().as_secs_f64()
    );
    let discoveries = checker.discoveries();
    let mut holds = true;
    let mut failed = false;
    for property in checker.model().properties() {
        if let (Expectation::Always, Some(path)) = (&property.expectation, discoveries.get(property.name)) {
            failed = true;
            let actions = path.clone().into_actions();
            println!("  does not hold: {}, after {} steps:", property.name, actions.len());
            for (number, action) in actions.iter().enumerate() {
                println!("    {:>2}. {action:?}", number + 1);
            }
        }
    }
    // A search that stopped at a failure has not seen all states.
    for property in checker.model().properties() {
        if matches!(property.expectation, Expectation::Sometimes) && !discoveries.contains_key(property.name) && !failed
        {
            println!("  never happens: {}", property.name);
            holds = false;
        }
    }
    holds && !failed
}
