//! The generator on the system's clock, under threads, and at its limits.

use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use snowmint_core::layouts::{self, BAIDU, SAFE53, SNOWMINT, TWITTER};
use snowmint_core::{
    Error, ErrorKind, Host, Integer, Layout, MAX_BATCH, Options, Run, SequenceStart, Snowflake, SystemHost, Words,
};
use snowmint_tests::assert_increasing;

const NOW_MS: i64 = 1_772_323_200_000;

fn generator(layout: &Layout, options: Options) -> Snowflake {
    Snowflake::with(layout, 5, options, Words::vouched())
}

#[test]
fn a_tick_holds_exactly_ids_per_tick() {
    let generator = Snowflake::new(&TWITTER, Integer::from(5)).expect("node 5 fits");
    let ids: Vec<_> = (0..4096).map(|_| generator.try_next_id(NOW_MS).expect("within the tick")).collect();
    assert_increasing(&ids);
    let error = generator.try_next_id(NOW_MS).expect_err("the tick is used up");
    assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(1)));
    assert!(generator.try_next_id(NOW_MS + 1).expect("a new tick") > ids[4095]);
}

#[test]
fn threads_on_one_generator_get_unique_increasing_ids() {
    let options = Options { max_ahead_ms: 60_000, ..Options::DEFAULT };
    let generator = generator(&SNOWMINT, options);
    let all = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mint = |_| generator.next_id(&mut SystemHost::new()).expect("within max_ahead_ms");
                let ids: Vec<u64> = (0..100_000).map(mint).collect();
                assert_increasing(&ids);
                all.lock().expect("no thread panicked").extend(ids);
            });
        }
    });
    let mut ids = all.into_inner().expect("no thread panicked");
    ids.sort_unstable();
    assert_eq!(ids.len(), 800_000);
    assert_increasing(&ids);
}

#[test]
fn a_node_beyond_the_layout_is_refused_and_never_masked() {
    for (name, layout) in layouts::all() {
        let last = layout.nodes() - 1;
        assert_eq!(layout.node(Integer::from(last)).map(u64::from), Ok(last), "{name}");
        for beyond in [Integer::from(last + 1), Integer::from(u64::MAX), Integer::from(-1), Integer::Above] {
            let error = layout.node(beyond).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::InvalidNode, "{name}");
        }
    }
}

#[test]
fn an_ended_layout_mints_no_id() {
    assert_eq!(BAIDU.refuse_if_over(NOW_MS).expect_err("over since 2024").kind(), ErrorKind::TimeOverflow);
    assert_eq!(SNOWMINT.refuse_if_over(NOW_MS), Ok(()));
    // Before the epoch a generator can be opened; each call reports the early clock.
    assert_eq!(SNOWMINT.refuse_if_over(0), Ok(()));
    let error = generator(&BAIDU, Options::DEFAULT).try_next_id(NOW_MS).expect_err("over");
    assert_eq!(error.kind(), ErrorKind::TimeOverflow);
}

/// A clock that stands still and counts the pauses.
struct Frozen {
    host: SystemHost,
    pauses: u32,
}

impl Frozen {
    fn new() -> Self {
        Self { host: SystemHost::new(), pauses: 0 }
    }
}

impl Host for Frozen {
    type Error = Error;

    fn now_ms(&mut self) -> Result<i64, Error> {
        Ok(NOW_MS)
    }

    fn pause(&mut self, ms: u64) -> Result<(), Error> {
        self.pauses += 1;
        assert!(self.pauses < 1000, "a call waits for ever");
        self.host.pause(ms)
    }

    fn paused_ms(&mut self) -> u64 {
        self.host.paused_ms()
    }
}

#[test]
fn a_call_on_a_frozen_clock_ends_by_its_deadline() {
    let options = Options { max_wait_ms: 100, ..Options::DEFAULT };
    let generator = generator(&TWITTER, options);
    generator.fill(&mut Frozen::new(), &mut vec![0; 4096]).expect("a whole tick");
    let started = Instant::now();
    let error = generator.next_id(&mut Frozen::new()).expect_err("the clock stands still");
    assert_eq!(error.kind(), ErrorKind::Exhausted);
    assert!(started.elapsed().as_millis() >= 100, "it waited as long as it may");
    assert_eq!(generator.try_next_id(NOW_MS + 1).map(|id| TWITTER.decode(id).map(|parts| parts.sequence)), Ok(Ok(0)));
}

