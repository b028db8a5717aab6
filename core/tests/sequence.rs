//! Sequences in the three dialects: transcripts of `PostgreSQL` 15 and `MariaDB` 10.11, and sessions over a store that
//! loses replies and delays writes.

use std::collections::{HashMap, HashSet, VecDeque};

use proptest::prelude::*;
use snowmint_core::sequence::{Dialect, Kind, Options, Rules, Sequence, Set, State, lastval};
use snowmint_core::store::{Ask, Next, Reply, Version};
use snowmint_core::{Error, ErrorKind};

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Fine,
    /// Done, but the reply is lost.
    Unheard,
    /// Not done, and no reply.
    Dropped,
    /// Done after some more requests; the reply is lost.
    Late(u8),
}

/// One record as bytes.
#[derive(Default)]
struct Store {
    record: Option<Vec<u8>>,
    version: Version,
    late: VecDeque<(u8, State, Version)>,
    requests: usize,
}

impl Store {
    fn write(&mut self, state: State, expected: Version) -> Reply<State> {
        if self.version != expected {
            return Reply::Conflict;
        }
        self.record = Some(state.to_bytes().to_vec());
        self.version += 1;
        Reply::Written(self.version)
    }

    fn answer(&mut self, ask: Ask<State>, fate: Fate) -> Reply<State> {
        self.requests += 1;
        for _ in 0..self.late.len() {
            match self.late.pop_front().expect("counted") {
                (0, state, expected) => drop(self.write(state, expected)),
                (left, state, expected) => self.late.push_back((left - 1, state, expected)),
            }
        }
        let reply = match (ask, fate) {
            (_, Fate::Dropped) => return Reply::Unknown,
            (Ask::Write(state, expected), Fate::Late(requests)) => {
                self.late.push_back((requests, state, expected));
                return Reply::Unknown;
            }
            (Ask::Write(state, expected), _) => self.write(state, expected),
            (Ask::Read, _) => {
                let record = self.record.as_ref().map(|bytes| State::from_bytes(bytes).expect("a record"));
                Reply::Record(record, self.version)
            }
            (Ask::Add(_), _) => panic!("a sequence has no counter"),
        };
        if fate == Fate::Fine { reply } else { Reply::Unknown }
    }

    fn drive<T>(
        &mut self,
        fates: &[Fate],
        mut call: impl FnMut(Option<Reply<State>>) -> Result<Next<T, State>, Error>,
    ) -> Result<T, Error> {
        let mut fates = fates.iter();
        let mut reply = None;
        loop {
            match call(reply)? {
                Next::Done(done) => return Ok(done),
                Next::Ask(ask) => reply = Some(self.answer(ask, *fates.next().unwrap_or(&Fate::Fine))),
            }
        }
    }

    fn next(&mut self, sequence: &mut Sequence) -> Result<i128, Error> {
        self.drive(&[], |reply| sequence.next(reply))
    }

    fn take<const N: usize>(&mut self, sequence: &mut Sequence) -> [i128; N] {
        std::array::from_fn(|_| self.next(sequence).expect("a value"))
    }

    fn set(&mut self, sequence: &mut Sequence, set: Set) -> Result<Option<i128>, Error> {
        self.drive(&[], |reply| sequence.set(&set, reply))
    }

    fn to(&mut self, sequence: &mut Sequence, value: i128) -> Option<i128> {
        self.set(sequence, Set::to(value)).expect("set")
    }
}

fn open(options: Options) -> (Store, Sequence) {
    (Store::default(), session(options))
}

fn session(options: Options) -> Sequence {
    Sequence::new(Rules::new(&options).expect("valid"))
}

fn before(value: i128) -> Set {
    Set { is_called: Some(false), ..Set::to(value) }
}

fn round(value: i128, round: u64) -> Set {
    Set { round: Some(round), ..Set::to(value) }
}

const PG: Options = Options::DEFAULT;
const MARIADB: Options = Options { dialect: Dialect::Mariadb, ..PG };
const TIDB: Options = Options { dialect: Dialect::Tidb, ..PG };
const ALL: [Options; 3] = [PG, MARIADB, TIDB];

