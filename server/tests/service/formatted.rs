//! Texts such as `INV-2026-000042`.

use serde_json::{Value, json};

use super::support::{Answer, Server, directory};

fn define(server: &Server, name: &str, definition: &Value) -> Answer {
    server.ask_json("POST", &format!("/v1/formatted/{name}"), definition)
}

fn next(server: &Server, name: &str) -> Value {
    let answer = server.post(&format!("/v1/formatted/{name}/next"));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["cache-control"], "no-store");
    answer.json()
}

fn parse(server: &Server, name: &str, text: &str) -> Answer {
    server.ask_json("POST", &format!("/v1/formatted/{name}/parse"), &json!({"text": text}))
}

#[test]
fn a_definition_is_kept_for_good_and_gives_texts() {
    let directory = directory();
    let server = Server::start(directory.path(), &[]);
    server.post("/v1/formatted/invoices/next").problem(404, "INVALID_TEXT");
    parse(&server, "invoices", "INV-2026-000042").problem(404, "INVALID_TEXT");
    let yearly = json!({"pattern": "INV-{yyyy}-{000000}", "period": "year", "zone": "+01:00"});
    let kept = json!({
        "pattern": "INV-{yyyy}-{000000}", "period": "year", "zone": "+01:00", "overflow": "error", "start": "1", "increment": "1"
    });
    for definition in [&yearly, &kept] {
        let answer = define(&server, "invoices", definition);
        assert_eq!((answer.status, answer.json()), (200, kept.clone()), "{answer:?}");
    }
    for (field, value) in [("start", "2"), ("zone", "Z"), ("overflow", "grow"), ("pattern", "INV-{yyyy}-{0000000}")] {
        let mut other = kept.clone();
        other[field] = json!(value);
        define(&server, "invoices", &other).problem(409, "INVALID_TEXT");
    }
    let first = next(&server, "invoices");
    let period = first["period"].as_str().expect("a year");
    assert_eq!(first, json!({"text": format!("INV-{period}-000001"), "number": "1", "period": period}));
    // Another server, and the same one after a restart, continue.
    let other = Server::start(directory.path(), &[]);
    assert_eq!(next(&other, "invoices")["number"], "2");
    drop(server);
    let again = Server::start(directory.path(), &[]);
    assert_eq!([next(&again, "invoices"), next(&other, "invoices")].map(|answer| answer["number"].clone()), ["3", "4"]);
    let read = parse(&again, "invoices", "INV-2026-000042");
    assert_eq!(read.json(), json!({"number": "42", "period": "2026", "year": 2026}), "{read:?}");
}

#[test]
fn texts_with_mistakes_are_refused() {
    let (server, _directory) = Server::alone(&[]);
    let pattern = json!({"pattern": "RE{yy}{MM}{dd}{HH}{0000}{luhn}", "period": "day"});
    assert_eq!(define(&server, "receipts", &pattern).status, 200);
    let text = next(&server, "receipts")["text"].as_str().expect("a text").to_owned();
    let read = parse(&server, "receipts", &text).json();
    assert_eq!((read["number"].as_str(), read["period"].as_str().map(str::len)), (Some("1"), Some(10)), "{read}");
    assert!(["year", "month", "day", "hour"].iter().all(|part| read[part].is_u64()), "{read}");
    let wrong = text.chars().rev().collect::<String>();
    let digit = if text.ends_with('0') { "1" } else { "0" };
    for text in [&wrong, &format!("{}{digit}", &text[..text.len() - 1]), ""] {
        parse(&server, "receipts", text).problem(400, "INVALID_TEXT");
    }
}

#[test]
fn wrong_definitions_are_refused() {
    let (server, _directory) = Server::alone(&[]);
    for (definition, code) in [
        (json!({}), "BAD_REQUEST"),
        (json!({"pattern": "{0}", "step": "1"}), "BAD_REQUEST"),
        (json!({"pattern": "{0}", "start": 1}), "BAD_REQUEST"),
        (json!({"pattern": "INV"}), "INVALID_TEXT"),
        (json!({"pattern": "{0}", "period": "year"}), "INVALID_TEXT"),
        (json!({"pattern": "{0}", "zone": "Europe/Berlin"}), "INVALID_TEXT"),
        (json!({"pattern": "{0}", "overflow": "cut"}), "INVALID_TEXT"),
        (json!({"pattern": "{0}", "start": "-1"}), "INVALID_ID"),
        (json!({"pattern": "{0}", "start": "x"}), "INVALID_ID"),
        (json!({"pattern": "{0}", "increment": "0"}), "INVALID_ID"),
    ] {
        define(&server, "a", &definition).problem(400, code);
    }
    let daily = json!({"pattern": "{yyyy}{MM}{dd}{0}", "period": "day"});
    define(&server, &"a".repeat(118), &daily).problem(400, "INVALID_TEXT");
    define(&server, "a%0A", &daily).problem(400, "INVALID_TEXT");
    server.post("/v1/formatted/a/next").problem(404, "INVALID_TEXT");
}

#[test]
fn a_full_counter_is_a_conflict_unless_it_grows() {
    let (server, _directory) = Server::alone(&[]);
    for (name, overflow) in [("strict", "error"), ("long", "grow")] {
        let definition = json!({"pattern": "{0}", "overflow": overflow, "start": "9", "increment": "5"});
        assert_eq!(define(&server, name, &definition).status, 200);
        assert_eq!(next(&server, name), json!({"text": "9", "number": "9", "period": ""}));
    }
    let problem = server.post("/v1/formatted/strict/next").problem(409, "EXHAUSTED");
    assert_eq!(problem["retry_after_ms"], Value::Null, "waiting does not help");
    assert_eq!(next(&server, "long")["text"], "14");
}
