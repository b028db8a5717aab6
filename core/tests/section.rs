//! Sections over a store that loses replies and delays writes. Allocators crash, pause, restart and take over from each
//! other.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;

use proptest::prelude::*;
use snowmint_core::bytes::label;
use snowmint_core::section::{
    Claim, Claimed, Held, MIN_MEMORY_BYTES, Memory, RECORD_BYTES, Record, SIZE, STEP, Section, Terms, Users,
    refuse_little_memory,
};
use snowmint_core::segment::{LAST, RETRY_MS};
use snowmint_core::store::{Ask, Next, Reply, Version};
use snowmint_core::{Error, ErrorKind, Integer};

const WINDOW_MS: u64 = 1000;

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
    record: Option<[u8; RECORD_BYTES]>,
    version: Version,
    late: VecDeque<(u8, Record, Version)>,
    writes: usize,
}

impl Store {
    fn write(&mut self, record: Record, expected: Version) -> Reply<Record> {
        if self.version != expected {
            return Reply::Conflict;
        }
        self.record = Some(record.to_bytes());
        self.version += 1;
        self.writes += 1;
        Reply::Written(self.version)
    }

    fn answer(&mut self, ask: Ask<Record>, fate: Fate) -> Reply<Record> {
        for _ in 0..self.late.len() {
            match self.late.pop_front().expect("counted") {
                (0, record, expected) => drop(self.write(record, expected)),
                (left, record, expected) => self.late.push_back((left - 1, record, expected)),
            }
        }
        let reply = match (ask, fate) {
            (_, Fate::Dropped) => return Reply::Unknown,
            (Ask::Write(record, expected), Fate::Late(requests)) => {
                self.late.push_back((requests, record, expected));
                return Reply::Unknown;
            }
            (Ask::Write(record, expected), _) => self.write(record, expected),
            (Ask::Read, _) => Reply::Record(self.record(), self.version),
            (Ask::Add(_), _) => panic!("a section has no counter"),
        };
        if fate == Fate::Fine { reply } else { Reply::Unknown }
    }

    fn record(&self) -> Option<Record> {
        self.record.as_ref().map(|bytes| Record::from_bytes(bytes).expect("a record"))
    }

    /// Takes a section over that is free, with a memory.
    fn held_with<M: Memory>(&mut self, terms: Terms, memory: M) -> Section<M> {
        Section::new(self.claim(&mut Claim::new(terms), 0, &[]).expect("free"), memory)
    }

    /// Runs a claim until it holds the section, or has to wait.
    fn claim(&mut self, claim: &mut Claim, now_ms: u64, fates: &[Fate]) -> Result<Held, u64> {
        let (mut fates, mut reply) = (fates.iter(), None);
        for _ in 0..10 {
            match claim.next(reply, now_ms).expect("the same users") {
                Next::Done(Claimed::Held(held)) => return Ok(held),
                Next::Done(Claimed::Wait(wait_ms)) => return Err(wait_ms),
                Next::Ask(ask) => reply = Some(self.answer(ask, *fates.next().unwrap_or(&Fate::Fine))),
            }
        }
        Err(1)
    }

    /// Takes a section over, and waits as long as needed.
    fn held(&mut self, terms: Terms, now_ms: &mut u64) -> Section<Vec<u64>> {
        let mut claim = Claim::new(terms);
        loop {
            match self.claim(&mut claim, *now_ms, &[]) {
                Ok(held) => return Section::new(held, vec![0; 30]),
                Err(wait_ms) => *now_ms += wait_ms,
            }
        }
    }

    fn next<M: Memory>(
        &mut self,
        section: &mut Section<M>,
        user: u64,
        now_ms: u64,
        fates: &[Fate],
    ) -> Result<u64, Error> {
        let mut fates = fates.iter();
        loop {
            match section.next(Integer::from(user), now_ms)? {
                Next::Done(number) => return Ok(number),
                Next::Ask(ask) => section.reply(self.answer(ask, *fates.next().unwrap_or(&Fate::Fine)), now_ms)?,
            }
        }
    }
}

/// Users 60 to 89.
fn users() -> Users {
    Users::of(Integer::from(77u64), NonZeroU32::new(30).expect("not zero")).expect("a user")
}

fn terms(token: u128, step: u64) -> Terms {
    Terms::new(users(), token, Integer::from(step), WINDOW_MS, label("an allocator")).expect("valid")
}

/// The first user, a user in the middle and the last user.
const USERS: [u64; 4] = [60, 61, 75, 89];

