//! What holds for every layout, ID and clock that can be made up.

use proptest::prelude::*;
use snowmint_core::layouts::{SNOWMINT, SONYFLAKE, TWITTER};
use snowmint_core::{ErrorKind, Integer, Layout, Options, SequenceStart, Snowflake, TextForm, Words};
use snowmint_tests::assert_increasing;

/// Any valid layout: field widths that add up to 64 bits at most, in any order.
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

proptest! {
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
        let _ = snowmint_core::time::parse_rfc3339(&bytes);
    }

    #[test]
    fn decode_and_encode_are_each_others_inverse(layout in layouts(), id: u64) {
        match layout.decode(id) {
            Ok(parts) => prop_assert_eq!(
                layout.encode(parts.timestamp_ms, parts.node.into(), parts.sequence.into(), parts.random.into()),
                Ok(id)
            ),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::InvalidId),
        }
    }

    #[test]
    fn every_text_form_gives_the_id_back_and_keeps_the_order(a: u64, b: u64) {
        for form in TextForm::ALL {
            let (text_a, text_b) = (form.encode(a), form.encode(b));
            prop_assert_eq!(form.decode(text_a.as_str()), Ok(a));
            prop_assert_eq!(text_a.as_str().len(), form.width());
            prop_assert_eq!(a.cmp(&b), text_a.as_str().cmp(text_b.as_str()));
        }
    }

    #[test]
    fn instants_print_and_parse_to_themselves(unix_ms in -62_167_219_200_000i64..253_402_300_800_000) {
        let mut text = String::new();
        snowmint_core::time::write_rfc3339(&mut text, unix_ms).expect("a String takes everything");
        prop_assert_eq!(snowmint_core::time::parse_rfc3339(text.as_bytes()), Some(unix_ms));
    }

    #[test]
    fn whatever_the_clock_does_ids_strictly_increase(
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
                for id in run.clone() {
                    let ahead = layout.decode(id).expect("its own").timestamp_ms - now_ms;
                    prop_assert!(ahead <= i64::try_from(max_ahead_ms).expect("small"), "{} ms ahead", ahead);
                }
                let mut written = vec![0; run.len()];
                run.clone().write(&mut written);
                prop_assert!(run.eq(written.iter().copied()), "write and iteration agree");
                ids.extend(written);
            }
            // SONYFLAKE's sequence stands above the machine, below time: IDs of one node increase all the same.
            assert_increasing(&ids);
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
