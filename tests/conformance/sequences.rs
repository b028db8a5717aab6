//! Our sequences against the answers in the tests of `PostgreSQL`, `MariaDB` and `TiDB`.

use std::collections::BTreeMap;

use serde::Deserialize;
use snowmint_core::sequence::{Dialect, Options, Rules, Sequence, Set, State};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{Error, ErrorKind};
use snowmint_tests::cases;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    source: String,
    dialect: String,
    options: BTreeMap<String, Value>,
    steps: Option<Vec<(String, Option<String>)>>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(String),
    Flag(bool),
}

impl Case {
    fn rules(&self) -> Result<Rules, Error> {
        let mut options = Options { dialect: Dialect::find(&self.dialect)?, ..Options::DEFAULT };
        for (name, value) in &self.options {
            match (name.as_str(), value) {
                ("cycle", Value::Flag(cycle)) => options.cycle = *cycle,
                ("increment", Value::Number(number)) => options.increment = parse(number),
                ("start", Value::Number(number)) => options.start = Some(parse(number)),
                ("min", Value::Number(number)) => options.min = Some(parse(number)),
                ("max", Value::Number(number)) => options.max = Some(parse(number)),
                ("cache", Value::Number(number)) => options.cache = Some(parse(number)),
                _ => panic!("{}: no option {name}", self.name),
            }
        }
        Rules::new(&options)
    }
}

fn parse(number: &str) -> i128 {
    number.parse().expect("a number")
}

/// Drives a call of the machine to its end, on one record.
fn drive<T>(
    record: &mut (Option<State>, u64),
    mut call: impl FnMut(Option<Reply<State>>) -> Result<Next<T, State>, Error>,
) -> Result<T, Error> {
    let mut reply = None;
    loop {
        reply = match call(reply)? {
            Next::Done(done) => return Ok(done),
            Next::Ask(Ask::Read) => Some(Reply::Record(record.0, record.1)),
            Next::Ask(Ask::Write(state, version)) if version == record.1 => {
                *record = (Some(state), version + 1);
                Some(Reply::Written(version + 1))
            }
            Next::Ask(_) => Some(Reply::Conflict),
        };
    }
}

#[test]
fn sessions_answer_as_the_databases_own_tests_state() {
    for case in cases::<Case>("sequence") {
        let Some(steps) = &case.steps else { continue };
        let rules = case.rules().unwrap_or_else(|error| panic!("{} ({}): {error}", case.name, case.source));
        let (mut session, mut record) = (Sequence::new(rules), (None, 0));
        for (at, (statement, answer)) in steps.iter().enumerate() {
            let words: Vec<_> = statement.split(['(', ',', ')']).filter(|word| !word.is_empty()).collect();
            let got = match words[..] {
                ["nextval"] => drive(&mut record, |reply| session.next(reply)).map(Some),
                ["currval" | "lastval"] => session.current(),
                ["setval", value, ref rest @ ..] => {
                    let set = Set {
                        value: Some(parse(value)),
                        is_called: rest.first().map(|word| *word == "true"),
                        round: rest.get(1).map(|round| round.parse().expect("a round")),
                    };
                    drive(&mut record, |reply| session.set(&set, reply))
                }
                _ => panic!("{}: no statement {statement}", case.name),
            };
            let got = got.map_or_else(|error| Some(error.code().to_owned()), |value| value.map(|v| v.to_string()));
            assert_eq!(&got, answer, "{} ({}), step {at}: {statement}", case.name, case.source);
        }
    }
}

#[test]
fn definitions_are_refused_as_the_databases_refuse_them() {
    let refused: Vec<_> = cases::<Case>("sequence").into_iter().filter(|case| case.error.is_some()).collect();
    assert!(!refused.is_empty());
    for case in refused {
        let error = case.rules().expect_err(&case.name);
        assert_eq!((error.kind(), Some(error.code())), (ErrorKind::InvalidId, case.error.as_deref()), "{}", case.name);
    }
}