/// A memory with room for two users, and for at most `REACH` numbers above the base for each user.
#[derive(Debug, Default)]
struct Small<const REACH: u64> {
    base: u64,
    above: HashMap<usize, u8>,
}

impl<const REACH: u64> Memory for Small<REACH> {
    const REACH: u64 = REACH;

    fn last(&mut self, place: usize) -> Option<u64> {
        Some(self.base + self.above.get(&place).copied().map_or(0, u64::from))
    }

    fn keep(&mut self, place: usize, number: u64) -> bool {
        assert!(self.base < number && number - self.base <= REACH, "{number} above {}", self.base);
        let room = self.above.contains_key(&place) || self.above.len() < 2;
        if room {
            self.above.insert(place, u8::try_from(number - self.base).expect("within the reach"));
        }
        room
    }

    fn forget(&mut self, base: u64) {
        *self = Self { base, above: HashMap::new() };
    }
}

/// One of two kinds of memory.
#[derive(Debug)]
enum Kept {
    Slice(Vec<u64>),
    Small(Small<20>),
}

impl Kept {
    fn new(is_small: bool) -> Self {
        if is_small { Self::Small(Small::default()) } else { Self::Slice(vec![0; 30]) }
    }
}

impl Memory for Kept {
    const REACH: u64 = 20;

    fn last(&mut self, place: usize) -> Option<u64> {
        match self {
            Self::Slice(slice) => slice.last(place),
            Self::Small(small) => small.last(place),
        }
    }

    fn keep(&mut self, place: usize, number: u64) -> bool {
        match self {
            Self::Slice(slice) => slice.keep(place, number),
            Self::Small(small) => small.keep(place, number),
        }
    }

    fn forget(&mut self, base: u64) {
        match self {
            Self::Slice(slice) => slice.forget(base),
            Self::Small(small) => small.forget(base),
        }
    }
}

#[allow(clippy::large_enum_variant, reason = "there are three")]
enum Allocator {
    Claiming(Claim),
    Holding(Section<Kept>),
}

#[derive(Clone, Copy, Debug)]
enum Action {
    /// Takes a number, or a step of the claim.
    Next(usize),
    Renew,
    Release,
    /// Forgets the numbers of its users.
    Forget,
    Crash,
}

/// Lengths of time, of which half are a bit shorter or longer than a window.
fn passed_ms() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..100, 3 => 200u64..900, 2 => 900u64..1400]
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        6 => Just(Fate::Fine),
        1 => Just(Fate::Unheard),
        1 => Just(Fate::Dropped),
        2 => (0u8..8).prop_map(Fate::Late),
    ];
    proptest::collection::vec(fate, 0..4)
}

