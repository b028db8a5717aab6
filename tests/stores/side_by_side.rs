//! Runs the same statements on the database's sequences and on ours.

use std::time::Duration;

use snowmint::stores::Sequences;
use snowmint_core::sequence::{Dialect, Options, Set, by_name};
use snowmint_tests::engines::Engine;

use crate::scene::{Kind, Scene, shared, unique};

/// Runs a statement on our sequence and returns the text that a client would print; an error is an empty line.
async fn ours(session: &Sequences, name: &str, statement: &str) -> String {
    let words: Vec<&str> = statement.split([' ', '(', ',', ')']).filter(|word| !word.is_empty()).collect();
    let printed = match words[..] {
        ["nextval"] => session.next(name).await.map(Some),
        ["currval"] => session.current(name).await,
        ["lastval"] => session.last().await.map(Some),
        ["setval", value, ref rest @ ..] => {
            let is_called = rest.first().map(|word| *word == "true");
            let value = Some(value.parse().expect("a number"));
            session.set(name, &Set { value, is_called, round: None }).await
        }
        _ => panic!("no statement: {statement}"),
    };
    printed.ok().map_or_else(String::new, |value| value.map_or("NULL".to_owned(), |value| value.to_string()))
}

/// A definition, as SQL and as ours, and statements.
type Case = (&'static str, Options, &'static [&'static str]);

const PG: [Case; 5] = [
    // A transcript from an article on sequences, and further statements.
    (
        "",
        Options::DEFAULT,
        &[
            "nextval",
            "nextval",
            "currval",
            "setval(1, false)",
            "nextval",
            "nextval",
            "setval(20, true)",
            "currval",
            "lastval",
            "nextval",
            "setval(5)",
            "nextval",
            "setval(0)",
            "currval",
            "setval(9, false)",
            "currval",
            "nextval",
        ],
    ),
    (
        "START 3 INCREMENT 2 MINVALUE 1 MAXVALUE 100",
        Options { start: Some(3), increment: 2, min: Some(1), max: Some(100), ..Options::DEFAULT },
        &[
            "currval",
            "nextval",
            "nextval",
            "setval(6)",
            "nextval",
            "setval(200)",
            "nextval",
            "setval(100)",
            "nextval",
            "currval",
        ],
    ),
    (
        "START 2 INCREMENT 4 MINVALUE 1 MAXVALUE 6 CYCLE",
        Options { start: Some(2), increment: 4, min: Some(1), max: Some(6), cycle: true, ..Options::DEFAULT },
        &["nextval", "nextval", "nextval", "nextval", "nextval", "setval(6)", "nextval"],
    ),
    (
        "INCREMENT -1 MINVALUE -3",
        Options { increment: -1, min: Some(-3), ..Options::DEFAULT },
        &["nextval", "nextval", "nextval", "nextval", "setval(-1)", "nextval", "setval(0)"],
    ),
    (
        "CACHE 5 MAXVALUE 12",
        Options { cache: Some(5), max: Some(12), ..Options::DEFAULT },
        &["nextval", "nextval", "setval(7)", "nextval", "nextval", "nextval", "nextval", "nextval", "nextval"],
    ),
];

const MARIADB: [Case; 3] = [
    (
        "START 3 INCREMENT 2 MINVALUE 1 MAXVALUE 100",
        Options {
            dialect: Dialect::Mariadb,
            start: Some(3),
            increment: 2,
            min: Some(1),
            max: Some(100),
            ..Options::DEFAULT
        },
        &[
            "currval",
            "nextval",
            "nextval",
            "setval(6)",
            "nextval",
            "setval(2)",
            "nextval",
            "setval(20, false)",
            "nextval",
            "currval",
            "setval(200)",
            "nextval",
        ],
    ),
    (
        "START 2 INCREMENT 4 MINVALUE 1 MAXVALUE 6 CYCLE",
        Options {
            dialect: Dialect::Mariadb,
            start: Some(2),
            increment: 4,
            min: Some(1),
            max: Some(6),
            cycle: true,
            ..Options::DEFAULT
        },
        &["nextval", "nextval", "nextval", "nextval", "nextval"],
    ),
    (
        "INCREMENT -1 MINVALUE -3 NOCACHE",
        Options { dialect: Dialect::Mariadb, increment: -1, min: Some(-3), cache: Some(1), ..Options::DEFAULT },
        &["nextval", "nextval", "nextval", "nextval", "currval", "setval(-1)", "nextval", "currval"],
    ),
];

async fn compare(scene: &Scene, cases: &[Case], sql: fn(&str, &str) -> String, end: &str) {
    for (definition, options, statements) in cases {
        let name = unique("beside");
        scene.client(&format!("CREATE SEQUENCE {name} {definition}"));
        let session = Sequences::new(scene.connect().await).with_max_wait(Duration::from_secs(20));
        assert_eq!(session.create(&name, options).await, Ok(true));
        // The database runs the statements in one session too. A refused statement prints nothing; the next ones still
        // run.
        let script: String = statements.iter().map(|statement| sql(&name, statement) + end).collect();
        let theirs = scene.client_script(&script);
        let mut here = Vec::new();
        for statement in *statements {
            here.push(ours(&session, &name, statement).await);
        }
        let printed: Vec<_> = here.iter().filter(|line| !line.is_empty()).cloned().collect();
        assert_eq!(theirs.lines().collect::<Vec<_>>(), printed, "{definition}: {statements:?}");
        assert!(printed.len() >= 4);
    }
}

#[test]
fn our_sequences_answer_like_psql() {
    shared(Kind::Server(Engine::Postgres)).run(|scene| async move {
        let sql = |name: &str, statement: &str| match statement.split_once('(') {
            Some((function, arguments)) => format!("SELECT {function}('{name}', {arguments}"),
            None if statement == "lastval" => "SELECT lastval()".to_owned(),
            None => format!("SELECT {statement}('{name}')"),
        };
        compare(&scene, &PG, sql, ";\n").await;
    });
}

#[test]
fn our_sequences_answer_like_the_client_of_mariadb() {
    shared(Kind::Server(Engine::Mariadb)).run(|scene| async move {
        let sql = |name: &str, statement: &str| match statement.split_once('(') {
            Some((function, arguments)) => format!("SELECT {function}({name}, {arguments}"),
            None if statement == "currval" => format!("SELECT LASTVAL({name})"),
            None => format!("SELECT {statement}({name})"),
        };
        compare(&scene, &MARIADB, sql, ";\n").await;
    });
}

#[test]
fn ranges_by_name_are_those_of_mariadb() {
    shared(Kind::Server(Engine::Mariadb)).run(|scene| async move {
        for name in [
            "seq_1_to_15_step_3",
            "seq_5_to_1_step_2",
            "seq_15_to_1_step_3",
            "seq_6_to_1_step_2",
            "seq_7_to_7_step_9",
            "seq_5_to_1_step_10",
            "seq_1_to_5",
            "seq_18446744073709551610_to_18446744073709551615_step_2",
        ] {
            let theirs = scene.client(&format!("SELECT seq FROM {name}"));
            let here: Vec<_> = by_name(name).expect("a range").map(|number| number.to_string()).collect();
            assert_eq!(theirs.lines().collect::<Vec<_>>(), here, "{name}");
        }
    });
}
