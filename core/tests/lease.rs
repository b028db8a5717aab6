//! Leases over a store that loses answers and delays writes. Holders pause and crash, and each has a separate clock.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::LazyLock;

use proptest::prelude::*;
use snowmint_core::bytes::label;
use snowmint_core::lease::{Claim, ClaimStep, FenceTime, Floor, NamespaceRecord, Record, Renewal, RenewalStep, Terms};
use snowmint_core::store::{Ask, Reply, Version};
use snowmint_core::{ErrorKind, Layout, Nodes, Options, Snowflake, Window, Words};

const NOW_MS: i64 = 1_772_323_200_123;
const REACH_MS: u64 = 1000;
/// The record of a namespace that counts no nodes.
const PINNED: Option<(NamespaceRecord, Version)> =
    Some((NamespaceRecord { nodes: 0, floor_ms: None, removed: false, reserve_ms: 0 }, 1));

fn layout() -> &'static Layout {
    static LAYOUT: LazyLock<Layout> =
        LazyLock::new(|| Layout::parse("time:41,node:1,sequence:3;epoch=1735689600007;tick=10ms").expect("valid"));
    &LAYOUT
}

fn terms(nonce: u128) -> Terms<'static> {
    Terms {
        layout: layout(),
        max_ahead_ms: 0,
        window_ms: REACH_MS,
        nodes: Nodes::ALL,
        last_node: None,
        system_clock: false,
        nonce,
        label: label("a holder"),
    }
}

/// How a write fares.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Fine,
    /// Done, but the answer is lost.
    Unheard,
    /// Neither done nor heard of.
    Dropped,
    /// Done after some more requests; the answer is lost.
    Late(u8),
}

#[derive(Default)]
struct Store {
    records: BTreeMap<u32, (Record, Version)>,
    /// The namespace's record, which is there.
    pin: NamespaceRecord,
    /// Writes on their way: how many requests they wait for.
    late: VecDeque<(u8, u32, Record, Version)>,
}

impl Store {
    fn apply(&mut self, node: u32, record: Record, expected: Version) -> Reply<Record> {
        let version = self.records.get(&node).map_or(0, |(_, version)| *version);
        if version != expected {
            return Reply::Conflict;
        }
        self.records.insert(node, (record, version + 1));
        Reply::Written(version + 1)
    }

    /// The records, without writes on their way.
    fn snapshot(&self) -> Self {
        Self { records: self.records.clone(), pin: self.pin, late: VecDeque::new() }
    }

    /// What `snowmint fence` makes of it.
    fn restored(mut self, until_ms: i64) -> Self {
        for (record, version) in self.records.values_mut() {
            record.window.end_ms = record.window.end_ms.max(until_ms);
            record.released = true;
            *version += 1;
        }
        self.pin = NamespaceRecord { nodes: self.records.len() as u64, ..self.pin.raised(until_ms) };
        self
    }

    fn tick(&mut self) {
        for _ in 0..self.late.len() {
            let (left, node, record, expected) = self.late.pop_front().expect("counted");
            if left == 0 {
                self.apply(node, record, expected);
            } else {
                self.late.push_back((left - 1, node, record, expected));
            }
        }
    }

    fn write(&mut self, node: u32, record: Record, expected: Version, fate: Fate) -> Reply<Record> {
        self.tick();
        match fate {
            Fate::Fine => self.apply(node, record, expected),
            Fate::Unheard => {
                self.apply(node, record, expected);
                Reply::Unknown
            }
            Fate::Dropped => Reply::Unknown,
            Fate::Late(requests) => {
                self.late.push_back((requests, node, record, expected));
                Reply::Unknown
            }
        }
    }

    fn read(&mut self, node: u32) -> Reply<Record> {
        self.tick();
        self.records
            .get(&node)
            .map_or(Reply::Record(None, 0), |(record, version)| Reply::Record(Some(*record), *version))
    }