fn script() -> impl Strategy<Value = Vec<(usize, u64, Action, Vec<Fate>)>> {
    let action = prop_oneof![
        12 => (0..USERS.len()).prop_map(Action::Next),
        3 => Just(Action::Renew),
        1 => Just(Action::Release),
        1 => Just(Action::Forget),
        1 => Just(Action::Crash),
    ];
    proptest::collection::vec((0usize..3, passed_ms(), action, fates()), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_of_each_user_increase_over_crashes_lost_answers_and_take_overs(step in 1u64..6, small in 0usize..4, script in script()) {
        let mut store = Store::default();
        let mut tokens = 0..;
        let mut fresh = || Allocator::Claiming(Claim::new(terms(tokens.next().expect("endless"), step)));
        let mut allocators = [(); 3].map(|()| fresh());
        let mut last = HashMap::new();
        // Three different clocks: one runs an eighth faster, and one an eighth slower.
        let clock = |who: usize, time_ms: u64| 5_000_000 * who as u64 + time_ms * (7 + who as u64) / 8;
        let mut time_ms = 0;
        for (who, passed_ms, action, fates) in script {
            time_ms += passed_ms;
            let now_ms = clock(who, time_ms);
            let stays = match (&mut allocators[who], action) {
                (_, Action::Crash) => false,
                (Allocator::Claiming(claim), _) => {
                    if let Ok(held) = store.claim(claim, now_ms, &fates) {
                        allocators[who] = Allocator::Holding(Section::new(held, Kept::new(who < small)));
                    }
                    true
                }
                (Allocator::Holding(section), Action::Next(at)) => {
                    match store.next(section, USERS[at], now_ms, &fates) {
                        Ok(number) => {
                            let before = last.insert(USERS[at], number).unwrap_or(0);
                            prop_assert!(number > before, "user {}: {} after {}", USERS[at], number, before);
                            true
                        }
                        Err(error) => error.retry_after_ms().is_some_and(|ms| ms <= RETRY_MS),
                    }
                }
                (Allocator::Holding(section), Action::Renew) => match section.renew(now_ms) {
                    Ok(Some(ask)) => {
                        let fate = fates.first().unwrap_or(&Fate::Fine);
                        section.reply(store.answer(ask, *fate), now_ms).is_ok()
                    }
                    Ok(None) => true,
                    Err(_) => false,
                },
                (Allocator::Holding(section), Action::Forget) => {
                    section.forget();
                    true
                }
                (Allocator::Holding(section), Action::Release) => {
                    if let Some(ask) = section.release() {
                        store.answer(ask, *fates.first().unwrap_or(&Fate::Fine));
                    }
                    let error = section.next(Integer::from(60u64), now_ms).expect_err("closed");
                    prop_assert_eq!(error.kind(), ErrorKind::WindowClosed);
                    false
                }
            };
            if !stays {
                allocators[who] = fresh();
            }
        }
    }

    #[test]
    fn numbers_are_unique_even_under_clocks_that_jump(step in 1u64..6, small in 0usize..4, script in script(), jumps in proptest::collection::vec(any::<u32>(), 150)) {
        let mut store = Store::default();
        let mut tokens = 0..;
        let mut fresh = || Allocator::Claiming(Claim::new(terms(tokens.next().expect("endless"), step)));
        let mut allocators = [(); 3].map(|()| fresh());
        let mut ledger = std::collections::HashSet::new();
        for ((who, _, action, fates), now_ms) in script.into_iter().zip(jumps) {
            let now_ms = u64::from(now_ms);
            let stays = match (&mut allocators[who], action) {
                (_, Action::Crash) => false,
                (Allocator::Claiming(claim), _) => {
                    if let Ok(held) = store.claim(claim, now_ms, &fates) {
                        allocators[who] = Allocator::Holding(Section::new(held, Kept::new(who < small)));
                    }
                    true
                }
                (Allocator::Holding(section), Action::Forget) => {
                    section.forget();
                    true
                }
                (Allocator::Holding(section), action) => {
                    let at = if let Action::Next(at) = action { at } else { 0 };
                    match store.next(section, USERS[at], now_ms, &fates) {
                        Ok(number) => {
                            prop_assert!(ledger.insert((at, number)), "user {}: {} twice", USERS[at], number);
                            prop_assert!(number <= section.record().max_seq);
                            true
                        }
                        Err(error) => error.kind() == ErrorKind::Exhausted,
                    }
                }
            };
            if !stays {
                allocators[who] = fresh();
            }
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(record) = Record::from_bytes(&bytes) {
            prop_assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
        }
        let mut whole = store_with(5).record.expect("a record");
        for (place, byte) in whole.iter_mut().skip(12).zip(bytes) {
            *place = byte;
        }
        if let Ok(record) = Record::from_bytes(&whole) {
            prop_assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
        }
    }
}

/// A section that was given back.
fn store_with(max_seq: u64) -> Store {
    let mut store = Store::default();
    let mut section = store.held(terms(99, 10), &mut 0);
    store.answer(section.release().expect("held"), Fate::Fine);
    let record = Record { max_seq, ..store.record().expect("written") };
    store.record = Some(record.to_bytes());
    store
}

#[test]
fn after_a_restart_every_user_continues_from_max_seq() {
    let (mut store, mut now_ms) = (Store::default(), 0);
    let mut section = store.held(terms(1, 10), &mut now_ms);
    for user in USERS {
        let numbers = [(); 4].map(|()| store.next(&mut section, user, now_ms, &[]));
        assert_eq!(numbers, [Ok(1), Ok(2), Ok(3), Ok(4)]);
    }
    // The first holder gives nothing back.
    drop(section);
    let mut section = store.held(terms(2, 10), &mut now_ms);
    assert_eq!(now_ms, WINDOW_MS, "a whole window");
    for user in 60..90 {
        assert_eq!(store.next(&mut section, user, now_ms, &[]), Ok(11), "user {user}");
    }
    // The same with the memory of an earlier holder.
    store.answer(section.release().expect("held"), Fate::Fine);
    let mut memory = [3; 30];
    memory[7] = 20;
    let held = store.claim(&mut Claim::new(terms(3, 10)), now_ms, &[]).expect("given back");
    let mut section = Section::new(held, &mut memory[..]);
    for user in [60, 67, 89] {
        let Next::Ask(ask) = section.next(Integer::from(user), now_ms).expect("held") else { continue };
        section.reply(store.answer(ask, Fate::Fine), now_ms).expect("held");
        assert_eq!(section.next(Integer::from(user), now_ms), Ok(Next::Done(21)));
    }
}

#[test]
fn a_full_memory_hands_out_nothing_until_the_users_are_forgotten() {
    let mut store = Store::default();
    let mut section = store.held_with(terms(1, 10), Small::<3>::default());
    assert_eq!([60, 61, 60].map(|user| store.next(&mut section, user, 0, &[])), [Ok(1), Ok(1), Ok(2)]);
    let error = store.next(&mut section, 75, 0, &[]).expect_err("room for two");
    assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(RETRY_MS)));
    assert_eq!(error.to_string(), "there is no memory for another user: retry in 100 ms");
    assert!(error.is_users_full());
    assert_eq!(store.next(&mut section, 61, 0, &[]), Ok(2), "a user with memory");
    section.forget();
    assert_eq!([75, 60, 75].map(|user| store.next(&mut section, user, 0, &[])), [Ok(11), Ok(11), Ok(12)]);
}

