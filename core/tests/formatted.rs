//! Formatted numbers: random patterns, times and numbers, and texts with mistakes.

#![cfg(feature = "formatted")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use snowmint_core::formatted::{Date, Definition, Overflow, Pattern, Period, Zone};
use snowmint_core::time::parse_rfc3339;
use snowmint_core::{ErrorKind, Integer};

fn ms(text: &str) -> i64 {
    parse_rfc3339(text.as_bytes()).expect("a time")
}

fn pattern(text: &str, period: Period, zone: &str, overflow: Overflow) -> Pattern {
    Pattern::new(text, period, Zone::parse(zone).expect("a zone"), overflow).expect("a pattern")
}

fn plain(text: &str) -> Pattern {
    pattern(text, Period::None, "Z", Overflow::Error)
}

const LITERALS: [&str; 12] = ["", "", "-", "/", "INV", "0", "42", "{{", "}}", "é", "東", "a b"];

/// A pattern of random tokens and literals in any order, with a check token or without.
fn patterns() -> impl Strategy<Value = Pattern> {
    let dates = (prop_oneof![Just("{yyyy}"), Just("{yy}")], subsequence(vec!["{MM}", "{dd}", "{HH}"], 0..=3));
    let parts = (proptest::bool::weighted(0.8), dates, 1..=18usize, vec(select(&LITERALS[..]), 6));
    let end = select(&["", "{luhn}", "{mod97}"][..]);
    let zone = (-1439..=1439i16).prop_map(|minutes| {
        let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
        format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    });
    (parts, any::<bool>(), end, 0..4usize, zone, any::<Index>(), any::<bool>()).prop_filter_map(
        "64 bytes",
        |(parts, grows, end, period, zone, rotation, reversed)| {
            let (has_year, (year, more), width, literals) = parts;
            let mut tokens = vec![format!("{{{}}}", "0".repeat(width))];
            tokens.extend(has_year.then(|| year.to_owned()));
            tokens.extend(more.iter().map(|token| (*token).to_owned()));
            let rotation = rotation.index(tokens.len());
            tokens.rotate_left(rotation);
            if reversed {
                tokens.reverse();
            }
            let text: String = tokens.iter().zip(&literals).flat_map(|(token, literal)| [*literal, token]).collect();
            let overflow = if grows { Overflow::Grow } else { Overflow::Error };
            Pattern::new(
                &format!("{text}{}{end}", literals[5]),
                Period::ALL[period],
                Zone::parse(&zone).ok()?,
                overflow,
            )
            .ok()
        },
    )
}

/// A time that the pattern can show.
fn times(pattern: &Pattern) -> impl Strategy<Value = i64> + use<> {
    let days = match pattern.as_str() {
        text if text.contains("{yyyy}") => (ms("0000-01-02T00:00:00Z"), ms("9999-12-30T00:00:00Z")),
        _ => (ms("2000-01-02T00:00:00Z"), ms("2099-12-30T00:00:00Z")),
    };
    let start = ms("2026-12-31T00:00:00Z");
    prop_oneof![days.0..days.1, start..start + 2 * 86_400_000]
}

/// A number that the pattern can show.
fn numbers(pattern: &Pattern) -> impl Strategy<Value = u64> + use<> {
    let text = pattern.as_str();
    let width = (1..=18).find(|width| text.contains(&format!("{{{}}}", "0".repeat(*width)))).expect("a counter");
    let least = 10u64.pow(u32::try_from(width).expect("at most 18"));
    let most = if pattern.overflow() == Overflow::Grow { u64::MAX } else { least - 1 };
    prop_oneof![0..=most, 0..=most.min(99), 0..=most.min(least)]
}

fn cases() -> impl Strategy<Value = (Pattern, [(i64, u64); 2])> {
    patterns().prop_flat_map(|pattern| {
        let one = || (times(&pattern), numbers(&pattern));
        (Just(pattern), [one(), one()])
    })
}

fn text(pattern: &Pattern, number: u64, unix_ms: i64) -> String {
    pattern.format(Integer::from(number), unix_ms).expect("a text").to_string()
}

/// Returns the text with another character at a place.
fn replaced(text: &str, place: usize, letter: char) -> String {
    text.chars().enumerate().map(|(at, old)| if at == place { letter } else { old }).collect()
}