    /// A claim as a driver does it; the fates are of its writes.
    fn claim(&mut self, terms: Terms<'_>, now_ms: i64, mut fates: impl Iterator<Item = Fate>) -> Option<Renewal> {
        let mut claim = Claim::new(terms);
        let mut todo = Claim::FIRST;
        for _ in 0..16 {
            todo = match todo {
                ClaimStep::ReadNamespace => claim.namespace(Some((self.pin, 1))),
                ClaimStep::WriteNamespace(pin, _) => {
                    self.pin = pin;
                    claim.namespace_reply(Reply::Written(1))
                }
                ClaimStep::ListNodes => {
                    for (node, (record, version)) in &self.records {
                        claim.see(*node, record, *version, now_ms);
                    }
                    claim.listed(now_ms, self.records.len() as u64)
                }
                ClaimStep::Ask(node, ask) => claim.reply(self.answer(node, ask, &mut fates)),
                ClaimStep::Granted(renewal, _) => return Some(renewal),
                _ => return None,
            }
        }
        None
    }

    fn answer(&mut self, node: u32, ask: Ask<Record>, fates: &mut impl Iterator<Item = Fate>) -> Reply<Record> {
        match ask {
            Ask::Read => self.read(node),
            Ask::Write(record, version) => self.write(node, record, version, fates.next().unwrap_or(Fate::Fine)),
            Ask::Add(_) => unreachable!("leases have no counter"),
        }
    }

    /// A renewal or release as a driver does it.
    fn finish(
        &mut self,
        renewal: &mut Renewal,
        mut keep: RenewalStep,
        mut fates: impl Iterator<Item = Fate>,
    ) -> RenewalStep {
        for _ in 0..6 {
            let RenewalStep::Ask(ask) = keep else { return keep };
            keep = renewal.reply(self.answer(renewal.node(), ask, &mut fates));
        }
        keep
    }
}

/// A holder: its lease as it knows it, and its generator.
struct Holder {
    lease: Renewal,
    generator: Snowflake,
}