#[test]
fn a_user_beyond_the_reach_of_the_memory_begins_above_max_seq() {
    let mut store = Store::default();
    let mut section = store.held_with(terms(1, 5), Small::<3>::default());
    let numbers = [(); 7].map(|()| store.next(&mut section, 60, 0, &[]).expect("held"));
    assert_eq!(numbers, [1, 2, 3, 6, 7, 8, 11]);
    assert_eq!(store.next(&mut section, 61, 0, &[]), Ok(11), "all users of the section do");
    assert_eq!(section.record().max_seq, 15);
}

#[test]
fn a_little_memory_is_refused() {
    assert_eq!(refuse_little_memory(MIN_MEMORY_BYTES), Ok(()));
    let error = refuse_little_memory(MIN_MEMORY_BYTES - 1).expect_err("too small");
    assert_eq!(error.to_string(), "the memory for users must be at least 1048576 bytes, not 1048575");
    assert_eq!(error.kind(), ErrorKind::InvalidId);
}

#[test]
fn no_number_above_the_durable_max_seq_is_handed_out() {
    let mut store = Store::default();
    let mut section = store.held(terms(1, 3), &mut 0);
    assert_eq!(store.writes, 1);
    let writes = [(); 8].map(|()| {
        store.next(&mut section, 75, 0, &[]).expect("held");
        (store.writes, store.record().expect("written").max_seq)
    });
    assert_eq!(writes, [(2, 3), (2, 3), (2, 3), (3, 6), (3, 6), (3, 6), (4, 9), (4, 9)]);
    // The durable maximum covers another user's number.
    assert_eq!((store.next(&mut section, 60, 0, &[]), store.writes), (Ok(1), 4));
}

#[test]
fn an_old_holder_hands_out_nothing_after_a_conflict() {
    let (mut store, mut now_ms) = (Store::default(), 0);
    let mut old = store.held(terms(1, 2), &mut now_ms);
    assert_eq!(store.next(&mut old, 60, 0, &[]), Ok(1));
    let mut new = store.held(terms(2, 2), &mut now_ms);
    assert_eq!(store.next(&mut new, 60, now_ms, &[]), Ok(3));
    // Its clock stood still, so it takes itself for the holder.
    assert_eq!(
        [(); 2].map(|()| store.next(&mut old, 60, 0, &[]).map_err(|error| error.kind())),
        [Ok(2), Err(ErrorKind::WindowClosed)]
    );
    for user in USERS {
        let error = store.next(&mut old, user, 0, &[]).expect_err("lost");
        assert_eq!(error.to_string(), "another allocator has this section: ask it, or take the section over again");
    }
    assert_eq!(old.release(), None);
    assert_eq!(store.next(&mut new, 60, now_ms, &[]), Ok(4));
}

