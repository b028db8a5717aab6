//! The real generator on slot files and arbitrary clocks, with the thread that renews its window.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use snowmint::host::{ClockId, Environment, ProcessGenerator};
use snowmint::{Error, LeaseOptions};
use snowmint_core::{ErrorKind, Host, Layout, Options};
use snowmint_tests::tries;

/// A clock that moves only when a script or a wait moves it.
struct Scripted {
    now_ms: i64,
    paused_ms: u64,
}

impl Host for Scripted {
    type Error = Error;

    fn now_ms(&mut self) -> Result<i64, Error> {
        Ok(self.now_ms)
    }

    fn pause(&mut self, ms: u64) -> Result<(), Error> {
        // Real time passes too, for the thread that renews.
        thread::sleep(Duration::from_micros(200));
        self.now_ms = self.now_ms.saturating_add_unsigned(ms);
        self.paused_ms += ms;
        Ok(())
    }

    fn paused_ms(&mut self) -> u64 {
        self.paused_ms
    }
}

/// A step of a script: a generator, how far its clock moves first, and its action.
#[derive(Clone, Copy, Debug)]
struct Step {
    generator: usize,
    clock_ms: i64,
    action: Action,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Try,
    Next,
    Take(usize),
    Close,
}

fn steps() -> impl Strategy<Value = Step> {
    let clock_ms = prop_oneof![10 => -5i64..30, 8 => -300i64..2500, 1 => -200_000_000i64..200_000_000];
    let action = prop_oneof![
        6 => Just(Action::Try),
        4 => Just(Action::Next),
        3 => (1usize..200).prop_map(Action::Take),
        1 => Just(Action::Close),
    ];
    (0usize..3, clock_ms, action).prop_map(|(generator, clock_ms, action)| Step { generator, clock_ms, action })
}

/// Whether a clock can cause an error of this kind. Any other kind would be a fault of the store or of the generator.
fn expected(kind: ErrorKind) -> bool {
    use ErrorKind::{BeforeEpoch, ClockBackwards, Exhausted, NodesExhausted, WindowClosed};
    matches!(kind, Exhausted | ClockBackwards | WindowClosed | NodesExhausted | BeforeEpoch)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tries(64), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generators_on_slot_files_repeat_no_id_under_any_clock(
        script in proptest::collection::vec(steps(), 1..80),
        max_ahead_ms in prop_oneof![Just(0u64), 0u64..2000],
    ) {
        // Fewer nodes than generators.
        let layout = Layout::parse("time:41,node:1,sequence:4;epoch=1735689600007;tick=10ms").expect("valid");
        let slots = tempfile::tempdir().expect("a directory");
        let store = format!("file:{}?allow_unsafe=true", slots.path().display());
        let options = Options { max_ahead_ms, max_wait_ms: 30, ..Options::DEFAULT };
        let open = |clock: usize, host: &mut Scripted| {
            let lease = LeaseOptions::new()
                .layout(layout)
                .store(&store)
                .window(Duration::from_secs(1))
                .options(options)
                .clock_id(ClockId(clock));
            ProcessGenerator::open(lease, &Environment::default(), host)
        };
        let mut clocks_ms = [1_772_323_200_123; 3];
        let mut generators: [Option<ProcessGenerator>; 3] = Default::default();
        let mut ledger = HashSet::new();
        for Step { generator: number, clock_ms, action } in script {
            let mut host = Scripted { now_ms: clocks_ms[number] + clock_ms, paused_ms: 0 };
            let mut ids = Vec::new();
            // A lease belongs to one clock, so each generator has a separate lease.
            let called = match generators[number].take().map_or_else(|| open(number + 1, &mut host), Ok) {
                Err(error) => Err(error),
                Ok(generator) => {
                    let called = match action {
                        Action::Try => generator.try_next_id(host.now_ms).map(|id| ids.push(id)),
                        Action::Next => generator.next_id(&mut host).map(|id| ids.push(id)),
                        Action::Take(count) => generator.take(&mut host, count, |run| ids.extend(run)),
                        Action::Close => {
                            generator.close();
                            generator.try_next_id(host.now_ms).map(|id| ids.push(id))
                        }
                    };
                    let lost = generator.status().lost;
                    prop_assert!(lost.is_none(), "lost: {:?}", lost);
                    generators[number] = (!generator.status().closed).then_some(generator);
                    called
                }
            };
            clocks_ms[number] = host.now_ms;
            if let Err(error) = called {
                prop_assert!(expected(error.kind()), "{:?}", error);
            }
            for id in ids {
                prop_assert!(ledger.insert(id), "a duplicate ID: {} of {:?}", id, layout.decode(id));
            }
        }
    }
}
