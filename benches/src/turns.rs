//! Contenders that take turns, so that what else the machine does hits all of them alike.

use std::fmt::Debug;
use std::time::Instant;

const ROUNDS: usize = 401;
const IDS_A_TURN: usize = 20_000;

/// Something that mints.
pub(crate) struct Contender<'a> {
    name: &'static str,
    turn: Box<dyn FnMut() + 'a>,
    ns: Vec<f64>,
}

impl<'a> Contender<'a> {
    /// An ID a call.
    pub(crate) fn new<T: Id + 'a, E: Debug>(name: &'static str, mint: impl FnMut() -> Result<T, E> + 'a) -> Self {
        Self::of(name, IDS_A_TURN, mint)
    }

    /// 1000 IDs a call, which answers the last one.
    pub(crate) fn batch<T: Id + 'a, E: Debug>(name: &'static str, mint: impl FnMut() -> Result<T, E> + 'a) -> Self {
        Self::of(name, IDS_A_TURN / 1000, mint)
    }

    fn of<T: Id + 'a, E: Debug>(name: &'static str, calls: usize, mut mint: impl FnMut() -> Result<T, E> + 'a) -> Self {
        let mut last = T::default();
        let turn = move || {
            for _ in 0..calls {
                let id = mint().expect("an ID");
                // A measurement of something that repeats is worth nothing.
                assert!(id > last, "{name}: {id:?} after {last:?}");
                last = id;
            }
        };
        Self { name, turn: Box::new(turn), ns: Vec::with_capacity(ROUNDS) }
    }
}

/// An ID: a number, or text.
pub(crate) trait Id: PartialOrd + Default + Debug {}

impl<T: PartialOrd + Default + Debug> Id for T {}

/// Prints a table as a line of JSON: the median time an ID in ns with its 10th and 90th percentile, and the ratio to the first
/// contender's, turn by turn. `benches/run.py` reads it.
#[allow(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn compare(title: &str, contenders: &mut [Contender<'_>]) {
    for round in 0..ROUNDS {
        let count = contenders.len();
        for i in 0..count {
            // Each goes first in turn.
            let contender = &mut contenders[(round + i) % count];
            let started = Instant::now();
            (contender.turn)();
            contender.ns.push(started.elapsed().as_nanos() as f64 / IDS_A_TURN as f64);
        }
    }
    let first = contenders[0].ns.clone();
    let rows = contenders.iter_mut().map(|Contender { name, ns, .. }| {
        let mut ratios: Vec<_> = ns.iter().zip(&first).map(|(ns, first)| ns / first).collect();
        let [_, ratio, _] = deciles(&mut ratios);
        let [low, median, high] = deciles(ns);
        format!("{{\"name\":{name:?},\"p10\":{low:.2},\"median\":{median:.2},\"p90\":{high:.2},\"ratio\":{ratio:.3}}}")
    });
    let rows: Vec<_> = rows.collect();
    println!("{{\"title\":{title:?},\"unit\":\"ns\",\"rows\":[{}]}}", rows.join(","));
}

/// Returns the 10th, 50th and 90th percentile.
fn deciles(values: &mut [f64]) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    [10, 50, 90].map(|percent| values[values.len() * percent / 100])
}
