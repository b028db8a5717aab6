//! Each fault, made of IDs that real generators minted by a scripted clock.

use snowmint::audit::{Audit, AuditOptions, Kind, Order, Report};
use snowmint_core::layouts::{INSTAGRAM, LEAF, SNOWMINT, SONYFLAKE, TWITTER};
use snowmint_core::{Layout, Parts, SequenceStart};
use snowmint_tests::scripted::{Minter, scattered};

/// 2026-03-01.
const NOW_MS: i64 = 1_772_323_200_000;
/// When the audits are made, a month later.
const PRESENT_MS: i64 = NOW_MS + 2_592_000_000;

fn audited_with(layout: &Layout, ids: &[u64], options: &AuditOptions) -> Report {
    let mut audit = Audit::at(layout, options, PRESENT_MS);
    audit.extend(ids.iter().copied());
    audit.finish()
}

fn audited(layout: &Layout, ids: &[u64]) -> Report {
    audited_with(layout, ids, &AuditOptions::default())
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.findings.iter().map(|finding| finding.kind).collect()
}

/// Mints 40,000 IDs of four nodes in order, at up to 8 IDs in a ms, and lets `each` add others.
fn fleet(layout: &Layout, start: SequenceStart, mut each: impl FnMut(i64, &mut Vec<u64>)) -> Vec<u64> {
    let fleet: Vec<_> = [1, 2, 3, 4].map(|node| Minter::new(layout, node, start)).into();
    let mut ids = Vec::new();
    for turn in 0..16_000 {
        let now_ms = NOW_MS + turn / 4;
        for _ in 0..2 {
            ids.push(fleet[usize::try_from(scattered(ids.len() as u64) % 4).expect("small")].id(now_ms));
        }
        each(now_ms, &mut ids);
    }
    ids
}

#[test]
fn a_clean_file_has_no_finding_in_any_order() {
    for start in SequenceStart::ALL {
        for layout in [&SNOWMINT, &TWITTER, &LEAF, &INSTAGRAM, &SONYFLAKE] {
            let mut ids = fleet(layout, start, |_, _| ());
            let report = audited(layout, &ids);
            assert_eq!(report.findings, [], "{start:?} {layout}");
            assert_eq!((report.order, report.nodes.len()), (Order::Written, 4));
            ids.sort_unstable();
            let report = audited(layout, &ids);
            assert_eq!((&report.findings[..], report.order), (&[][..], Order::Ascending), "{start:?} {layout}");
            ids.reverse();
            let report = audited(layout, &ids);
            assert_eq!((&report.findings[..], report.order), (&[][..], Order::Descending), "{start:?} {layout}");
            ids.sort_by_key(|id| scattered(*id));
            let report = audited(layout, &ids);
            assert_eq!((&report.findings[..], report.order), (&[][..], Order::Unordered), "{start:?} {layout}");
        }
    }
}

#[test]
fn a_node_of_two_processes_is_found_under_any_sequence_start() {
    for start in SequenceStart::ALL {
        for skew_ms in [0, 3, -250] {
            let second = Minter::new(&SNOWMINT, 2, start);
            for tick in 0..777 {
                second.id(NOW_MS - 5000 + tick);
            }
            let ids = fleet(&SNOWMINT, start, |now_ms, ids| {
                if ids.len() % 3 == 0 {
                    ids.push(second.id(now_ms + skew_ms));
                }
            });
            let report = audited(&SNOWMINT, &ids);
            let shared = report.findings[0];
            assert_eq!((shared.kind, shared.node), (Kind::SharedNode, Some(2)), "{start:?} {skew_ms}: {report:?}");
            assert!(kinds(&report)[1..].iter().all(|kind| *kind == Kind::Duplicates), "{report:?}");
        }
    }
}

#[test]
fn logs_of_two_processes_one_after_the_other_are_a_shared_node() {
    for start in SequenceStart::ALL {
        let log = || {
            let by = Minter::new(&SNOWMINT, 2, start);
            (0..10_000).map(move |i| by.id(NOW_MS + i / 3))
        };
        let report = audited(&SNOWMINT, &log().chain(log()).collect::<Vec<_>>());
        assert_eq!(report.findings[0].kind, Kind::SharedNode, "{start:?}: {report:?}");
    }
}