/// Start 3, increment 2, after 3 and 5.
fn after_3_5(options: Options) -> (Store, Sequence) {
    let (mut store, mut sequence) =
        open(Options { start: Some(3), increment: 2, max: Some(100), min: Some(1), ..options });
    assert_eq!(store.take(&mut sequence), [3, 5]);
    (store, sequence)
}

#[test]
fn the_transcript_of_postgresql_holds() {
    let (mut store, mut s) = open(PG);
    assert_eq!(store.take(&mut s), [1, 2]);
    assert_eq!(s.current(), Ok(Some(2)));
    assert_eq!(store.set(&mut s, before(1)), Ok(Some(1)));
    assert_eq!(store.take(&mut s), [1, 2]);
}

#[test]
fn the_transcript_of_mariadb_holds() {
    let (mut store, mut s) = after_3_5(MARIADB);
    assert_eq!([4, 5, 6].map(|value| store.to(&mut s, value)), [None, Some(5), Some(6)]);
    assert_eq!(store.take(&mut s), [8, 10]);
    assert_eq!(store.set(&mut s, before(20)), Ok(Some(20)));
    assert_eq!(store.take(&mut s), [20, 22]);
    assert_eq!((store.to(&mut s, 50), s.current()), (Some(50), Ok(Some(22))));
    // For MariaDB all values that leave no next value are equal; after 98 comes 100.
    let all = [200, 150, 102, 100, 99].map(|value| store.to(&mut s, value));
    assert_eq!(all, [200, 150, 102, 100, 99].map(Some));
    assert_eq!(store.to(&mut s, 98), None);
    assert_eq!(store.next(&mut s).expect_err("run out").kind(), ErrorKind::Exhausted);
}

#[test]
fn a_set_to_6_is_followed_by_8_and_in_tidb_by_7() {
    for (options, next) in [(PG, [8, 10]), (MARIADB, [8, 10]), (TIDB, [7, 9])] {
        for cache in [1, 2, 3, 1000] {
            let (mut store, mut s) = after_3_5(Options { cache: Some(cache), ..options });
            assert_eq!(store.to(&mut s, 6), Some(6));
            assert_eq!(store.take(&mut s), next, "{options:?}");
        }
    }
}

#[test]
fn a_set_that_is_not_called_comes_next() {
    for options in [PG, MARIADB] {
        let (mut store, mut s) = after_3_5(options);
        assert_eq!(store.set(&mut s, before(20)), Ok(Some(20)));
        assert_eq!(store.take(&mut s), [20, 22]);
    }
    let (mut store, mut s) = after_3_5(TIDB);
    let error = store.set(&mut s, before(20)).expect_err("no such argument");
    assert_eq!(error.to_string(), "setval takes a round only in mariadb, and is_called only in pg and mariadb");
    let error = store.set(&mut s, round(20, 1)).expect_err("no such argument");
    assert_eq!(error.kind(), ErrorKind::InvalidId);
    assert!(session(PG).set(&round(20, 1), None).is_err());
    assert_eq!(store.take(&mut s), [7]);
}

#[test]
fn only_pg_can_set_a_lower_value() {
    let (mut store, mut s) = after_3_5(PG);
    assert_eq!(store.to(&mut s, 1), Some(1));
    assert_eq!(store.take(&mut s), [3]);
    for options in [MARIADB, TIDB] {
        for cache in [1, 1000] {
            let (mut store, mut s) = after_3_5(Options { cache: Some(cache), ..options });
            assert_eq!([4, 3, 1, 0, -100].map(|value| store.to(&mut s, value)), [None; 5]);
            assert_eq!(store.take(&mut s), [7], "changed nothing");
        }
    }
}

#[test]
fn a_set_to_the_last_value_changes_nothing() {
    for cache in [1, 1000] {
        for (options, answer) in [(PG, Some(5)), (MARIADB, Some(5)), (TIDB, None)] {
            let (mut store, mut s) = after_3_5(Options { cache: Some(cache), ..options });
            assert_eq!(store.to(&mut s, 5), answer);
            assert_eq!(store.take(&mut s), [7]);
        }
    }
}

