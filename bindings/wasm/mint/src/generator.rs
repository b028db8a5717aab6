//! Generators by handle. The time is an argument: to read it through an import would cost as much as the call itself.

use glue::{Single, answer, buffer, keep, kept};
use snowmint_core::{Layout, Minter, Options, Run, SequenceStart, Words};

type Generator = Minter<&'static Words>;

/// The IDs that are taken and not yet drained.
static TAKEN: Single<Option<Run<'static>>> = Single::new(None);

/// A new handle of the state of a node. The caller keeps one for each clock, layout (by its numbers) and node.
#[unsafe(no_mangle)]
pub extern "C" fn words() -> u32 {
    keep(Words::vouched())
}

/// A new handle of a generator of `node`, which `parse_node` has checked. The caller keeps one for each combination of
/// arguments. `now_ms` is any early time if the user passes a clock.
#[unsafe(no_mangle)]
pub extern "C" fn open(
    layout: u32,
    words: u32,
    node: u32,
    max_ahead_ms: f64,
    start: u32,
    seed: f64,
    now_ms: f64,
) -> i32 {
    let layout: &Layout = kept(layout);
    answer(layout.refuse_if_over(now_ms as i64), |()| {
        let options = Options {
            max_ahead_ms: max_ahead_ms as u64,
            sequence_start: SequenceStart::ALL[start as usize],
            seed: seed.to_bits(),
            ..Options::DEFAULT
        };
        keep(Generator::new(layout, node, &options, kept(words)))
    })
}

/// Checks integer 0 as the size of a batch, and returns it.
#[unsafe(no_mangle)]
pub extern "C" fn batch() -> i32 {
    answer(buffer().integer(0).batch(), |count| count as u32)
}

/// Takes up to `want` IDs (1 or more), if the rest will be free within `patience_ms`. Returns how many `drain` will
/// write.
#[unsafe(no_mangle)]
pub extern "C" fn take(generator: u32, now_ms: f64, want: u32, patience_ms: f64) -> i32 {
    let run = kept::<Generator>(generator).try_run(now_ms as i64, u64::from(want), patience_ms as u64);
    answer(run, |run| {
        let count = run.len();
        *TAKEN.get() = Some(run);
        count as u32
    })
}

/// Writes the next taken IDs to the words, and returns their count.
#[unsafe(no_mangle)]
pub extern "C" fn drain() -> u32 {
    let Some(run) = TAKEN.get() else { return 0 };
    run.write(&mut buffer().words) as u32
}

/// How long, in ms, a call sleeps before it tries again, if it has to wait `wanted_ms` and has waited `waited_ms`; 0:
/// it gives up.
#[unsafe(no_mangle)]
pub extern "C" fn pause_ms(max_wait_ms: f64, wanted_ms: f64, waited_ms: f64) -> f64 {
    Options { max_wait_ms: max_wait_ms as u64, ..Options::DEFAULT }.pause_ms(wanted_ms as u64, waited_ms as u64) as f64
}