#[test]
fn a_forked_generator_is_distinct_from_a_shared_node() {
    for start in [SequenceStart::Zero, SequenceStart::Carry] {
        let mut child = None;
        let parent = Minter::new(&SNOWMINT, 7, start);
        let mut ids = fleet(&SNOWMINT, start, |now_ms, ids| {
            ids.push(parent.id(now_ms));
            if now_ms >= NOW_MS + 1000 {
                ids.push(child.get_or_insert_with(|| parent.fork()).id(now_ms));
            }
        });
        let report = audited(&SNOWMINT, &ids);
        let forked = report.findings[0];
        assert_eq!((forked.kind, forked.node), (Kind::Forked, Some(7)), "{start:?}: {report:?}");
        assert_eq!(forked.from_ms, Some(NOW_MS + 1000), "{report:?}");
        assert!(kinds(&report)[1..].iter().all(|kind| *kind == Kind::Duplicates), "{report:?}");
        ids.sort_by_key(|id| scattered(*id));
        let report = audited(&SNOWMINT, &ids);
        assert!(kinds(&report).iter().all(|kind| *kind == Kind::Duplicates), "{report:?}");
    }
}

#[test]
fn a_forked_child_that_mints_by_turns_is_found() {
    // The parent and the child write down 50 IDs at a time.
    let parent = Minter::new(&SNOWMINT, 7, SequenceStart::Carry);
    let mut ids: Vec<_> = (0..500).map(|ms| parent.id(NOW_MS + ms)).collect();
    let child = parent.fork();
    for turn in 10..200 {
        let by = if turn % 2 == 0 { &parent } else { &child };
        ids.extend((0..50).map(|ms| by.id(NOW_MS + turn * 50 + ms)));
    }
    let report = audited(&SNOWMINT, &ids);
    assert_eq!(kinds(&report), [Kind::Forked], "{report:?}");
}

#[test]
fn a_clock_that_stepped_back_is_found_with_the_ids_that_repeat() {
    for start in SequenceStart::ALL {
        for (back_ms, is_restarted) in [(2000, true), (300, true), (20, true)] {
            let mut by = Minter::new(&SNOWMINT, 9, start);
            let ids = fleet(&SNOWMINT, start, |now_ms, ids| {
                if now_ms < NOW_MS + 3000 {
                    ids.push(by.id(now_ms));
                } else {
                    if is_restarted && now_ms == NOW_MS + 3000 && ids.len() % 4 == 0 {
                        by = Minter::new(&SNOWMINT, 9, start);
                    }
                    let minted = by.try_id(now_ms - back_ms);
                    ids.extend(minted.ok());
                }
            });
            let report = audited(&SNOWMINT, &ids);
            let clock = report.findings[0];
            assert_eq!((clock.kind, clock.node, clock.times), (Kind::ClockBack, Some(9), 1), "{start:?}: {report:?}");
            assert!(clock.by_ms.abs_diff(back_ms.unsigned_abs()) < 5, "{report:?}");
            assert!(kinds(&report)[1..].iter().all(|kind| *kind == Kind::Duplicates), "{report:?}");
        }
    }
}

#[test]
fn a_small_step_back_is_found_by_the_ids_that_repeat() {
    let first = Minter::new(&SNOWMINT, 9, SequenceStart::Zero);
    let second = Minter::new(&SNOWMINT, 9, SequenceStart::Zero);
    let before = (0..3000).map(|i| first.id(NOW_MS + i / 3));
    let after = (0..3000).map(|i| second.id(NOW_MS + 995 + i / 3));
    let report = audited(&SNOWMINT, &before.chain(after).collect::<Vec<_>>());
    assert_eq!(kinds(&report), [Kind::ClockBack, Kind::Duplicates], "{report:?}");
    assert_eq!((report.findings[0].repeated, report.findings[1].explained), (15, 15), "{report:?}");
}