#[test]
fn a_batch_beyond_the_deadline_is_refused_and_takes_nothing() {
    let options = Options { max_wait_ms: 5, ..Options::DEFAULT };
    let generator = generator(&TWITTER, options);
    let mut host = Frozen::new();
    let error = generator.fill(&mut host, &mut vec![0; 4096 * 7]).expect_err("needs 6 ms more");
    assert_eq!(host.paused_ms(), 0, "it never waited");
    assert_eq!(error.retry_after_ms(), Some(6));
    let id = generator.try_next_id(NOW_MS).expect("nothing was taken");
    assert_eq!(TWITTER.decode(id).expect("its own").sequence, 0);
}

#[test]
fn a_batch_waits_for_the_clock_and_comes_whole() {
    let generator = generator(&TWITTER, Options::DEFAULT);
    let mut ids = vec![0; 50_000];
    generator.fill(&mut SystemHost::new(), &mut ids).expect("12 ms of IDs within a second");
    assert_increasing(&ids);
}

#[test]
fn batches_of_absurd_size_are_refused_before_memory_is_taken() {
    assert_eq!(Integer::from(MAX_BATCH).batch(), usize::try_from(MAX_BATCH).map_err(|_| unreachable!()));
    for absurd in [Integer::from(-1), Integer::from(MAX_BATCH + 1), Integer::from(1u64 << 40), Integer::Above] {
        assert_eq!(absurd.batch().expect_err("absurd").kind(), ErrorKind::InvalidId);
    }
}

#[test]
fn random_starts_spread_over_the_lower_half_of_the_sequence() {
    let options = Options { sequence_start: SequenceStart::Random, seed: 42, ..Options::DEFAULT };
    let generator = generator(&TWITTER, options);
    let starts: Vec<_> = (0..2000)
        .map(|ms| TWITTER.decode(generator.try_next_id(NOW_MS + ms).expect("a new tick")).expect("its own").sequence)
        .collect();
    assert!(starts.iter().all(|start| *start < 2048));
    for eighth in 0..8 {
        let inside = starts.iter().filter(|start| **start / 256 == eighth).count();
        assert!((150..350).contains(&inside), "{inside} of 2000 starts in an eighth of the range");
    }
}

#[test]
fn random_fields_are_filled_and_ids_still_increase() {
    let layout = Layout::parse("time:41,sequence:4,random:18;epoch=2025-01-01T00:00:00Z").expect("valid");
    let generator = Snowflake::with(&layout, 0, Options { seed: 7, ..Options::DEFAULT }, Words::vouched());
    let ids: Vec<_> = (0..3000).map(|i| generator.try_next_id(NOW_MS + i / 10).expect("free")).collect();
    assert_increasing(&ids);
    let mut random: Vec<_> = ids.iter().map(|id| layout.decode(*id).expect("its own").random).collect();
    random.sort_unstable();
    random.dedup();
    assert!(random.len() > 2900, "{} of 3000 random values differ", random.len());
}

#[test]
fn safe53_ids_are_safe_integers_in_javascript() {
    let generator = generator(&SAFE53, Options::DEFAULT);
    assert!(generator.try_next_id(SAFE53.ends_at_ms()).expect("the last tick") < 1 << 53);
}

#[test]
fn a_64_bit_layout_never_mints_its_last_two_ids() {
    let layout = Layout::parse("time:41,sequence:23;epoch=2025-01-01T00:00:00Z").expect("64 bits");
    let now_ms = layout.ends_at_ms();
    for by_ones in [true, false] {
        let generator = Snowflake::new(&layout, Integer::from(0)).expect("the only node");
        generator.try_run(now_ms, (1 << 23) - 5, 0).expect("all but five");
        for last in [u64::MAX - 4, u64::MAX - 3, u64::MAX - 2] {
            let id = if by_ones { generator.try_next_id(now_ms) } else { one(generator.try_run(now_ms, 1, 0)) };
            assert_eq!(id, Ok(last));
        }
        assert_eq!(generator.try_next_id(now_ms).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
    }
}

fn one(run: Result<Run<'_>, Error>) -> Result<u64, Error> {
    run.map(|mut run| run.next().expect("one"))
}