#[test]
fn a_holder_that_paused_renews_before_it_hands_out() {
    let mut store = Store::default();
    let mut section = store.held(terms(1, 10), &mut 0);
    store.next(&mut section, 60, 0, &[]).expect("held");
    assert_eq!(section.renew(WINDOW_MS / 2 - 1), Ok(None));
    assert_eq!((store.next(&mut section, 60, 749, &[]), store.writes), (Ok(2), 2));
    assert_eq!((store.next(&mut section, 60, 750, &[]), store.writes), (Ok(3), 3), "a renewal first");
    let ask = section.renew(750 + WINDOW_MS / 2).expect("held").expect("due");
    assert_eq!(section.renew(1250), Ok(None), "one at a time");
    // The reply is late. The tenure counts from when the request was sent.
    section.reply(store.answer(ask, Fate::Fine), 1900).expect("held");
    assert_eq!((store.next(&mut section, 60, 1999, &[]), store.writes), (Ok(4), 4));
    assert_eq!((store.next(&mut section, 60, 2000, &[]), store.writes), (Ok(5), 5));
}

#[test]
fn others_are_served_while_one_waits_for_the_store() {
    let mut store = Store::default();
    let mut section = store.held(terms(1, 2), &mut 0);
    for number in [1, 2] {
        assert_eq!(store.next(&mut section, 60, 0, &[]), Ok(number));
    }
    let Ok(Next::Ask(ask)) = section.next(Integer::from(60u64), 0) else { panic!("used up") };
    assert_eq!(section.next(Integer::from(61u64), 0), Ok(Next::Done(1)));
    let error = section.next(Integer::from(60u64), 0).expect_err("under way");
    assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(1)));
    assert_eq!(section.release(), None, "what is under way may be done");
    let _ = store.answer(ask, Fate::Fine);
}

#[test]
fn a_write_without_a_reply_counts_when_it_is_seen() {
    for fate in [Fate::Unheard, Fate::Dropped, Fate::Late(0), Fate::Late(1)] {
        let mut store = Store::default();
        let mut section = store.held(terms(1, 10), &mut 0);
        let error = store.next(&mut section, 60, 5, &[fate]).expect_err("not known yet");
        assert_eq!(error.retry_after_ms(), Some(RETRY_MS), "{fate:?}");
        assert_eq!(store.next(&mut section, 60, 5 + RETRY_MS, &[]), Ok(1), "{fate:?}");
        let max_seq = store.record().expect("written").max_seq;
        assert_eq!((max_seq, section.record().max_seq), (10, 10), "{fate:?}");
    }
}

#[test]
fn a_section_that_was_given_back_is_free_at_once() {
    let mut store = Store::default();
    let mut section = store.held(terms(1, 10), &mut 0);
    store.next(&mut section, 60, 0, &[]).expect("held");
    store.answer(section.release().expect("held"), Fate::Fine);
    assert_eq!(section.next(Integer::from(60u64), 0).expect_err("closed").kind(), ErrorKind::WindowClosed);
    let mut now_ms = 0;
    let mut section = store.held(terms(2, 10), &mut now_ms);
    assert_eq!((now_ms, store.next(&mut section, 60, 0, &[])), (0, Ok(11)));
}

#[test]
fn a_successor_waits_for_the_holders_window_not_its_own() {
    let mut store = Store::default();
    let label = label("patient");
    let patient = Terms::new(users(), 1, Integer::from(10u64), 60_000, label).expect("valid");
    store.held(patient, &mut 0);
    let mut now_ms = 7;
    store.held(terms(2, 10), &mut now_ms);
    assert_eq!(now_ms, 60_007);
}

#[test]
fn one_of_two_allocators_takes_a_section_over() {
    let mut store = store_with(0);
    let mut claims = [1, 2].map(|token| Claim::new(terms(token, 10)));
    let asks = claims.each_mut().map(|claim| {
        claim.next(None, 0).expect("asks");
        match claim.next(Some(store.answer(Ask::Read, Fate::Fine)), 0) {
            Ok(Next::Ask(ask)) => ask,
            other => panic!("{other:?}"),
        }
    });
    let replies = asks.map(|ask| store.answer(ask, Fate::Fine));
    assert!(matches!(claims[0].next(Some(replies[0]), 0), Ok(Next::Done(Claimed::Held(_)))));
    assert!(matches!(claims[1].next(Some(replies[1]), 0), Ok(Next::Ask(Ask::Read))));
    let read = store.answer(Ask::Read, Fate::Fine);
    assert!(matches!(claims[1].next(Some(read), 0), Ok(Next::Done(Claimed::Wait(WINDOW_MS)))));
}

#[test]
fn a_claim_whose_reply_was_lost_holds_when_it_is_seen() {
    for fate in [Fate::Unheard, Fate::Dropped, Fate::Late(0), Fate::Late(1)] {
        let mut store = Store::default();
        let mut claim = Claim::new(terms(1, 10));
        let held = store.claim(&mut claim, 5, &[Fate::Fine, fate]).expect("nobody else");
        let mut section = Section::new(held, vec![0; 30]);
        assert_eq!(store.next(&mut section, 60, 5, &[]), Ok(1), "{fate:?}");
    }
}