#[test]
fn a_set_above_the_maximum_is_refused_only_in_pg() {
    let (mut store, mut s) = after_3_5(PG);
    for value in [200, 101, 0, -1] {
        let error = store.set(&mut s, Set::to(value)).expect_err("out of bounds");
        assert_eq!(error.to_string(), format!("{value} is outside the bounds of the sequence"));
    }
    assert_eq!(store.take(&mut s), [7]);
    for options in [MARIADB, TIDB] {
        for cache in [1, 1000] {
            let (mut store, mut s) = after_3_5(Options { cache: Some(cache), ..options });
            assert_eq!(store.to(&mut s, 200), Some(200));
            let error = store.next(&mut s).expect_err("run out");
            assert_eq!(error.kind(), ErrorKind::Exhausted);
            assert_eq!(
                error.to_string(),
                "the sequence has reached its bound, 100: move the bound, or let the sequence cycle"
            );
            assert_eq!((error.wait_ms(), error.retry_after_ms()), (None, None));
        }
    }
}

#[test]
fn a_set_outside_the_type_is_refused_in_every_dialect() {
    for options in ALL {
        let (mut store, mut s) = open(Options { kind: Kind::SmallInt, ..options });
        for value in [40_000, -40_000, i128::MAX, i128::MIN] {
            let error = store.set(&mut s, Set::to(value)).expect_err("too large");
            assert_eq!(error.kind(), ErrorKind::InvalidId);
        }
        assert_eq!(store.requests, 0);
    }
}

#[test]
fn a_set_to_null_returns_null_and_changes_nothing() {
    for options in ALL {
        let (mut store, mut s) = after_3_5(options);
        let requests = store.requests;
        assert_eq!(store.set(&mut s, Set::default()), Ok(None));
        assert_eq!((store.requests, store.take(&mut s)), (requests, [7]));
    }
}

#[test]
fn mariadb_compares_sets_by_the_next_value() {
    let (mut store, mut s) = open(Options { min: Some(5), max: Some(7), ..MARIADB });
    // After 4 comes 5, as without the set.
    assert_eq!([4, 3, -100].map(|value| store.to(&mut s, value)), [Some(4), None, None]);
    assert_eq!(store.take(&mut s), [5]);
    assert_eq!([5, 4].map(|value| store.to(&mut s, value)), [Some(5), None]);
    assert_eq!(store.set(&mut s, before(6)), Ok(Some(6)));
    assert_eq!(store.take(&mut s), [6, 7]);
}

#[test]
fn tidbs_new_sequence_is_just_before_its_start() {
    let (mut store, mut s) = open(Options { start: Some(3), increment: 2, ..TIDB });
    assert_eq!([1, 2, 3, 3, 4].map(|value| store.to(&mut s, value)), [None, None, Some(3), None, Some(4)]);
    assert_eq!(store.take(&mut s), [5, 7]);
}

#[test]
fn tidb_stays_in_the_progression_from_the_start() {
    let (mut store, mut s) = open(Options { increment: 2, ..TIDB });
    assert_eq!(store.take(&mut s), [1, 3, 5]);
    assert_eq!(store.to(&mut s, 6), Some(6));
    assert_eq!(store.take(&mut s), [7, 9, 11]);
    assert_eq!([20_000, 19_999].map(|value| store.to(&mut s, value)), [Some(20_000), None]);
    assert_eq!(store.take(&mut s), [20_001, 20_003]);
}

#[test]
fn a_round_reaches_the_cycle_count_in_mariadb() {
    let cycling = Options { start: Some(2), increment: 4, min: Some(1), max: Some(6), cycle: true, ..MARIADB };
    let (mut store, mut s) = open(cycling);
    assert_eq!(store.take(&mut s), [2, 6, 1, 5, 1]);
    assert_eq!(store.set(&mut s, Set::to(5)), Ok(None), "round 0");
    assert_eq!(store.set(&mut s, round(5, 1)), Ok(None));
    assert_eq!(store.set(&mut s, round(2, 2)), Ok(Some(2)));
    assert_eq!(store.take(&mut s), [6]);
    let later = Set { round: Some(9), ..before(3) };
    assert_eq!(store.set(&mut s, later), Ok(Some(3)));
    assert_eq!(store.take(&mut s), [3]);
    let record = State::from_bytes(store.record.as_deref().expect("written")).expect("a record");
    assert_eq!(record.round, 9);
    // A sequence without cycles has one round.
    let (mut store, mut s) = after_3_5(MARIADB);
    let error = store.set(&mut s, round(50, 1)).expect_err("run out");
    assert_eq!(error.kind(), ErrorKind::Exhausted);
    assert_eq!(store.take(&mut s), [7]);
}