impl Holder {
    fn new(lease: &Renewal) -> Self {
        let words = Words::wiped();
        assert!(words.open(layout(), lease.window()), "within the layout");
        Self { lease: *lease, generator: Snowflake::with(layout(), lease.node(), Options::DEFAULT, words) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Mint(u8),
    Renew,
    Release,
    Crash,
    /// Copies the store.
    BackUp,
    /// Stops all holders, puts the copy in the store's place, and raises a fence above all IDs.
    Restore,
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        6 => Just(Fate::Fine),
        1 => Just(Fate::Unheard),
        1 => Just(Fate::Dropped),
        2 => (0u8..12).prop_map(Fate::Late),
    ];
    proptest::collection::vec(fate, 0..4)
}

fn steps() -> impl Strategy<Value = (usize, i64, Action, Vec<Fate>)> {
    let action = prop_oneof![
        6 => (1u8..20).prop_map(Action::Mint),
        4 => Just(Action::Renew),
        2 => Just(Action::Release),
        1 => Just(Action::Crash),
        1 => Just(Action::BackUp),
        1 => Just(Action::Restore),
    ];
    let clock_ms = prop_oneof![10 => -20i64..400, 4 => -3000i64..3000, 1 => -90_000_000i64..90_000_000];
    (0usize..4, clock_ms, action, fates())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_id_is_minted_twice_whatever_becomes_of_writes_and_clocks(
        script in proptest::collection::vec(steps(), 1..100),
    ) {
        let mut store = Store::default();
        let mut clocks_ms = [NOW_MS; 4];
        let mut holders: [Option<Holder>; 4] = Default::default();
        let mut ledger = HashSet::new();
        let mut nonces = 0;
        let mut backup = store.snapshot();
        for (number, clock_ms, action, fates) in script {
            clocks_ms[number] += clock_ms;
            let (now_ms, fates) = (clocks_ms[number], fates.into_iter());
            match action {
                Action::BackUp => backup = store.snapshot(),
                Action::Restore => {
                    holders = Default::default();
                    let last = ledger.iter().map(|id| layout().decode(*id).expect("an ID").timestamp_ms).max();
                    store = backup.restored(last.unwrap_or(NOW_MS) + 1);
                    backup = store.snapshot();
                }
                _ => {}
            }
            let Some(mut holder) = holders[number].take() else {
                nonces += 1;
                holders[number] = store.claim(terms(nonces), now_ms, fates).as_ref().map(Holder::new);
                continue;
            };
            let Holder { lease, generator } = &mut holder;
            let stays = match action {
                Action::Mint(count) => {
                    for _ in 0..count {
                        match generator.try_next_id(now_ms) {
                            Ok(id) => prop_assert!(ledger.insert(id), "a duplicate ID: {}", id),
                            Err(error) => {
                                use ErrorKind::{BeforeEpoch, ClockBackwards, Exhausted, WindowClosed};
                                let kind = error.kind();
                                prop_assert!(matches!(kind, WindowClosed | Exhausted | ClockBackwards | BeforeEpoch));
                            }
                        }
                    }
                    true
                }
                Action::Renew => {
                    let last_ms = generator.words().unused_from_ms(layout()).expect("open");
                    let keep = lease.renew(now_ms, last_ms, REACH_MS);
                    match store.finish(lease, keep, fates) {
                        RenewalStep::Window(window, _) => {
                            generator.words().extend(layout(), window.end_ms);
                            true
                        }
                        RenewalStep::Lost(_) | RenewalStep::Released => {
                            generator.words().close(layout());
                            false
                        }
                        // Nothing is known; it goes on within the old window.
                        RenewalStep::Ask(_) | RenewalStep::Later(_) | RenewalStep::ReadClock => true,
                    }
                }
                Action::Release => {
                    let end_ms = generator.words().close(layout()).expect("open");
                    let keep = lease.release(end_ms);
                    store.finish(lease, keep, fates);
                    false
                }
                Action::Crash => false,
                Action::BackUp | Action::Restore => true,
            };
            holders[number] = stays.then_some(holder);
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(record) = Record::from_bytes(&bytes) {
            prop_assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
        }
    }
}

fn held(store: &mut Store, nonce: u128, now_ms: i64) -> Renewal {
    store.claim(terms(nonce), now_ms, std::iter::empty()).expect("free")
}

#[test]
fn a_record_survives_its_bytes_and_a_later_version_is_refused() {
    let record = Record { released: true, serial: 7, window: Window { start_ms: -5, end_ms: i64::MAX }, ..sample() };
    let mut bytes = record.to_bytes();
    assert_eq!(Record::from_bytes(&bytes), Ok(record));
    bytes[8] = 9;
    let error = Record::from_bytes(&bytes).expect_err("a later version");
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
    assert_eq!(error.to_string(), "the record has version 9, and this snowmint reads up to 1: update snowmint");
    assert!(Record::from_bytes(b"snowmint").is_err());
}

#[test]
fn the_bytes_of_a_record_never_change() {
    let record = Record { released: true, serial: 7, ..sample() };
    assert_eq!(&record.to_bytes()[..16], b"snowmint\x01\0\0\0\x01\0\0\0");
    assert_eq!(&sample().to_bytes()[..16], b"snowmint\x01\0\0\0\0\0\0\0");
    let (start, end) = (NOW_MS.to_le_bytes(), (NOW_MS + 1000).to_le_bytes());
    let parts = [&7u64.to_le_bytes()[..], &start, &end, &5u128.to_le_bytes(), b"a holder", &[0; 60]].concat();
    assert_eq!(record.to_bytes()[16..], parts);
}

fn sample() -> Record {
    Record {
        released: false,
        serial: 1,
        window: Window { start_ms: NOW_MS, end_ms: NOW_MS + 1000 },
        nonce: 5,
        label: label("a holder"),
        layout: 0,
    }
}

#[test]
fn a_second_holder_starts_where_the_first_ones_window_ends() {
    let mut store = Store::default();
    let first = held(&mut store, 1, NOW_MS);
    let second = held(&mut store, 2, NOW_MS);
    assert_eq!((first.node(), second.node()), (0, 1));
    assert!(store.claim(terms(3), NOW_MS, std::iter::empty()).is_none(), "both nodes are held");
    // The clock of the third is ahead, so to it the first one's window is over.
    let third = held(&mut store, 3, NOW_MS + 1010);
    assert_eq!(third.node(), 0);
    assert!(third.window().start_ms >= first.window().end_ms);
}

#[test]
fn a_holder_whose_node_was_given_away_learns_it_at_its_renewal() {
    let mut store = Store::default();
    let mut first = held(&mut store, 1, NOW_MS);
    held(&mut store, 2, NOW_MS);
    held(&mut store, 3, NOW_MS + 1010);
    let keep = first.renew(NOW_MS + 2000, NOW_MS, REACH_MS);
    assert!(matches!(store.finish(&mut first, keep, std::iter::empty()), RenewalStep::Lost(_)));
}

#[test]
fn what_was_released_is_free_at_once_above_the_last_id() {
    let mut store = Store::default();
    let mut first = held(&mut store, 1, NOW_MS);
    // The start of a tick.
    let end_ms = NOW_MS + 14;
    let keep = first.release(end_ms);
    assert_eq!(store.finish(&mut first, keep, std::iter::empty()), RenewalStep::Released);
    let second = held(&mut store, 2, end_ms);
    assert_eq!((second.node(), second.window().start_ms), (0, end_ms));
}

#[test]
fn a_lost_answer_grants_nothing_until_a_read_shows_the_nonce() {
    for (fate, node) in [(Fate::Unheard, 0), (Fate::Dropped, 0)] {
        let mut store = Store::default();
        let lease = store.claim(terms(1), NOW_MS, [fate].into_iter()).expect("in the end");
        assert_eq!(lease.node(), node);
        assert_eq!(store.records[&node].0.nonce, 1);
    }
}

/// Returns the last step of a claim, and how many writes it asked for. `refuse` returns whether the store refuses a
/// write without an answer. The store answers any other write with a conflict, as if another claimer had written first.
fn ends_with(mut refuse: impl FnMut(u32) -> bool) -> (ClaimStep, u32) {
    let mut store = Store::default();
    let mut claim = Claim::new(terms(1));
    let (mut todo, mut writes) = (Claim::FIRST, 0);
    loop {
        todo = match todo {
            ClaimStep::ReadNamespace => claim.namespace(PINNED),
            ClaimStep::ListNodes => claim.listed(NOW_MS, 0),
            ClaimStep::Ask(_, Ask::Write(..)) => {
                writes += 1;
                claim.reply(if refuse(writes) { Reply::Unknown } else { Reply::Conflict })
            }
            ClaimStep::Ask(node, Ask::Read) => claim.reply(store.read(node)),
            end => return (end, writes),
        };
    }
}

#[test]
fn a_store_that_reads_but_does_not_write_is_none_that_answers() {
    let (end, writes) = ends_with(|_| true);
    assert!(matches!(end, ClaimStep::Unanswered), "{end:?}");
    assert_eq!(writes, 3);
}

#[test]
fn a_store_that_answers_writes_in_between_is_asked_on() {
    let (end, writes) = ends_with(|write| write % 3 != 0);
    assert!(matches!(end, ClaimStep::Taken(_)), "{end:?}");
    assert_eq!(writes, 200);
}

#[test]
fn nodes_that_others_took_while_writes_had_no_answer_are_no_refused_writes() {
    let mut claim = Claim::new(terms(1));
    let other = Reply::Record(Some(Record { nonce: 9, ..sample() }), 1);
    let mut todo = claim.namespace(PINNED);
    for _ in 0..199 {
        assert!(matches!(todo, ClaimStep::ListNodes), "{todo:?}");
        let ClaimStep::Ask(node, Ask::Write(..)) = claim.listed(NOW_MS, 0) else { panic!("no write") };
        assert!(matches!(claim.reply(Reply::Unknown), ClaimStep::Ask(same, Ask::Read) if same == node));
        todo = claim.reply(other);
    }
}

/// Returns the step of a claim after it has read the clocks: its clock reads `NOW_MS`, the store's clock `store_ms`.
fn judged(store_ms: Option<i64>) -> ClaimStep {
    let mut claim = Claim::new(Terms { system_clock: true, ..terms(1) });
    assert!(matches!(claim.namespace(PINNED), ClaimStep::ListNodes));
    assert!(matches!(claim.listed(NOW_MS, 0), ClaimStep::ReadClock));
    claim.clock(store_ms, NOW_MS)
}

#[test]
fn a_window_far_beyond_the_stores_clock_is_not_even_asked_for() {
    const HOUR_MS: i64 = 3_600_000;
    assert!(matches!(judged(Some(NOW_MS - HOUR_MS)), ClaimStep::Ask(0, Ask::Write(..))));
    assert!(matches!(judged(None), ClaimStep::Ask(0, Ask::Write(..))));
    let ClaimStep::Refused(error) = judged(Some(NOW_MS - HOUR_MS - 1)) else { panic!("asked") };
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
    assert!(error.to_string().contains("more than an hour after the store's clock"), "{error}");
}

#[test]
fn a_claim_that_finds_others_reads_the_stores_clock_and_the_count_of_nodes_once() {
    let mut claim = Claim::new(Terms { system_clock: true, ..terms(1) });
    claim.namespace(PINNED);
    assert!(matches!(claim.listed(NOW_MS, 0), ClaimStep::ReadClock));
    assert!(matches!(claim.clock(Some(NOW_MS), NOW_MS), ClaimStep::Ask(0, Ask::Write(..))));
    assert!(matches!(claim.reply(Reply::Conflict), ClaimStep::ListNodes));
    let ClaimStep::Ask(_, Ask::Write(..)) = claim.listed(NOW_MS, 0) else { panic!("another node, and the same clock") };
    assert!(matches!(claim.reply(Reply::Written(1)), ClaimStep::ReadNamespace));
    let counted = NamespaceRecord { nodes: 2, ..NamespaceRecord::default() };
    let ClaimStep::Granted(_, Some(0)) = claim.namespace(Some((counted, 5))) else { panic!("others have counted") };
}

#[test]
fn a_renewal_far_beyond_the_stores_clock_waits_until_a_clock_is_right() {
    let mut store = Store::default();
    let Some(ClaimStep::Granted(mut renewal, Some(0))) = (match judged(Some(NOW_MS)) {
        ClaimStep::Ask(node, Ask::Write(record, version)) => {
            let mut claim = Claim::new(Terms { system_clock: true, ..terms(1) });
            claim.namespace(PINNED);
            claim.listed(NOW_MS, 0);
            claim.clock(Some(NOW_MS), NOW_MS);
            claim.reply(store.write(node, record, version, Fate::Fine));
            Some(claim.namespace_reply(Reply::Written(2)))
        }
        _ => None,
    }) else {
        panic!("no lease")
    };
    let far_ms = NOW_MS + 90_000_000;
    assert_eq!(renewal.renew(far_ms, NOW_MS, REACH_MS), RenewalStep::ReadClock);
    assert!(matches!(renewal.clock(Some(NOW_MS), far_ms), RenewalStep::Later(Some(_))));
    assert_eq!(renewal.renew(NOW_MS + 500, NOW_MS, REACH_MS), RenewalStep::ReadClock);
    let keep = renewal.clock(Some(NOW_MS + 400), NOW_MS + 500);
    let window = Window { start_ms: renewal.window().start_ms, end_ms: NOW_MS + 1500 };
    assert_eq!(store.finish(&mut renewal, keep, std::iter::empty()), RenewalStep::Window(window, Some(100)));
}

#[test]
fn the_layout_is_written_where_there_is_none_and_read_where_another_was_first() {
    let mut claim = Claim::new(terms(1));
    assert!(matches!(Claim::FIRST, ClaimStep::ReadNamespace));
    assert!(matches!(claim.namespace(None), ClaimStep::ReadFloor));
    assert!(matches!(claim.floor(None), ClaimStep::ListNodes));
    let first = claim.listed(NOW_MS, 0);
    assert!(matches!(
        first,
        ClaimStep::WriteNamespace(NamespaceRecord { nodes: 0, floor_ms: None, removed: false, reserve_ms: 0 }, 0)
    ));
    assert!(matches!(claim.namespace_reply(Reply::Conflict), ClaimStep::ReadNamespace));
    assert!(matches!(claim.namespace(None), ClaimStep::ReadFloor));
    let floor = Floor { until_ms: 7, skip: 5 };
    assert!(matches!(claim.floor(Some(floor)), ClaimStep::ListNodes));
    assert!(matches!(
        claim.listed(NOW_MS, 0),
        ClaimStep::WriteNamespace(NamespaceRecord { nodes: 0, floor_ms: Some(7), removed: false, reserve_ms: 0 }, 0)
    ));
    assert!(matches!(claim.namespace_reply(Reply::Written(1)), ClaimStep::ListNodes));
}

/// As when a tidy-up removes the record of a namespace, which is written once, and leaves the nodes, which are renewed.
#[test]
fn a_vanished_layout_is_replaced_by_no_other() {
    let of = |layout: &Layout| Record { layout: layout.layout_id().identity(), ..sample() };
    let listed = |layout: u64, found: Option<(NamespaceRecord, Version)>| {
        let mut claim = Claim::new(terms(1));
        if matches!(claim.namespace(found), ClaimStep::ReadFloor) {
            claim.floor(None);
        }
        claim.see(0, &Record { layout, ..sample() }, 1, NOW_MS);
        claim.listed(NOW_MS, 1)
    };
    let other = of(&snowmint_core::layouts::SONYFLAKE).layout;
    // Also where another process of the wrong layout has written its record.
    for found in [None, Some((NamespaceRecord::default(), 1))] {
        let ClaimStep::Refused(error) = listed(other, found) else { panic!("another layout is let in") };
        assert_eq!(error.kind(), ErrorKind::InvalidLayout);
    }
    // The right layout is pinned again, also beside records of an earlier version, which have no identity.
    for layout in [of(layout()).layout, 0] {
        assert!(matches!(listed(layout, None), ClaimStep::WriteNamespace(..)));
        assert!(matches!(listed(layout, Some((NamespaceRecord::default(), 1))), ClaimStep::Ask(..)));
    }
    assert_eq!(
        held(&mut Store::default(), 1, NOW_MS).saved().0.layout,
        of(layout()).layout,
        "a grant has the identity"
    );
}

/// A claim in a store, whose nodes without a record begin at that time.
fn claimed(store: &mut Store, nonce: u128, now_ms: i64) -> Option<Window> {
    store.claim(terms(nonce), now_ms, std::iter::empty()).map(|lease| lease.window())
}

#[test]
fn a_node_without_a_record_begins_at_the_floor() {
    let mut store = Store {
        pin: NamespaceRecord { nodes: 0, floor_ms: Some(NOW_MS + 500), removed: false, reserve_ms: 0 },
        ..Store::default()
    };
    assert_eq!(claimed(&mut store, 1, NOW_MS), None, "no node is free before");
    let window = claimed(&mut store, 1, NOW_MS + 510).expect("a node");
    assert!(window.start_ms >= NOW_MS + 500, "{window:?}");
    // A record that the fence has raised, or an operator reset, counts for itself.
    let end_ms = NOW_MS + 10;
    store.records.insert(1, (Record { released: true, window: Window { start_ms: NOW_MS, end_ms }, ..sample() }, 1));
    store.pin.floor_ms = Some(NOW_MS + 10_000);
    assert_eq!(claimed(&mut store, 2, NOW_MS + 100).map(|window| window.start_ms <= NOW_MS + 100), Some(true));
}

#[test]
fn each_first_record_of_a_node_is_counted_once() {
    let mut store = Store::default();
    let mut first = held(&mut store, 1, NOW_MS);
    assert_eq!(store.pin.nodes, 1);
    let keep = first.release(NOW_MS + 14);
    assert_eq!(store.finish(&mut first, keep, std::iter::empty()), RenewalStep::Released);
    held(&mut store, 2, NOW_MS + 14);
    assert_eq!(store.pin.nodes, 1, "the same node");
    held(&mut store, 3, NOW_MS + 14);
    assert_eq!(store.pin.nodes, 2);
    // A claimant that was killed before it counted: the next one makes up for it.
    store.pin.nodes = 0;
    held(&mut store, 4, NOW_MS + 5000);
    assert_eq!(store.pin.nodes, 2);
}

#[test]
fn no_node_is_granted_where_records_have_vanished() {
    let mut claim = Claim::new(terms(1));
    claim.namespace(Some((NamespaceRecord { nodes: 2, floor_ms: None, removed: false, reserve_ms: 0 }, 5)));
    claim.see(0, &sample(), 1, NOW_MS);
    let ClaimStep::Refused(error) = claim.listed(NOW_MS, 1) else { panic!("a node is chosen") };
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
    assert!(
        error.to_string().starts_with("2 nodes had a record, and only 1 have one now: records have vanished"),
        "{error}"
    );
}

#[test]
fn the_namespace_notes_the_longest_reservation_and_no_window() {
    for (window_ms, known_ms, noted_ms) in
        [(3_600_000, 0, None), (86_400_000, 0, Some(86_400_000)), (86_400_000, 90_000_000, None)]
    {
        let mut claim = Claim::new(Terms { window_ms, ..terms(1) });
        let known = NamespaceRecord { nodes: 1, reserve_ms: known_ms, ..NamespaceRecord::default() };
        claim.namespace(Some((known, 5)));
        assert!(matches!(claim.listed(NOW_MS, 0), ClaimStep::Refused(_)), "a record has vanished");
        claim.namespace(Some((NamespaceRecord { nodes: 0, ..known }, 5)));
        assert!(matches!(claim.listed(NOW_MS, 0), ClaimStep::Ask(0, Ask::Write(..))));
        let ClaimStep::WriteNamespace(written, 5) = claim.reply(Reply::Written(1)) else {
            panic!("it counts the node")
        };
        assert_eq!((written.nodes, written.reserve_ms), (1, noted_ms.unwrap_or(known_ms)));
    }
}

#[test]
fn a_count_that_another_claimant_changed_is_read_again() {
    let granted = || {
        let mut claim = Claim::new(terms(1));
        claim.namespace(Some((NamespaceRecord { nodes: 0, floor_ms: Some(7), removed: false, reserve_ms: 0 }, 5)));
        assert!(matches!(claim.listed(NOW_MS, 0), ClaimStep::Ask(0, Ask::Write(..))));
        let todo = claim.reply(Reply::Written(1));
        assert!(
            matches!(
                todo,
                ClaimStep::WriteNamespace(
                    NamespaceRecord { nodes: 1, floor_ms: Some(7), removed: false, reserve_ms: 0 },
                    5
                )
            ),
            "{todo:?}"
        );
        claim
    };
    let mut claim = granted();
    assert!(matches!(claim.namespace_reply(Reply::Conflict), ClaimStep::ReadNamespace));
    let todo =
        claim.namespace(Some((NamespaceRecord { nodes: 0, floor_ms: Some(9), removed: false, reserve_ms: 0 }, 6)));
    assert!(
        matches!(
            todo,
            ClaimStep::WriteNamespace(
                NamespaceRecord { nodes: 1, floor_ms: Some(9), removed: false, reserve_ms: 0 },
                6
            )
        ),
        "{todo:?}"
    );
    assert!(matches!(claim.namespace_reply(Reply::Conflict), ClaimStep::ReadNamespace));
    assert!(
        matches!(
            claim.namespace(Some((NamespaceRecord { nodes: 3, floor_ms: None, removed: false, reserve_ms: 0 }, 7))),
            ClaimStep::Granted(..)
        ),
        "counted"
    );
    assert!(matches!(granted().namespace_reply(Reply::Unknown), ClaimStep::Granted(..)), "the next claim counts");
}

#[test]
fn a_claim_makes_a_removed_namespace_again() {
    let removed = NamespaceRecord { nodes: 2, floor_ms: Some(7), removed: true, reserve_ms: 0 };
    let mut claim = Claim::new(terms(1));
    let todo = claim.namespace(Some((removed, 5)));
    let again = NamespaceRecord { removed: false, ..removed };
    assert!(matches!(todo, ClaimStep::WriteNamespace(record, 5) if record == again), "{todo:?}");
    assert!(matches!(claim.namespace_reply(Reply::Conflict), ClaimStep::ReadNamespace));
    // Another claimer was first.
    assert!(matches!(claim.namespace(Some((again, 6))), ClaimStep::ListNodes));
    assert!(matches!(claim.listed(NOW_MS, 1), ClaimStep::Refused(_)), "its count of nodes still holds");
}

#[test]
fn a_holder_whose_record_vanished_is_closed_with_that_reason() {
    let mut store = Store::default();
    let mut lease = held(&mut store, 1, NOW_MS);
    store.records.clear();
    let keep = lease.renew(NOW_MS + 500, NOW_MS, REACH_MS);
    let RenewalStep::Lost(error) = store.finish(&mut lease, keep, std::iter::empty()) else { panic!("it is held") };
    assert_eq!(error.kind(), ErrorKind::WindowClosed);
    assert!(error.to_string().starts_with("the node's record has vanished from the store"), "{error}");
}

#[test]
fn a_wait_of_more_than_an_hour_names_the_command_that_resets_a_node() {
    let mut claim = Claim::new(terms(1));
    claim.namespace(PINNED);
    let far_ms = NOW_MS + 365 * 86_400_000;
    for node in [0, 1] {
        let window = Window { start_ms: NOW_MS, end_ms: far_ms };
        claim.see(node, &Record { window, ..sample() }, 1, NOW_MS);
    }
    let ClaimStep::Wait(_, error) = claim.listed(NOW_MS, 2) else { panic!("a node is chosen") };
    assert_eq!(error.kind(), ErrorKind::NodesExhausted);
    let text = error.to_string();
    assert!(text.contains("2027-") && text.contains("snowmint lease release"), "{text}");
}

#[test]
fn a_fence_is_not_before_the_end_of_any_window() {
    let mut time = FenceTime::new(NOW_MS, 22_000);
    // A holder may have been granted such a window just before it was stopped.
    assert_eq!(time.until(None), Ok(NOW_MS + 22_000));
    let window = Window { start_ms: 0, end_ms: NOW_MS + 60_000 };
    let released = Record { released: true, serial: 1, window, nonce: 1, label: label("a holder"), layout: 0 };
    time.see(5, &released).expect("its holder is gone");
    assert_eq!(time.until(None), Ok(NOW_MS + 60_000));
    for early_ms in [0, NOW_MS, NOW_MS + 59_999] {
        let error = time.until(Some(early_ms)).expect_err("IDs may be later");
        assert_eq!(error.kind(), ErrorKind::InvalidId, "{error}");
    }
    assert_eq!(time.until(Some(NOW_MS + 60_000)), Ok(NOW_MS + 60_000));
    time.see_namespace(&NamespaceRecord { reserve_ms: 86_400_000, ..NamespaceRecord::default() });
    assert_eq!(time.until(None), Ok(NOW_MS + 86_400_000), "a reservation may have been lost");
    let held = Record { released: false, ..released };
    let error = time.see(6, &held).expect_err("its holder may be alive");
    assert!(error.to_string().contains("node 6 may have a live holder"), "{error}");
}