#[test]
fn a_sequence_that_counts_modulo_its_size_is_found_in_any_order() {
    // As `nextval % 1024`: 3,000 IDs within some ms.
    let mut next = 0;
    let mut ids = Vec::new();
    for ms in 0..2000 {
        for _ in 0..if ms % 500 == 499 { 3000 } else { 10 } {
            let parts = Parts { timestamp_ms: NOW_MS + ms, node: 5, sequence: next % 1024, ..Parts::default() };
            ids.push(INSTAGRAM.encode(&parts).expect("an ID"));
            next += 1;
        }
    }
    let report = audited(&INSTAGRAM, &ids);
    assert_eq!(kinds(&report), [Kind::Wrapped, Kind::Duplicates], "{report:?}");
    let wrapped = report.findings[0];
    assert_eq!((wrapped.node, wrapped.times, wrapped.repeated), (Some(5), 4, 4 * 1024), "{report:?}");
    assert_eq!(report.findings[1].explained, 4 * 1024);
    ids.sort_unstable();
    assert_eq!(kinds(&audited(&INSTAGRAM, &ids)), [Kind::Wrapped, Kind::Duplicates]);
    ids.sort_by_key(|id| scattered(*id));
    assert_eq!(kinds(&audited(&INSTAGRAM, &ids)), [Kind::Wrapped, Kind::Duplicates]);
}

#[test]
fn a_layout_that_has_ended_is_found() {
    let layout = Layout::parse("unused:1,time:32,node:10,sequence:12;epoch=2025-01-01T00:00:00Z").expect("a layout");
    let end_ms = layout.ends_at_ms();
    let before = Minter::new(&layout, 3, SequenceStart::Zero);
    let after = Minter::new(&layout, 3, SequenceStart::Zero);
    let last: Vec<_> = (0..5000).map(|i| before.id(end_ms - 4999 + i)).collect();
    let wrapped = (0..5000).map(|i| after.id(layout.epoch_ms() + i));
    let mut ids: Vec<_> = last.iter().copied().chain(wrapped).collect();
    let report = audited(&layout, &ids);
    assert_eq!(kinds(&report), [Kind::LayoutEnded], "{report:?}");
    assert_eq!(report.findings[0].ids, 5000);
    ids.sort_unstable();
    assert_eq!(kinds(&audited(&layout, &ids)), [Kind::LayoutEnded]);
    // The time runs over into the unused bit.
    let above = (0..5000).map(|i| (1 << 54) | (i << 22));
    let report = audited(&layout, &last.into_iter().chain(above).collect::<Vec<_>>());
    assert_eq!(kinds(&report), [Kind::LayoutEnded], "{report:?}");
}

#[test]
fn a_childs_log_after_its_parents_is_a_fork() {
    for start in [SequenceStart::Zero, SequenceStart::Carry] {
        let parent = Minter::new(&SNOWMINT, 2, start);
        let mut ids: Vec<_> = (0..5000).map(|i| parent.id(NOW_MS + i / 3)).collect();
        let child = parent.fork();
        for by in [&parent, &child] {
            ids.extend((5000..9000).map(|i| by.id(NOW_MS + i / 3)));
        }
        let report = audited(&SNOWMINT, &ids);
        assert_eq!(report.findings[0].kind, Kind::Forked, "{start:?}: {report:?}");
    }
}

#[test]
fn a_sequence_that_wraps_without_repeating_is_no_finding() {
    let parts = |i: i64| Parts { timestamp_ms: NOW_MS + i / 7, sequence: i.unsigned_abs() % 1024, ..Parts::default() };
    let ids: Vec<_> = (0..20_000).map(|i| INSTAGRAM.encode(&parts(i)).expect("an ID")).collect();
    assert_eq!(audited(&INSTAGRAM, &ids).findings, []);
}