#[test]
fn numbers_end_at_the_largest_signed_number() {
    let mut store = store_with(LAST - 2);
    let mut section = store.held(terms(1, 10), &mut 0);
    let numbers = [(); 3].map(|()| store.next(&mut section, 60, 0, &[]).map_err(|error| error.kind()));
    assert_eq!(numbers, [Ok(LAST - 1), Ok(LAST), Err(ErrorKind::Exhausted)]);
    let error = store.next(&mut section, 60, 0, &[]).expect_err("the end");
    assert_eq!((error.retry_after_ms(), store.record().expect("written").max_seq), (None, LAST));
    assert_eq!(store.next(&mut section, 61, 0, &[]), Ok(LAST - 1), "another user");
}

#[test]
fn a_section_has_a_range_of_users() {
    let of = |user: u64| Users::of(Integer::from(user), SIZE).expect("a user");
    assert_eq!((of(0), of(0).number(), of(0).last()), (of(99_999), 0, 99_999));
    assert_eq!((of(100_000).number(), of(100_000).first()), (1, 100_000));
    assert_eq!(of(u64::MAX).last(), u64::MAX);
    assert_eq!(SIZE.get(), 100_000);
    assert_eq!(of((1 << 32) - 1).number(), 42_949, "the 42,950 sections of the article");
    let negative = Users::of(Integer::from(-5i64), SIZE).expect_err("no user");
    assert_eq!(
        (negative.kind(), negative.to_string().as_str()),
        (ErrorKind::InvalidId, "user -5 is outside this section")
    );

    let mut store = Store::default();
    let held = store.claim(&mut Claim::new(terms(1, 10)), 0, &[]).expect("free");
    // Memory for fewer users than the section has.
    let mut section = Section::new(held, [0; 29]);
    for user in [Integer::from(59u64), Integer::from(89u64), Integer::from(90u64), Integer::Above] {
        assert_eq!(section.next(user, 0).expect_err("outside").kind(), ErrorKind::InvalidId);
    }
    assert!(section.next(Integer::from(88u64), 0).is_ok());
}

#[test]
fn a_section_of_another_size_is_refused() {
    let mut store = store_with(5);
    let users = Users::of(Integer::from(77u64), NonZeroU32::new(20).expect("not zero")).expect("a user");
    let terms = Terms::new(users, 1, Integer::from(STEP), WINDOW_MS, label("")).expect("valid");
    let error = Claim::new(terms).next(Some(store.answer(Ask::Read, Fate::Fine)), 0).expect_err("other users");
    assert_eq!(error.kind(), ErrorKind::InvalidStore);
    assert_eq!(
        error.to_string(),
        "the record of this section is for users 60 to 89: use the same section size as before"
    );
}

#[test]
fn a_step_is_at_least_one_and_a_window_a_second() {
    let refused = |step: i64, window_ms| {
        let label = label("");
        Terms::new(users(), 1, Integer::from(step), window_ms, label).expect_err("refused").to_string()
    };
    assert_eq!(refused(0, 1000), "a step is 1 to 2147483647 numbers, not 0");
    assert_eq!(refused(10, 999), "the window of a section must be at least 1000 ms, not 999");
}

#[test]
fn a_record_survives_its_bytes_and_other_bytes_are_refused() {
    let record = Record {
        released: true,
        token: u128::MAX - 3,
        max_seq: LAST,
        renewals: u64::MAX,
        window_ms: 7,
        users: users(),
        label: label("10.0.0.7:8080"),
    };
    let bytes = record.to_bytes();
    assert_eq!(Record::from_bytes(&bytes), Ok(record));
    let changed = |place: usize, byte| {
        let mut bytes = bytes;
        bytes[place] = byte;
        Record::from_bytes(&bytes).expect_err("no record").to_string()
    };
    assert_eq!(changed(8, 9), "the record has version 9, and this snowmint reads up to 1: update snowmint");
    let none = "the value in the store is not a record of snowmint";
    // The record of another key, a number beyond 2^63-1, users that are not a section, no users.
    assert_eq!([(0, 0), (39, 0x80), (56, 61), (64, 0)].map(|(place, byte)| changed(place, byte)), [none; 4]);
    assert!(Record::from_bytes(&bytes[1..]).is_err());
}