#[test]
fn a_cycle_begins_at_the_minimum_not_at_the_start() {
    for options in ALL {
        for cache in [1, 2, 3, 20] {
            let cycling = Options {
                start: Some(2),
                increment: 4,
                min: Some(1),
                max: Some(6),
                cycle: true,
                cache: Some(cache),
                ..options
            };
            let (mut store, mut s) = open(cycling);
            assert_eq!(store.take(&mut s), [2, 6, 1, 5, 1, 5]);
        }
    }
}

#[test]
fn a_descending_cycle_begins_at_the_maximum() {
    for options in ALL {
        let falling = Options { increment: -3, min: Some(-10), max: Some(5), start: Some(0), cycle: true, ..options };
        let (mut store, mut s) = open(Options { cache: Some(3), ..falling });
        assert_eq!(store.take(&mut s), [0, -3, -6, -9, 5, 2]);
    }
    let (mut store, mut s) =
        open(Options { min: Some(5), max: Some(7), start: Some(7), increment: 5, cycle: true, ..PG });
    assert_eq!(store.take(&mut s), [7, 5, 5]);
}

#[test]
fn a_sequence_past_its_bound_stays_exhausted() {
    for options in ALL {
        let (mut store, mut s) = open(Options { min: Some(5), max: Some(7), ..options });
        assert_eq!(store.take(&mut s), [5, 6, 7]);
        for _ in 0..3 {
            assert_eq!(store.next(&mut s).expect_err("run out").kind(), ErrorKind::Exhausted);
        }
        let last = if options.dialect == Dialect::Mariadb { None } else { Some(7) };
        assert_eq!(s.current(), Ok(last));
        let (mut store, mut s) = open(Options { increment: -1, min: Some(-2), ..options });
        assert_eq!(store.take(&mut s), [-1, -2]);
        let error = store.next(&mut s).expect_err("run out");
        assert_eq!(
            error.to_string(),
            "the sequence has reached its bound, -2: move the bound, or let the sequence cycle"
        );
    }
}

#[test]
fn the_last_step_before_2_63_fails_and_does_not_wrap() {
    let top = i128::from(i64::MAX);
    for options in ALL {
        let (mut store, mut s) = open(Options { start: Some(top - 3), increment: 2, ..options });
        assert_eq!(store.take(&mut s), [top - 3, top - 1]);
        assert_eq!(store.next(&mut s).expect_err("run out").kind(), ErrorKind::Exhausted);
    }
    let (mut store, mut s) = open(Options { start: Some(-top), increment: -2, ..PG });
    assert_eq!(store.take(&mut s), [-top]);
    assert!(store.next(&mut s).is_err());
    let giant = Options { increment: top, cache: Some(top), ..PG };
    let (mut store, mut s) = open(giant);
    assert_eq!(store.take(&mut s), [1]);
    assert!(store.next(&mut s).is_err());
    let (mut store, mut s) = open(Options { increment: -top - 1, max: Some(top), min: Some(-top - 1), ..giant });
    assert_eq!(store.take(&mut s), [top, -1]);
    assert!(store.next(&mut s).is_err());
}