proptest! {
    #[test]
    fn a_text_is_read_back((pattern, cases) in cases()) {
        for (unix_ms, number) in cases {
            let text = text(&pattern, number, unix_ms);
            let reading = pattern.parse(&text).expect("its own text");
            prop_assert_eq!(reading.number(), number);
            prop_assert_eq!(reading.period(), pattern.period_at(unix_ms).expect("a period"));
        }
    }

    #[test]
    fn two_numbers_never_have_one_text((pattern, [(first_ms, first), (second_ms, second)]) in cases()) {
        let sequence = |unix_ms| pattern.period_at(unix_ms).expect("a period").sequence("n").expect("a name").to_string();
        for (second_ms, second) in [(second_ms, second), (second_ms, first), (first_ms, second)] {
            let differs = (sequence(first_ms), first) != (sequence(second_ms), second);
            prop_assert!(!differs || text(&pattern, first, first_ms) != text(&pattern, second, second_ms));
        }
    }

    #[test]
    fn a_wrong_character_is_found_by_the_check_digits(
        (pattern, [(unix_ms, number), _]) in cases(), place in any::<Index>(), digit in 0..=9u32, other in any::<char>(),
    ) {
        let text = text(&pattern, number, unix_ms);
        let place = place.index(text.chars().count());
        let old = text.chars().nth(place).expect("a place");
        let digit = char::from_digit(digit, 10).expect("a digit");
        if digit != old && (pattern.as_str().ends_with("{luhn}") || pattern.as_str().ends_with("{mod97}")) {
            prop_assert!(pattern.parse(&replaced(&text, place, digit)).is_err());
        }
        // Without check digits too: where a digit is needed, no other character fits.
        if other != old && !other.is_ascii_digit() {
            prop_assert!(pattern.parse(&replaced(&text, place, other)).is_err());
        }
    }

    #[test]
    fn exchanged_neighbours_are_found_by_the_check_digits((pattern, [(unix_ms, number), _]) in cases(), place in any::<Index>()) {
        let text = text(&pattern, number, unix_ms);
        let mut letters: Vec<char> = text.chars().collect();
        let place = place.index(letters.len());
        let Some([first, second]) = letters.get(place..).and_then(|rest| rest.first_chunk().copied()) else { return Ok(()) };
        letters.swap(place, place + 1);
        let is_found = pattern.as_str().ends_with("{mod97}")
            || (pattern.as_str().ends_with("{luhn}") && !matches!((first, second), ('0', '9') | ('9', '0')));
        if first != second && first.is_ascii_digit() && second.is_ascii_digit() && is_found {
            prop_assert!(pattern.parse(&letters.iter().collect::<String>()).is_err());
        }
    }

    #[test]
    fn any_text_is_read_as_one_number_or_refused((pattern, [(_, _), _]) in cases(), text in "[0-9]{1,30}|\\PC{0,40}|INV[0-9é-]{1,12}") {
        if let Ok(reading) = pattern.parse(&text) {
            let Date { year, month, day, hour } = reading.date();
            let (year, month, day) = (year.unwrap_or(2004), month.unwrap_or(1), day.unwrap_or(1));
            let hour = hour.unwrap_or(0);
            let zone = pattern.zone().to_string();
            let shown_ms = ms(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:00:00{zone}"));
            prop_assert_eq!(self::text(&pattern, reading.number(), shown_ms), text);
        }
    }

    #[test]
    fn any_text_makes_a_pattern_or_is_refused(text in "(\\{|\\}|yyyy|MM|000|luhn|mod97|\\PC){0,30}") {
        if let Ok(pattern) = Pattern::new(&text, Period::None, Zone::UTC, Overflow::Grow) {
            let shown = self::text(&pattern, u64::MAX, ms("2026-11-27T12:00:00Z"));
            prop_assert_eq!(pattern.parse(&shown).expect("its own text").number(), u64::MAX);
        }
    }

    #[test]
    fn a_definition_is_read_back(pattern in patterns(), start in 0..=i64::MAX, increment in any::<i64>()) {
        if let Ok(definition) = Definition::new(pattern, Some(start.into()), Some(increment.into())) {
            prop_assert!(increment != 0);
            prop_assert_eq!(Definition::parse(&definition.to_string()), Ok(definition));
        }
    }
}

#[test]
fn the_period_begins_at_midnight_of_the_zone() {
    let pattern = pattern("{yyyy}{MM}{dd}-{000}", Period::Day, "+01:00", Overflow::Error);
    let before = ms("2027-02-28T22:59:59.999Z");
    assert_eq!(text(&pattern, 1, before), "20270228-001");
    assert_eq!(text(&pattern, 1, before + 1), "20270301-001");
    let name = |unix_ms| pattern.period_at(unix_ms).expect("a period").sequence("n").expect("a name").to_string();
    assert_eq!([name(before), name(before + 1)], ["n@2027-02-28", "n@2027-03-01"]);
}

#[test]
fn a_number_is_never_cut() {
    let refused = |pattern: Pattern, number: Integer| pattern.format(number, 0).expect_err("refused").to_string();
    let wide = |number| {
        format!("{number} has more digits than the counter of the pattern: write more zeros, or let the counter grow")
    };
    let narrow = plain("{000}");
    assert_eq!(narrow.format(Integer::from(1000), 0).expect_err("wide").kind(), ErrorKind::Exhausted);
    assert_eq!(refused(narrow, Integer::from(1000)), wide("1000"));
    assert_eq!(refused(narrow, Integer::Above), wide("beyond 64 bits"));
    assert_eq!(refused(narrow, Integer::from(-1)), "a formatted number is 0 to 2^64-1, not -1");
    let grows = pattern("{000}", Period::None, "Z", Overflow::Grow);
    assert_eq!(refused(grows, Integer::Above), "a formatted number is 0 to 2^64-1, not beyond 64 bits");
    assert_eq!(
        [text(&grows, 7, 0), text(&grows, 1000, 0), text(&grows, u64::MAX, 0)],
        ["007", "1000", "18446744073709551615"]
    );
    let full = plain("{000000000000000000}");
    assert_eq!(text(&full, 999_999_999_999_999_999, 0), "999999999999999999");
    assert_eq!(
        full.format(Integer::from(1_000_000_000_000_000_000u64), 0).expect_err("wide").kind(),
        ErrorKind::Exhausted
    );
}

#[test]
fn years_that_the_pattern_cannot_show_are_refused() {
    let refused = |token: &str, time: i64| {
        let pattern = pattern(&format!("{token}-{{0}}"), Period::Year, "+01:00", Overflow::Error);
        let errors = [pattern.format(Integer::from(1), time).err(), pattern.period_at(time).err()];
        errors.map(|error| error.map(|error| (error.kind(), error.to_string())))
    };
    assert_eq!(refused("{yy}", ms("2099-12-31T22:59:59Z")), [None, None]);
    let message = "2099-12-31T23:00:00.000Z is outside the years 2000 to 2099, which {yy} shows: use {yyyy}";
    let late = Some((ErrorKind::TimeOverflow, message.to_owned()));
    assert_eq!(refused("{yy}", ms("2099-12-31T23:00:00Z")), [late.clone(), late]);
    assert_eq!(refused("{yyyy}", ms("9999-12-31T22:59:59Z")), [None, None]);
    for (token, time) in [
        ("{yyyy}", ms("9999-12-31T23:00:00Z")),
        ("{yyyy}", ms("0000-01-01T00:00:00Z") - 3_600_001),
        ("{yy}", ms("1999-12-31T22:59:59Z")),
        ("{yyyy}", i64::MAX),
        ("{yyyy}", i64::MIN),
    ] {
        assert!(
            refused(token, time).iter().flatten().all(|(kind, _)| *kind == ErrorKind::TimeOverflow),
            "{token} {time}"
        );
        assert_eq!(refused(token, time).iter().flatten().count(), 2, "{token} {time}");
    }
    let timeless = plain("{000}");
    assert_eq!([i64::MIN, i64::MAX].map(|time| text(&timeless, 1, time)), ["001", "001"]);
}

#[test]
fn a_broken_rule_is_named() {
    let refused = |text: &str, period| {
        let error = Pattern::new(text, period, Zone::UTC, Overflow::Error).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::InvalidText);
        error.to_string()
    };
    let none = Period::None;
    assert_eq!(refused("", none), "a pattern has 1 to 64 bytes, not 0");
    assert_eq!(refused(&format!("{{0}}{}", "é".repeat(31)), none), "a pattern has 1 to 64 bytes, not 65");
    assert_eq!(
        refused("é{0}\n", none),
        "character 5 of the pattern is a control or format character, which a pattern cannot have: leave it out"
    );
    let token =
        "begins no token: choose {yyyy}, {yy}, {MM}, {dd}, {HH}, {000000}, {luhn} or {mod97}, and write a brace twice";
    for (text, place) in
        [("é{mm}{0}", 2), ("{0}}", 4), ("{0", 1), ("{}{0}", 1), ("{0}{", 4), ("{ 0}", 1), ("{{{0}}", 6)]
    {
        assert_eq!(refused(text, none), format!("character {place} of the pattern {token}"));
    }
    assert_eq!(refused("INV", none), "a pattern has exactly one counter, such as {000000}, not 0");
    assert_eq!(refused("{0}{00}", none), "a pattern has exactly one counter, such as {000000}, not 2");
    assert_eq!(refused("{0000000000000000000}", none), "the counter of a pattern has 1 to 18 zeros, not 19");
    assert_eq!(
        refused("{yyyy}{0}{yy}", none),
        "{yy} is the second token for the same part of a date: leave one of the two out"
    );
    assert_eq!(
        refused("{HH}{HH}{0}", none),
        "{HH} is the second token for the same part of a date: leave one of the two out"
    );
    assert_eq!(refused("{luhn}{0}", none), "{luhn} must be the end of the pattern: move it there");
    assert_eq!(refused("{0}{mod97}{luhn}", none), "{mod97} must be the end of the pattern: move it there");
    for (text, period, token) in [
        ("{0}", Period::Year, "{yyyy}"),
        ("{yy}{0}", Period::Month, "{MM}"),
        ("{MM}{0}", Period::Month, "{yyyy}"),
        ("{yyyy}{MM}{0}", Period::Day, "{dd}"),
        ("{yyyy}{dd}{0}", Period::Day, "{MM}"),
    ] {
        let message = format!("a period needs {token} in the pattern, or texts of two periods could be equal: add it");
        assert_eq!(refused(text, period), message);
    }
}

