//! Properties that hold for every layout, ID and clock, checked with generated values.

use proptest::prelude::*;
use snowmint_core::layouts::{SNOWMINT, SONYFLAKE, TWITTER};
use snowmint_core::time::{Rfc3339, parse_rfc3339};
use snowmint_core::{
    Error, ErrorKind, Integer, Layout, Options, SequenceStart, Snowflake, TextForm, Window, Words, scatter,
};
use snowmint_inspect::inspect::{Candidates, Kind, inspect, inspect_integer};
use snowmint_tests::assert_increasing;

/// Generates valid layouts: field widths that add up to at most 64 bits, in any order.
fn layouts() -> impl Strategy<Value = Layout> {
    let widths = (1u32..=42, 0u32..=12, 0u32..=12, 0u32..=16, 0u32..=8, any::<bool>());
    let order = Just(vec!["time", "region", "worker", "sequence", "random"]).prop_shuffle();
    (widths, order, -4_000_000_000_000i64..4_000_000_000_000, 1u64..100_000).prop_filter_map(
        "fits 64 bits",
        |((time, region, worker, sequence, random, unused), order, epoch_ms, tick_ms)| {
            let width = |name: &str| match name {
                "time" => time,
                "region" => region,
                "worker" => worker,
                "sequence" => sequence,
                _ => random,
            };
            let named = order.into_iter().map(|name| (name, width(name))).filter(|(_, width)| *width > 0);
            let fields: Vec<_> = unused.then_some(("unused", 1)).into_iter().chain(named).collect();
            Layout::new(&fields, epoch_ms, tick_ms).ok()
        },
    )
}

/// Checks that every candidate encodes to the same bits, has a reason of one line, and is in order.
fn check_candidates(candidates: &Candidates) {
    let mut doubted = false;
    for candidate in candidates {
        let reason = candidate.reason().to_string();
        assert!(!reason.is_empty() && reason.len() <= 200 && !reason.contains('\n'), "{reason}");
        assert!(candidate.is_plausible() != reason.starts_with("unlikely: "), "{reason}");
        assert!(!doubted || !candidate.is_plausible(), "the plausible ones come first");
        doubted = !candidate.is_plausible();
        if let Kind::Snowflake { id, .. } = candidate.kind() {
            let Some((layout, parts)) = candidate.layout().zip(candidate.parts()) else {
                assert_eq!((candidate.system(), candidate.timestamp_ms()), (Some("pinterest"), None));
                continue;
            };
            assert_eq!(layout.encode(&parts), Ok(id), "{candidate:?}");
            assert_eq!(candidate.timestamp_us(), Some(parts.timestamp_us()));
        }
    }
}

/// Checks that `back` inverts `there`, and that `there` refuses an ID only with `InvalidId`.
fn check_inverse(id: u64, there: impl Fn(u64) -> Result<u64, Error>, back: impl Fn(u64) -> Result<u64, Error>) {
    match there(id) {
        Ok(scattered) => {
            assert!(i64::try_from(scattered).is_ok(), "{scattered} is negative in a signed column");
            assert_eq!(back(scattered), Ok(id));
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidId),
    }
}

/// Generates IDs of every number of digits, with about the same frequency.
fn ids() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(id, shift)| id >> shift)
}