#[test]
fn each_type_ends_at_its_largest_value() {
    let (mut store, mut s) = open(Options { kind: Kind::SmallInt, start: Some(32_766), ..PG });
    assert_eq!(store.take(&mut s), [32_766, 32_767]);
    assert!(store.next(&mut s).is_err());
    let top = i128::from(u64::MAX);
    for cache in [1, 20] {
        let unsigned = Options { kind: Kind::UnsignedBigInt, cache: Some(cache), ..PG };
        let (mut store, mut s) = open(Options { start: Some(top - 1), ..unsigned });
        assert_eq!(store.take(&mut s), [top - 1, top]);
        let error = store.next(&mut s).expect_err("run out");
        assert!(error.to_string().contains("18446744073709551615"));
        assert_eq!(store.to(&mut s, top), Some(top));
        assert!(store.next(&mut s).is_err());
    }
}

#[test]
fn currval_before_any_next_is_an_error_only_in_pg() {
    let error = session(PG).current().expect_err("none yet");
    assert_eq!(error.kind(), ErrorKind::InvalidId);
    assert_eq!(lastval(None), Err(error));
    assert_eq!(lastval(Some(&session(PG))), Err(error));
    for options in [MARIADB, TIDB] {
        assert_eq!(session(options).current(), Ok(None));
    }
}

#[test]
fn only_pgs_currval_follows_a_set() {
    let (mut store, mut s) = after_3_5(PG);
    assert_eq!((store.to(&mut s, 6), s.current()), (Some(6), Ok(Some(6))));
    assert_eq!(store.take(&mut s), [8]);
    assert_eq!((store.set(&mut s, before(20)), s.current()), (Ok(Some(20)), Ok(Some(8))));
    assert_eq!((store.take(&mut s), s.current()), ([20], Ok(Some(20))));
    for options in [MARIADB, TIDB] {
        let (mut store, mut s) = after_3_5(options);
        assert_eq!((store.to(&mut s, 6), s.current()), (Some(6), Ok(Some(5))));
    }
    // The same before any next.
    let (mut store, mut s) = open(PG);
    assert_eq!((store.to(&mut s, 20), s.current()), (Some(20), Ok(Some(20))));
}

#[test]
fn lastval_follows_the_sequence_last_used_by_next() {
    let (mut store_a, mut a) = after_3_5(PG);
    let (mut store_b, mut b) = open(PG);
    assert_eq!(store_b.to(&mut b, 20), Some(20));
    // The driver remembers that `a` returned a value last.
    assert_eq!(lastval(Some(&a)), Ok(5));
    assert_eq!(store_a.to(&mut a, 50), Some(50));
    assert_eq!(lastval(Some(&a)), Ok(50));
}

#[test]
fn two_sessions_with_cache_20_begin_at_1_and_21() {
    for options in ALL {
        let options = Options { cache: Some(20), ..options };
        let (mut store, mut one) = open(options);
        let mut two = session(options);
        assert_eq!(store.take(&mut one), [1]);
        assert_eq!(store.take(&mut two), [21]);
        assert_eq!(store.take(&mut one), [2, 3]);
        let rest: [i128; 17] = store.take(&mut one);
        assert_eq!(rest[16], 20);
        assert_eq!((store.take(&mut one), store.take(&mut two)), ([41], [22]));
    }
}

#[test]
fn a_block_takes_one_write_and_rarely_a_read() {
    let options = Options { cache: Some(20), ..PG };
    let (mut store, mut one) = open(options);
    let _: [i128; 20] = store.take(&mut one);
    assert_eq!(store.requests, 2);
    let _: [i128; 20] = store.take(&mut one);
    assert_eq!(store.requests, 3);
    assert_eq!(store.take(&mut session(options)), [41]);
    assert_eq!(store.requests, 5);
    assert_eq!(store.take(&mut one), [61]);
    assert_eq!(store.requests, 8, "a conflict, then a read and a write");
}

#[test]
fn other_sessions_see_a_set_after_their_blocks() {
    let options = Options { cache: Some(20), ..PG };
    let (mut store, mut one) = open(options);
    let mut two = session(options);
    assert_eq!((store.take(&mut one), store.take(&mut two)), ([1], [21]));
    assert_eq!(store.set(&mut one, before(5)), Ok(Some(5)));
    assert_eq!(store.take(&mut one), [5]);
    assert_eq!((store.to(&mut one, 1000), store.take(&mut one)), (Some(1000), [1001]));
    let seen: [i128; 20] = store.take(&mut two);
    assert_eq!((seen[0], seen[18], seen[19]), (22, 40, 1021));
}