#[test]
fn a_wrong_text_is_refused_with_its_place() {
    let refused = |pattern: &Pattern, text: &str| {
        let error = pattern.parse(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::InvalidText);
        error.to_string()
    };
    let strict = plain("é{MM}-{000}");
    assert_eq!(refused(&strict, "é11-42"), "a text of this pattern has 8 bytes, not 7");
    assert_eq!(
        refused(&strict, "é11_042"),
        "character 4 of the text differs from the pattern, which has the same text in all numbers there"
    );
    assert_eq!(refused(&strict, "é11-04a"), "character 7 of the text is not a digit, which the pattern has there");
    assert_eq!(
        refused(&strict, "é13-042"),
        "the calendar has no such date as in the text: correct its month, day or hour"
    );
    let grows = pattern("A{00}", Period::None, "Z", Overflow::Grow);
    assert_eq!(refused(&grows, "A1"), "a text of this pattern has 3 to 21 bytes, not 2");
    assert_eq!(
        refused(&grows, "A042"),
        "the counter has more than 2 digits and begins with 0: leave out the zeros that the pattern does not have"
    );
    assert_eq!(refused(&grows, "A18446744073709551616"), "the counter of the text is above 2^64-1");
    assert_eq!(
        refused(&plain("{00}{luhn}"), "423"),
        "the check digits at the end do not fit the text: a character is wrong, or the text belongs to another pattern"
    );
}

