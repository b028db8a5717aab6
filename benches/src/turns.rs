//! Contenders that take turns, so that other load of the machine slows all of them alike.

use std::fmt::Debug;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 401;
const SUSTAINED_ROUNDS: usize = 21;
const SUSTAINED: Duration = Duration::from_millis(250);
const IDS_A_TURN: usize = 20_000;
/// Enough IDs that two threads mint at the same time nearly all the time, though they do not begin at the same moment.
const IDS_A_SHARED_TURN: usize = 200_000;

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
        let turn = move || mint_and_check(name, calls, &mut last, &mut mint);
        Self { name, turn: Box::new(turn), ns: Vec::with_capacity(ROUNDS) }
    }
}

/// Mints by `calls` calls.
fn mint_and_check<T: Id, E: Debug>(name: &str, calls: usize, last: &mut T, mint: &mut impl FnMut() -> Result<T, E>) {
    for _ in 0..calls {
        let id = mint().expect("an ID");
        // A measurement of something that repeats is worth nothing.
        assert!(id > *last, "{name}: {id:?} after {last:?}");
        *last = id;
    }
}

/// A generator from which two threads mint at the same time.
pub(crate) struct Shared<'a> {
    name: &'static str,
    /// Makes the turn of a thread.
    turn: Box<dyn Fn() -> Box<dyn FnMut() + 'a> + Sync + 'a>,
}

#[allow(dead_code, reason = "other programs measure one thread")]
impl<'a> Shared<'a> {
    /// `minter` makes the function of a thread, which mints an ID a call.
    pub(crate) fn new<T: Id + 'a, E: Debug, M: FnMut() -> Result<T, E> + 'a>(
        name: &'static str,
        minter: impl Fn() -> M + Sync + 'a,
    ) -> Self {
        let turn = move || {
            let (mut mint, mut last) = (minter(), T::default());
            let turn = move || mint_and_check(name, IDS_A_SHARED_TURN, &mut last, &mut mint);
            Box::new(turn) as Box<dyn FnMut() + 'a>
        };
        Self { name, turn: Box::new(turn) }
    }
}

/// Prints a table as `compare` does, of two threads at once. The slower one of each turn counts.
#[allow(dead_code, reason = "other programs measure one thread")]
#[allow(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn compare_two_threads(title: &str, contenders: &[Shared<'_>]) {
    let together = Barrier::new(2);
    let measured = thread::scope(|scope| {
        let measure = || {
            let mut turns: Vec<_> = contenders.iter().map(|contender| ((contender.turn)(), Vec::new())).collect();
            for round in 0..ROUNDS / 4 {
                for i in 0..contenders.len() {
                    let (turn, ns) = &mut turns[(round + i) % contenders.len()];
                    together.wait();
                    let started = Instant::now();
                    turn();
                    ns.push(started.elapsed().as_nanos() as f64 / IDS_A_SHARED_TURN as f64);
                }
            }
            turns.into_iter().map(|(_, ns)| ns).collect::<Vec<_>>()
        };
        [scope.spawn(measure), scope.spawn(measure)].map(|thread| thread.join().expect("a measurement"))
    });
    let [here, there] = measured;
    let slower = here.into_iter().zip(there).map(|(here, there)| here.into_iter().zip(there).map(|(a, b)| a.max(b)));
    print(title, contenders.iter().map(|contender| contender.name).zip(slower.map(Iterator::collect)).collect());
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
    print(title, contenders.iter().map(|contender| (contender.name, contender.ns.clone())).collect());
}

fn print(title: &str, measured: Vec<(&str, Vec<f64>)>) {
    let first = measured[0].1.clone();
    let rows = measured.into_iter().map(|(name, mut ns)| {
        let mut ratios: Vec<_> = ns.iter().zip(&first).map(|(ns, first)| ns / first).collect();
        let [_, ratio, _] = deciles(&mut ratios);
        let [low, median, high] = deciles(&mut ns);
        format!("{{\"name\":{name:?},\"p10\":{low:.2},\"median\":{median:.2},\"p90\":{high:.2},\"ratio\":{ratio:.3}}}")
    });
    let rows: Vec<_> = rows.collect();
    println!("{{\"title\":{title:?},\"unit\":\"ns\",\"rows\":[{}]}}", rows.join(","));
}

/// Prints a table as `compare` does: the time an ID over whole ms. For layouts with 4,096 IDs a ms and the time at bit
/// 22.
#[allow(dead_code, reason = "other programs measure the cost of a call")]
#[allow(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn sustained(title: &str, contenders: &mut [(&'static str, &mut dyn FnMut() -> u64)]) {
    let ceiling = 1e6 / 4096.0;
    let mut measured = vec![("floor: 4,096 IDs a ms", vec![ceiling; SUSTAINED_ROUNDS])];
    measured.extend(contenders.iter().map(|(name, _)| (*name, Vec::new())));
    for _ in 0..SUSTAINED_ROUNDS {
        for ((name, mint), (_, ns)) in contenders.iter_mut().zip(&mut measured[1..]) {
            let begun = Instant::now();
            let mut ids = Vec::with_capacity(2 * 4096 * SUSTAINED.as_millis() as usize);
            while begun.elapsed() < SUSTAINED {
                ids.extend((0..64).map(|_| mint()));
            }
            assert!(ids.is_sorted_by(|before, next| before < next), "{name}: IDs repeat or come out of order");
            // The first and the last ms are cut off by the measurement.
            let (first, last) = (ids[0] >> 22, ids[ids.len() - 1] >> 22);
            let whole = ids.iter().filter(|id| (first + 1..last).contains(&(**id >> 22))).count();
            ns.push((last - first - 1) as f64 * 1e6 / whole as f64);
        }
    }
    print(title, measured);
}

/// Returns the 10th, 50th and 90th percentile.
pub(crate) fn deciles(values: &mut [f64]) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    [10, 50, 90].map(|percent| values[values.len() * percent / 100])
}