#[test]
fn a_set_past_the_block_drops_the_block() {
    for options in [MARIADB, TIDB] {
        let options = Options { cache: Some(10), ..options };
        let (mut store, mut one) = open(options);
        let mut two = session(options);
        assert_eq!((store.take(&mut one), store.take(&mut two)), ([1], [11]));
        // The sequence is past 15 already, so the set changes nothing; but 2 must not follow.
        assert_eq!((store.to(&mut one, 15), store.take(&mut one)), (None, [21]));
        assert_eq!((store.to(&mut two, 15), store.take(&mut two)), (Some(15), [16]));
    }
}

#[test]
fn a_set_after_the_block_reads_the_record() {
    let options = Options { cache: Some(1), ..MARIADB };
    let (mut store, mut one) = open(options);
    assert_eq!(store.take(&mut one), [1]);
    let requests = store.requests;
    assert_eq!((store.to(&mut one, 1), store.requests), (Some(1), requests + 1), "read, and nothing to write");
    assert_eq!(store.take(&mut session(options)), [2]);
    assert_eq!(store.to(&mut one, 1), None);
}

#[test]
fn a_set_within_a_block_continues_past_its_end() {
    let options = Options { increment: 2, cache: Some(3), ..MARIADB };
    let (mut store, mut one) = open(options);
    assert_eq!(store.take(&mut one), [1]);
    let requests = store.requests;
    assert_eq!((store.to(&mut one, 2), store.requests), (Some(2), requests), "in memory");
    assert_eq!(store.take(&mut one), [4, 6, 8, 10]);
    // If another session has gone on, this session continues behind it.
    assert_eq!(store.to(&mut one, 11), Some(11));
    assert_eq!(store.take(&mut session(options)), [14]);
    assert_eq!(store.take(&mut one), [13, 20]);
}

#[test]
fn a_set_creates_the_record_too() {
    for options in ALL {
        let (mut store, mut s) = open(options);
        assert_eq!((store.to(&mut s, 5), store.take(&mut s)), (Some(5), [6]));
    }
}

#[test]
fn a_discarded_session_forgets_its_block_and_its_value() {
    let (mut store, mut s) = open(Options { cache: Some(20), ..PG });
    assert_eq!(store.take(&mut s), [1]);
    s.discard();
    assert!(s.current().is_err());
    assert_eq!(store.take(&mut s), [21]);
}

#[test]
fn a_block_whose_reply_was_lost_is_skipped() {
    for fate in [Fate::Unheard, Fate::Dropped, Fate::Late(0), Fate::Late(1)] {
        let (mut store, mut s) = open(Options { cache: Some(20), ..PG });
        let first = store.drive(&[Fate::Fine, fate], |reply| s.next(reply)).expect("a value");
        assert_eq!(first, if fate == Fate::Dropped { 1 } else { 21 }, "{fate:?}");
    }
}

#[test]
fn a_set_whose_reply_was_lost_is_not_done_twice() {
    for fate in [Fate::Unheard, Fate::Dropped, Fate::Late(0), Fate::Late(1)] {
        let (mut store, mut s) = after_3_5(PG);
        let mut other = session(Options { start: Some(3), increment: 2, max: Some(100), ..PG });
        let set = Set::to(50);
        let mut reply = None;
        for fate in [Fate::Fine, fate] {
            let Ok(Next::Ask(ask)) = s.set(&set, reply) else { panic!("asks") };
            reply = Some(store.answer(ask, fate));
        }
        let Ok(Next::Ask(Ask::Read)) = s.set(&set, reply) else { panic!("reads") };
        let between = store.next(&mut other).expect("a value");
        let mut reply = Some(store.answer(Ask::Read, Fate::Fine));
        let done = loop {
            match s.set(&set, reply).expect("set") {
                Next::Done(done) => break done,
                Next::Ask(ask) => reply = Some(store.answer(ask, Fate::Fine)),
            }
        };
        assert_eq!(done, Some(50));
        let next = if between == 52 { 54 } else { 52 };
        assert_eq!((store.take(&mut s), s.current()), ([next], Ok(Some(next))), "{fate:?}");
    }
}