proptest! {
    #[test]
    fn scattering_is_reversible(id in ids(), by in 0u32..70) {
        check_inverse(id, |id| scatter::rotate_digits(id, by % 20), |id| scatter::unrotate_digits(id, by % 20));
        check_inverse(id, |id| scatter::unrotate_digits(id, by % 20), |id| scatter::rotate_digits(id, by % 20));
        check_inverse(id, |id| scatter::shard_high(id, by), |id| scatter::unshard_high(id, by));
        check_inverse(id, |id| scatter::unshard_high(id, by), |id| scatter::shard_high(id, by));
        check_inverse(id, scatter::reverse_bits, scatter::reverse_bits);
    }

    #[test]
    fn exactly_the_documented_ids_are_scattered(id in ids(), by in 0u32..70) {
        let signed = |id: &u64| i64::try_from(*id).is_ok();
        let digits = id.to_string();
        let split = digits.len().checked_sub(by as usize).filter(|split| *split > 0 && signed(&id));
        let rotated = split.and_then(|split| format!("{}{}{}", &digits[..1], &digits[split..], &digits[1..split]).parse().ok());
        prop_assert_eq!(scatter::rotate_digits(id, by).ok(), rotated.filter(signed));
        prop_assert_eq!(scatter::shard_high(id, by).is_ok(), signed(&id) && by < 64);
        prop_assert_eq!(scatter::reverse_bits(id).is_ok(), signed(&id));
    }

    #[test]
    fn no_text_makes_inspect_panic(
        text in prop_oneof![
            ".{0,100}",
            "[0-9]{0,24}",
            "-?0{0,40}[0-9]{0,3}",
            "(0x)?[0-9a-fA-F]{0,34}",
            "[0-9A-Za-z_-]{10,13}",
            "[0-9a-z]{16}|[0-9a-v]{20}|-[0-9A-Za-z_-]{19}|c?[0-9a-z]{24}|[0-9A-Za-z]{27}",
            "[0-9]{13}-[0-9]{1,20}|1-[0-9a-f]{8}-[0-9a-f]{24}",
            "[a-z]{0,3}_[0-9a-hjkmnp-tv-z]{13}([0-9a-hjkmnp-tv-z]{13})?",
            "[0-9A-HJKMNP-TV-Z]{26}",
            "[{]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[}]?",
        ],
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        now_ms: i64,
    ) {
        for now_ms in [now_ms, 1_793_491_200_000] {
            check_candidates(&inspect(&text, now_ms));
            check_candidates(&inspect(&bytes, now_ms));
        }
    }

    #[test]
    fn a_text_of_an_id_has_candidates_of_its_integer(id in ids(), now_ms in 0i64..4_000_000_000_000) {
        let of_integer = inspect_integer(id.into(), now_ms);
        check_candidates(&of_integer);
        for form in TextForm::ALL {
            let of_text = inspect(form.encode(id).as_str(), now_ms);
            let of_form: Vec<_> = of_text.iter().filter(|given| given.form().name() == form.name()).collect();
            for given in &of_form {
                prop_assert_eq!(of_integer.iter().filter(|wanted| wanted.kind() == given.kind()).count(), 1);
            }
            // Other forms list what is plausible.
            prop_assert!(form != TextForm::Decimal || of_form.len() == of_integer.len());
        }
    }

    #[test]
    fn layouts_that_are_only_read_print_decode_and_encode(
        (time, fixed, opaque, node) in (1u32..=40, 1u32..=8, 1u32..=8, 1u32..=8),
        value: u64,
        epoch_ms in -4_000_000_000_000i64..4_000_000_000_000,
        tick_us in 1u64..100_000,
        id: u64,
    ) {
        let value = value & ((1 << fixed) - 1);
        let text = format!("kind:{fixed}={value},time:{time},opaque:{opaque},node:{node};epoch={epoch_ms};tick={tick_us}us");
        let layout = Layout::parse(&text).expect("it is a layout");
        prop_assert_eq!(Layout::parse(layout.to_string()), Ok(layout));
        prop_assert_eq!(layout.tick_us(), tick_us);
        prop_assert_eq!(layout.refuse_unmintable().expect_err("opaque bits").kind(), ErrorKind::InvalidLayout);
        prop_assert!(Snowflake::new(&layout, 0.into()).is_err());
        let below = time + opaque + node;
        let id = id & ((1 << below) - 1) | value << below;
        let parts = layout.decode(id).expect("the fixed value is right");
        prop_assert_eq!(layout.encode(&parts), Ok(id));
        let tick = i128::from(parts.tick) * i128::from(tick_us);
        prop_assert_eq!(parts.timestamp_us(), i128::from(epoch_ms) * 1000 + tick);
        prop_assert!(layout.decode(id ^ 1 << below).is_err(), "another fixed value");
    }

    #[test]
    fn a_printed_layout_parses_to_itself(layout in layouts()) {
        prop_assert_eq!(Layout::parse(layout.to_string()), Ok(layout));
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in ".{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Layout::find(&text);
        let _ = Layout::parse(&bytes);
        let _ = TWITTER.parse_node(&bytes);
        for form in TextForm::ALL {
            let _ = form.decode(&bytes);
        }
        let _ = parse_rfc3339(&bytes);
    }

    #[test]
    fn decode_and_encode_are_each_others_inverse(layout in layouts(), id: u64) {
        match layout.decode(id) {
            Ok(parts) => prop_assert_eq!(layout.encode(&parts), Ok(id)),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::InvalidId),
        }
    }

    #[test]
    fn every_text_form_decodes_to_the_id_and_keeps_order(a: u64, b: u64) {
        for form in TextForm::ALL {
            let (text_a, text_b) = (form.encode(a), form.encode(b));
            prop_assert_eq!(form.decode(text_a.as_str()), Ok(a));
            prop_assert_eq!(text_a.as_str().len(), form.width());
            prop_assert_eq!(a.cmp(&b), text_a.as_str().cmp(text_b.as_str()));
        }
    }

    #[test]
    fn instants_print_and_parse_to_themselves(unix_ms in -62_167_219_200_000i64..253_402_300_800_000) {
        let text = Rfc3339(unix_ms).to_string();
        prop_assert_eq!(parse_rfc3339(text.as_bytes()), Some(unix_ms));
    }

    #[test]
    fn ids_strictly_increase_under_any_clock(
        steps in proptest::collection::vec((-50i64..60, 1u64..5000), 1..200),
        max_ahead_ms in prop_oneof![Just(0u64), 0u64..100],
        start in prop_oneof![Just(SequenceStart::Zero), Just(SequenceStart::Random), Just(SequenceStart::Carry)],
        seed: u64,
    ) {
        for layout in [SNOWMINT, SONYFLAKE] {
            let options = Options { max_ahead_ms, sequence_start: start, seed, ..Options::DEFAULT };
            let generator = Snowflake::with(&layout, 3, options, Words::vouched());
            let mut now_ms = 1_772_323_200_000;
            let mut ids = Vec::new();
            for (step_ms, want) in &steps {
                now_ms += step_ms;
                let Ok(run) = generator.try_run(now_ms, *want, 0) else { continue };
                prop_assert_eq!(run.len() as u64, *want, "all or nothing");
                ids.extend(run);
                // Time is the top field of both layouts and the IDs increase, so the last ID is the furthest ahead.
                let last = layout.decode(ids[ids.len() - 1]).expect("its own");
                let ahead = last.timestamp_ms - now_ms;
                prop_assert!(ahead <= i64::try_from(max_ahead_ms).expect("small"), "{} ms ahead", ahead);
            }
            // In SONYFLAKE the sequence is above the machine and below time, so IDs of one node still increase.
            assert_increasing(&ids);
        }
    }

    #[test]
    fn a_run_writes_the_same_ids_that_it_iterates(
        layout in layouts(),
        start in prop_oneof![Just(SequenceStart::Zero), Just(SequenceStart::Random), Just(SequenceStart::Carry)],
        seed: u64,
        want in 1u64..5000,
        room in 1usize..6000,
    ) {
        let options =
            Options { max_ahead_ms: want * layout.tick_ms(), sequence_start: start, seed, ..Options::DEFAULT };
        let generator = Snowflake::with(&layout, 0, options, Words::vouched());
        // A small layout has too few IDs for a run; few such layouts are generated.
        let Ok(mut run) = generator.try_run(layout.epoch_ms(), want, 0) else { return Ok(()) };
        let expected: Vec<_> = run.clone().collect();
        let (mut ids, mut part) = (Vec::new(), vec![0; room]);
        while run.len() > 0 {
            let left = run.len();
            let count = run.write(&mut part);
            prop_assert_eq!((count, run.len()), (left.min(room), left - count));
            ids.extend_from_slice(&part[..count]);
        }
        prop_assert_eq!(run.write(&mut part), 0);
        prop_assert_eq!(ids, expected);
    }

    #[test]
    fn one_id_is_a_run_of_one(
        layout in layouts(),
        steps in proptest::collection::vec((-3i64..4, 1u64..5), 1..200),
        max_ahead_ms in prop_oneof![Just(0u64), 0u64..100],
        start in prop_oneof![Just(SequenceStart::Zero), Just(SequenceStart::Random), Just(SequenceStart::Carry)],
        seed: u64,
        ticks_in in 0i64..100_000,
        at_the_end: bool,
        window_ticks in 0u64..20,
    ) {
        let options = Options { max_ahead_ms, sequence_start: start, seed, ..Options::DEFAULT };
        let tick_ms = i64::try_from(layout.tick_ms()).expect("small");
        let in_ms = ticks_in * tick_ms;
        let mut now_ms = if at_the_end { layout.ends_at_ms() - in_ms % 5 } else { layout.epoch_ms() + in_ms };
        let window = Window { start_ms: now_ms, end_ms: now_ms + i64::try_from(window_ticks).expect("small") * tick_ms };
        let [one, run] = [(); 2].map(|()| {
            let words = if window_ticks == 0 { Words::vouched() } else { Words::wiped() };
            if window_ticks > 0 {
                words.open(&layout, window);
            }
            Snowflake::with(&layout, 0, options, words)
        });
        for (ticks, calls) in steps {
            now_ms += ticks * tick_ms / 2;
            for _ in 0..calls {
                let of_run = run.try_run(now_ms, 1, 0).map(|mut run| run.next().expect("one"));
                prop_assert_eq!(one.try_next_id(now_ms), of_run);
            }
        }
    }

    #[test]
    fn a_refused_call_changes_nothing(back_ms in 1i64..10_000, burst in 1u64..4096) {
        let node = Integer::from(5);
        let (tried, untouched) =
            (Snowflake::new(&TWITTER, node).expect("fits"), Snowflake::new(&TWITTER, node).expect("fits"));
        let now_ms = 1_772_323_200_000;
        for generator in [&tried, &untouched] {
            generator.try_run(now_ms, burst, 0).expect("a part of a tick");
        }
        prop_assert!(tried.try_next_id(now_ms - back_ms).is_err());
        prop_assert!(tried.try_run(now_ms, 10_000, 0).is_err());
        prop_assert_eq!(tried.try_next_id(now_ms), untouched.try_next_id(now_ms));
    }
}
