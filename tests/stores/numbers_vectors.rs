//! The corpus of numbers over a store, which all languages run.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use snowmint::Error;
use snowmint::stores::{CounterStore, Sections, SectionsOptions, Segments, SegmentsOptions, Tag, Tickets, connect};
use snowmint_core::Integer;
use snowmint_tests::cases;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    kind: String,
    options: BTreeMap<String, String>,
    #[serde(default)]
    calls: Vec<(String, Option<String>)>,
    error: Option<String>,
}

enum Numbers {
    Segments(Segments),
    Tickets(Box<Tickets>),
    Users(Sections),
}

const WAIT: Duration = Duration::from_secs(60);

async fn store() -> Arc<dyn CounterStore> {
    connect("memory:").await.expect("a store in memory")
}

impl Case {
    fn option(&self, name: &str) -> Option<u64> {
        // A text that is not a 64-bit number becomes a number that is out of range for each option.
        self.options.get(name).map(|given| given.parse().unwrap_or(u64::MAX))
    }

    async fn numbers(&self) -> Result<Numbers, Error> {
        match self.kind.as_str() {
            "segments" => {
                let (start, step) = (self.option("start"), self.option("step"));
                let default = Tag::default();
                let tag = Tag::new(start.unwrap_or(default.next), step.unwrap_or(default.step));
                let options = SegmentsOptions::default().max_wait(WAIT);
                Segments::open_or_create(store().await, "a", &tag, options).await.map(Numbers::Segments)
            }
            "tickets" => {
                let mut stores = Vec::new();
                for _ in 0..self.option("stores").expect("a number of stores") {
                    stores.push(store().await);
                }
                Ok(Numbers::Tickets(Box::new(Tickets::over(stores, "a")?.with_max_wait(WAIT))))
            }
            "users" => {
                let mut options = SectionsOptions::default().max_wait(WAIT);
                if let Some(size) = self.option("size") {
                    let size = u32::try_from(size).ok().and_then(NonZeroU32::new);
                    options = options.size(size.unwrap_or(NonZeroU32::MAX));
                }
                if let Some(step) = self.option("step") {
                    options = options.step(step);
                }
                Sections::new(store().await, "a", options).map(Numbers::Users)
            }
            kind => panic!("{}: no kind {kind}", self.name),
        }
    }
}

async fn answer(numbers: &Numbers, call: &str) -> Result<Option<String>, Error> {
    let (verb, argument) = call.split_once(' ').unwrap_or((call, ""));
    let integer: Integer = argument.parse::<i128>().unwrap_or(0).into();
    Ok(match (numbers, verb) {
        (Numbers::Segments(tag), "next") => Some(tag.next().await?.to_string()),
        (Numbers::Segments(tag), "block") => {
            let block = tag.next_block(integer).await?;
            Some(format!("{} {}", block.start, block.end))
        }
        (Numbers::Segments(tag), "close") => tag.close().await.map(|_| None)?,
        (Numbers::Tickets(tickets), "next") => Some(tickets.next().await?.to_string()),
        (Numbers::Users(users), "next") => Some(users.next(integer).await?.to_string()),
        _ => panic!("no call {call}"),
    })
}

#[tokio::test]
async fn one_client_gets_these_numbers() {
    let mut calls = 0;
    for case in cases::<Case>("numbers") {
        let numbers = match (case.numbers().await, &case.error) {
            (Ok(numbers), None) => numbers,
            (Err(error), Some(code)) => {
                assert_eq!(error.code(), code, "{}: {error}", case.name);
                continue;
            }
            (made, error) => panic!("{}: {:?}, not {error:?}", case.name, made.err()),
        };
        for (call, expected) in &case.calls {
            let found = answer(&numbers, call).await.unwrap_or_else(|error| Some(error.code().to_owned()));
            assert_eq!(&found, expected, "{}: {call}", case.name);
            calls += 1;
        }
    }
    assert!(calls > 40, "{calls} calls");
}