#[test]
fn a_record_of_another_definition_is_refused() {
    let (mut store, mut s) = open(PG);
    assert_eq!(store.take(&mut s), [1]);
    let mut other = session(Options { min: Some(100), ..PG });
    let error = store.next(&mut other).expect_err("out of bounds");
    assert_eq!(error.to_string(), "2 is outside the bounds of the sequence");
}

#[test]
fn an_impossible_record_is_refused_without_an_overflow() {
    for options in ALL {
        for last in [i128::MIN, -(1 << 63) - 1, 1 << 64, i128::MAX] {
            let reply = Reply::Record(Some(State { last, is_called: true, round: 0, sets: 0 }), 1);
            assert_eq!(session(options).next(Some(reply)).expect_err("impossible").code(), "STORE_UNAVAILABLE");
            assert!(session(options).set(&Set::to(5), Some(reply)).is_err());
        }
    }
}

#[test]
fn a_record_survives_its_bytes_and_other_bytes_are_refused() {
    let top = i128::from(u64::MAX);
    for (last, is_called) in [(0, false), (-1 << 63, true), (top, true)] {
        let state = State { last, is_called, round: u64::MAX, sets: 7 };
        assert_eq!(State::from_bytes(&state.to_bytes()), Ok(state));
    }
    let bytes = State { last: 5, is_called: true, round: 0, sets: 0 }.to_bytes();
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes;
        bytes[at] = byte;
        State::from_bytes(&bytes).expect_err("refused")
    };
    let later = "the record has version 2, and this snowmint reads up to 1: update snowmint";
    assert_eq!(with(8, 2).to_string(), later);
    for wrong in [with(0, b'S'), with(8, 0), with(12, 2), with(13, 1), with(24, 1), with(31, 0x80)] {
        assert_eq!(wrong.to_string(), "the value in the store is not a record of snowmint");
        assert_eq!(wrong.kind(), ErrorKind::StoreUnavailable);
    }
    for length in 0..bytes.len() {
        assert!(State::from_bytes(&bytes[..length]).is_err());
    }
    assert!(State::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    // A later version may have another length.
    let longer = [&bytes[..8], &[9, 0, 0, 0], &[0; 90]].concat();
    assert!(State::from_bytes(&longer).expect_err("later").to_string().contains("version 9"));
}

/// The next call of a session.
#[derive(Clone, Copy, Debug)]
enum Call {
    Next,
    Set(i128),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Fine),
        1 => Just(Fate::Unheard),
        1 => Just(Fate::Dropped),
        2 => (0..6u8).prop_map(Fate::Late),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![6 => Just(Call::Next), 1 => (-60..60i128).prop_map(Call::Set)]
}

fn ways() -> impl Strategy<Value = Options> {
    let increment = prop_oneof![1..5i128, -5..-1i128];
    (0..3usize, increment, 1..6i128, -9..9i128).prop_map(|(dialect, increment, cache, start)| Options {
        dialect: Dialect::ALL[dialect],
        increment,
        cache: Some(cache),
        start: Some(start),
        min: Some(-120),
        max: Some(120),
        ..PG
    })
}

/// Lets sessions take turns, one request at a time. Returns the values of each session in order, and the sets that were
/// done, with their places in that list.
#[derive(Default)]
struct Ledger {
    values: [Vec<i128>; 3],
    sets: [Vec<(i128, usize)>; 3],
    /// The number of rounds that were begun.
    rounds: u64,
}