#[test]
fn dates_follow_the_calendar() {
    let full = plain("{yyyy}{MM}{dd}{HH}{0}");
    for (text, is_valid) in [
        ("2028022900", true),
        ("2027022900", false),
        ("2000022900", true),
        ("2100022900", false),
        ("2026043100", false),
        ("2026123123", true),
        ("2026123124", false),
        ("2026003100", false),
        ("2026010000", false),
    ] {
        assert_eq!(full.parse(&format!("{text}1")).is_ok(), is_valid, "{text}");
    }
    assert!(plain("{MM}{dd}{0}").parse("02291").is_ok(), "some year has this day");
    assert!(plain("{dd}{0}").parse("311").is_ok() && plain("{dd}{0}").parse("321").is_err());
    assert!(plain("{yy}{MM}{dd}{0}").parse("2902281").is_ok() && plain("{yy}{MM}{dd}{0}").parse("2902291").is_err());
}

#[test]
fn a_name_has_room_for_the_period() {
    let pattern = pattern("{yy}{MM}{dd}{0}", Period::Day, "Z", Overflow::Error);
    let period = pattern.period_at(ms("2026-11-27T12:00:00Z")).expect("a period");
    let name = "é".repeat(58);
    assert_eq!(period.sequence(&name).expect("116 bytes").to_string(), format!("{name}@2026-11-27"));
    let longer = format!("{name}ab");
    let error = period.sequence(&longer).expect_err("118 bytes");
    assert_eq!((error.kind(), period.sequence("").is_err()), (ErrorKind::InvalidText, true));
    assert_eq!(
        error.to_string(),
        "a name with this period must be 1 to 117 bytes long, not 118, as the period stands in the name of the sequence"
    );
}
