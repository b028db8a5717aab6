//! Formatted numbers against the reference.

use serde::Deserialize;
use snowmint_core::formatted::{Date, Overflow, Pattern, Period, Zone};
use snowmint_core::{Error, Integer};
use snowmint_tests::cases;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    pattern: String,
    period: String,
    zone: String,
    overflow: String,
    at_ms: Option<i64>,
    number: Option<String>,
    text: Option<String>,
    sequence: Option<String>,
    date: Option<Shown>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    year: Option<u16>,
    month: Option<u8>,
    day: Option<u8>,
    hour: Option<u8>,
}

impl Case {
    fn pattern(&self) -> Result<Pattern, Error> {
        let (period, zone, overflow) =
            (Period::find(&self.period)?, Zone::parse(&self.zone)?, Overflow::find(&self.overflow)?);
        Pattern::new(&self.pattern, period, zone, overflow)
    }

    fn number(&self) -> Integer {
        Integer::parse(self.number.as_ref().expect("a number")).expect("digits")
    }
}

#[test]
fn numbers_become_texts_and_texts_numbers() {
    for case in cases::<Case>("formatted").iter().filter(|case| case.error.is_none()) {
        let (Some(at_ms), Some(text), Some(shown)) = (case.at_ms, &case.text, &case.date) else {
            panic!("{}: no answer", case.name)
        };
        let pattern = case.pattern().unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(pattern.format(case.number(), at_ms).as_deref(), Ok(&**text), "{}", case.name);
        let reading = pattern.parse(text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let Shown { year, month, day, hour } = *shown;
        assert_eq!(reading.date(), Date { year, month, day, hour }, "{}", case.name);
        assert_eq!(Integer::from(reading.number()), case.number(), "{}", case.name);
        assert_eq!(pattern.period_at(at_ms), Ok(reading.period()), "{}", case.name);
        let sequence = reading.period().sequence("invoices").expect("a short name");
        assert_eq!(Some(sequence.to_string()), case.sequence, "{}", case.name);
    }
}

#[test]
fn wrong_patterns_numbers_and_texts_are_refused() {
    let all = cases::<Case>("formatted");
    let refused: Vec<_> = all.iter().filter(|case| case.error.is_some()).collect();
    assert!(!refused.is_empty());
    for case in refused {
        let refusal = match (case.pattern(), case.at_ms, &case.text) {
            (Err(error), None, None) => Some(error),
            (Ok(pattern), Some(at_ms), None) => pattern.format(case.number(), at_ms).err(),
            (Ok(pattern), None, Some(text)) => pattern.parse(text).err(),
            _ => None,
        };
        assert_eq!(refusal.map(|error| error.code()), case.error.as_deref(), "{}", case.name);
    }
}