#[test]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ids_that_were_doubles_are_found() {
    let exact = fleet(&TWITTER, SequenceStart::Carry, |_, _| ());
    let doubles: Vec<_> = exact.iter().map(|id| *id as f64 as u64).collect();
    // As JavaScript prints them, with 17 digits.
    let printed: Vec<_> = doubles.iter().map(|id| (*id as f64).to_string().parse().expect("digits")).collect();
    let some: Vec<_> =
        exact.iter().zip(&printed).zip(0..).map(|((a, b), i)| if i % 5 == 0 { *b } else { *a }).collect();
    // Low sequences: all of a tick become one ID.
    let low: Vec<_> = fleet(&TWITTER, SequenceStart::Zero, |_, _| ()).into_iter().map(|id| id as f64 as u64).collect();
    let one = Minter::new(&TWITTER, 1, SequenceStart::Zero);
    let single: Vec<_> = (0..9000).map(|i| one.id(NOW_MS + i / 3) as f64 as u64).collect();
    for ids in [doubles, printed, some] {
        let report = audited(&TWITTER, &ids);
        let [truncated, rest @ ..] = &report.findings[..] else { panic!("nothing found") };
        assert_eq!((truncated.kind, truncated.either), (Kind::Truncated, false), "{report:?}");
        assert!(rest.iter().all(|finding| finding.kind == Kind::Duplicates), "{report:?}");
    }
    // A generator for each call leaves the same IDs.
    for ids in [low, single] {
        let report = audited(&TWITTER, &ids);
        let [truncated, shared @ .., duplicates] = &report.findings[..] else { panic!("nothing found") };
        assert_eq!((truncated.kind, truncated.either), (Kind::Truncated, true), "{report:?}");
        assert!(shared.iter().all(|finding| finding.kind == Kind::SharedNode && finding.either), "{report:?}");
        assert_eq!(shared.len(), report.nodes.len(), "{report:?}");
        assert_eq!((duplicates.kind, duplicates.explained), (Kind::Duplicates, duplicates.ids), "{report:?}");
    }
    // In each tick one of 300 IDs was rounded up.
    let busy = Minter::new(&TWITTER, 1, SequenceStart::Zero);
    let ids: Vec<_> = (0..9000).map(|i| busy.id(NOW_MS + i / 300) as f64 as u64).collect();
    let report = audited(&TWITTER, &ids);
    assert_eq!(kinds(&report), [Kind::Truncated, Kind::Duplicates], "{report:?}");
    assert!(!report.findings[0].either, "{report:?}");
}

#[test]
fn a_generator_for_each_call_is_found() {
    for list in 0..50 {
        let layout = [&TWITTER, &SNOWMINT, &LEAF, &INSTAGRAM][usize::try_from(list % 4).expect("small")];
        let nodes = 1 + u32::try_from(scattered(list) % 3).expect("small");
        // From a call in 2 ms to 400 calls in one.
        let rate = [1, 4, 20, 100, 800][usize::try_from(scattered(list + 50) % 5).expect("small")];
        let ids: Vec<_> = (0..5000)
            .map(|i| {
                let node = u32::try_from(scattered(i) % u64::from(nodes)).expect("small");
                let ms = if rate == 1 { scattered(i / 2) % 2 + i / 2 * 2 } else { i * 2 / rate };
                Minter::new(layout, node, SequenceStart::Zero).id(NOW_MS + i64::try_from(ms).expect("small"))
            })
            .collect();
        let report = audited(layout, &ids);
        let shared: Vec<_> = report.findings.iter().filter(|finding| finding.kind == Kind::SharedNode).collect();
        assert_eq!(shared.len(), report.nodes.len(), "{list} {rate}: {report:?}");
        assert!(shared.iter().all(|finding| finding.fresh), "{list} {rate}: {report:?}");
        let rest = report.findings.iter().filter(|finding| finding.kind != Kind::SharedNode);
        for finding in rest {
            let is_either = finding.kind == Kind::Truncated && finding.either;
            assert!(is_either || finding.kind == Kind::Duplicates, "{list} {rate}: {report:?}");
        }
        let duplicates = report.findings.last().expect("one");
        assert_eq!(
            (duplicates.kind, duplicates.explained),
            (Kind::Duplicates, duplicates.ids),
            "{list} {rate}: {report:?}"
        );
    }
}

#[test]
fn ids_outside_the_layout_and_its_time_are_counted_with_their_lines() {
    let mut ids: Vec<_> = fleet(&SNOWMINT, SequenceStart::Zero, |_, _| ());
    ids[10] |= 1 << 63;
    ids[20] = SNOWMINT.encode(&Parts { timestamp_ms: NOW_MS - 1000, ..Parts::default() }).expect("an ID");
    ids[30] = SNOWMINT.encode(&Parts { timestamp_ms: NOW_MS + 100_000, ..Parts::default() }).expect("an ID");
    let options = AuditOptions::default().since_ms(NOW_MS).until_ms(NOW_MS + 50_000);
    let report = audited_with(&SNOWMINT, &ids, &options);
    assert_eq!(kinds(&report), [Kind::Outside, Kind::BeforeBegin, Kind::Future], "{report:?}");
    let lines: Vec<_> = report.findings.iter().map(|finding| (finding.line, finding.ids)).collect();
    assert_eq!(lines, [(11, 1), (21, 1), (31, 1)]);
}

#[test]
fn no_id_is_no_finding() {
    let report = audited(&SNOWMINT, &[]);
    assert_eq!((report.findings.len(), report.nodes.len(), report.ids), (0, 0, 0));
}