fn run(options: Options, calls: &[Call], turns: &[(usize, Fate, bool)]) -> Ledger {
    let mut store = Store::default();
    let mut sessions = [(); 3].map(|()| (session(options), Call::Next, None));
    let mut calls = calls.iter().copied().cycle();
    let mut ledger = Ledger::default();
    for (who, fate, gives_up) in turns {
        let (sequence, call, reply) = &mut sessions[*who];
        if *gives_up {
            *reply = None;
        }
        let next = match *call {
            Call::Next => sequence.next(*reply).map(|next| match next {
                Next::Done(value) => {
                    ledger.values[*who].push(value);
                    None
                }
                Next::Ask(ask) => Some(ask),
            }),
            Call::Set(value) => sequence.set(&Set::to(value), *reply).map(|next| match next {
                Next::Done(_) => {
                    ledger.sets[*who].push((value, ledger.values[*who].len()));
                    None
                }
                Next::Ask(ask) => Some(ask),
            }),
        };
        if let Ok(Some(ask)) = next {
            *reply = Some(store.answer(ask, *fate));
        } else {
            // The call is complete, or was refused.
            *reply = None;
            *call = calls.next().expect("endless");
        }
    }
    ledger.rounds = store.record.map_or(0, |bytes| State::from_bytes(&bytes).expect("a record").round + 1);
    ledger
}

fn turns() -> impl Strategy<Value = Vec<(usize, Fate, bool)>> {
    prop::collection::vec((0..3usize, fate(), prop::bool::weighted(0.05)), 1..150)
}

proptest! {
    #[test]
    fn no_value_is_handed_out_twice(options in ways(), turns in turns()) {
        let ledger = run(options, &[Call::Next], &turns);
        let (start, step) = (options.start.expect("given"), options.increment);
        let mut seen = HashSet::new();
        for values in &ledger.values {
            prop_assert!(values.windows(2).all(|pair| (pair[1] - pair[0]) * step.signum() > 0));
            for value in values {
                prop_assert!(seen.insert(*value), "{value} twice");
                prop_assert!((value - start) * step.signum() >= 0 && (value - start) % step == 0);
                prop_assert!((-120..=120).contains(value));
            }
        }
    }

    #[test]
    fn sets_that_never_go_down_repeat_nothing(
        options in ways().prop_filter("not pg", |options| options.dialect != Dialect::Pg),
        calls in prop::collection::vec(call(), 1..30),
        turns in turns(),
    ) {
        let ledger = run(options, &calls, &turns);
        let sign = options.increment.signum();
        let mut seen = HashSet::new();
        for (values, sets) in ledger.values.iter().zip(&ledger.sets) {
            prop_assert!(values.windows(2).all(|pair| (pair[1] - pair[0]) * sign > 0));
            prop_assert!(values.iter().all(|value| seen.insert(*value)));
            for (value, place) in sets {
                prop_assert!(values[*place..].iter().all(|later| (later - value) * sign > 0), "{value} was passed");
            }
            if options.dialect == Dialect::Tidb {
                prop_assert!(values.iter().all(|v| (v - options.start.expect("given")) % options.increment == 0));
            }
        }
    }

    #[test]
    fn a_session_alone_in_pg_gives_what_arithmetic_gives(
        options in ways().prop_filter("pg", |options| options.dialect == Dialect::Pg),
        calls in prop::collection::vec(call(), 1..30),
        turns in turns(),
    ) {
        let alone: Vec<_> = turns.iter().map(|_| (0, Fate::Fine, false)).collect();
        let ledger = run(options, &calls, &alone);
        let mut expected = options.start.expect("given");
        for (place, value) in ledger.values[0].iter().enumerate() {
            if let Some((set, _)) = ledger.sets[0].iter().rfind(|(_, at)| *at == place) {
                expected = set + options.increment;
            }
            prop_assert_eq!(*value, expected);
            expected += options.increment;
        }
    }

    #[test]
    fn a_cycle_gives_each_value_at_most_once_a_round(options in ways(), turns in turns()) {
        let options = Options { min: Some(-9), max: Some(9), cycle: true, ..options };
        let ledger = run(options, &[Call::Next], &turns);
        let (step, start) = (options.increment, options.start.expect("given"));
        let first = if step > 0 { -9 } else { 9 };
        let mut counts = HashMap::new();
        for value in ledger.values.iter().flatten() {
            prop_assert!((value - start) % step == 0 || (value - first) % step == 0);
            prop_assert!((-9..=9).contains(value));
            *counts.entry(value).or_insert(0) += 1;
        }
        prop_assert!(counts.values().all(|count| *count <= ledger.rounds));
    }
}
