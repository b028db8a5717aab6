//! Runs the same statements on the database's sequences and on ours.

use std::fmt::Write as _;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use snowmint::stores::{Sequences, connect};
use snowmint_core::sequence::{Dialect, Options, Set, by_name};
use snowmint_tests::engines::Engine;
use snowmint_tests::tries;

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

async fn compare(scene: &Scene, cases: &[Case], sql: fn(&str, &str) -> String) {
    for (definition, options, statements) in cases {
        let name = unique("beside");
        scene.client(&format!("CREATE SEQUENCE {name} {definition}"));
        let session = Sequences::new(scene.connect().await).with_max_wait(Duration::from_secs(20));
        assert_eq!(session.create(&name, options).await, Ok(true));
        // The database runs the statements in one session too. A refused statement prints nothing; the next ones still
        // run.
        let script: String = statements.iter().map(|statement| sql(&name, statement) + ";\n").collect();
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

/// The statements of a session on one sequence.
const SESSION: usize = 500;

/// Returns a random definition, as SQL and as ours: among small numbers, or at an end of the numbers of 64 bits.
fn random_definition(random: &mut StdRng, dialect: Dialect) -> (String, Options) {
    let base = [0, i64::MAX - 80, i64::MIN + 20][random.random_range(0..3)];
    let min = base + random.random_range(-15..15);
    let max = min + random.random_range(1..60);
    let start = random.random_range(min..=max);
    let step = random.random_range(1..8) * if random.random() { 1 } else { -1 };
    let (cache, cycle) = (random.random_range(1..6), random.random());
    let cached =
        if dialect == Dialect::Mariadb && cache == 1 { "NOCACHE".to_owned() } else { format!("CACHE {cache}") };
    let cycled = if cycle { "CYCLE" } else { "" };
    let sql = format!("START {start} INCREMENT {step} MINVALUE {min} MAXVALUE {max} {cached} {cycled}");
    let options = Options {
        dialect,
        start: Some(start.into()),
        increment: step.into(),
        min: Some(min.into()),
        max: Some(max.into()),
        cache: Some(cache.into()),
        cycle,
        ..Options::DEFAULT
    };
    (sql, options)
}

fn random_statement(random: &mut StdRng, options: &Options) -> String {
    let ends = options.min.zip(options.max).expect("both are given");
    let value = random.random_range(ends.0 - 3..=ends.1 + 3);
    // MariaDB forgets at the next NEXTVAL how far past the bound the next value was set to be.
    let next = value.clamp(ends.0 - 1, ends.1 + 1);
    match random.random_range(0..20) {
        0..13 => "nextval".to_owned(),
        13..15 => "currval".to_owned(),
        // MariaDB has only LASTVAL of a sequence.
        15 if options.dialect == Dialect::Mariadb => "currval".to_owned(),
        15 => "lastval".to_owned(),
        16..18 => format!("setval({value})"),
        18 => format!("setval({value}, true)"),
        _ => format!("setval({next}, false)"),
    }
}

/// Compares sessions of 500 random calls.
async fn compare_at_random(scene: &Scene, dialect: Dialect, sql: fn(&str, &str) -> String) {
    for seed in 0..u64::from(tries(4)) {
        let random = &mut StdRng::seed_from_u64(seed);
        let name = unique("random");
        let (definition, options) = random_definition(random, dialect);
        scene.client(&format!("CREATE SEQUENCE {name} {definition}"));
        let session = Sequences::new(connect("memory:").await.expect("a store in memory"));
        assert_eq!(session.create(&name, &options).await, Ok(true), "{definition}");
        let (mut script, mut expected) = (String::new(), Vec::new());
        for place in 0..SESSION {
            let statement = random_statement(random, &options);
            // A refused statement prints nothing: its line says which one it is.
            let line = format!("{place} {statement}");
            write!(script, "SELECT '{line}';\n{};\n", sql(&name, &statement)).expect("a text");
            let answer = ours(&session, &name, &statement).await;
            expected.extend([line].into_iter().chain((!answer.is_empty()).then_some(answer)));
        }
        let printed = scene.client_script(&script);
        let first = printed.lines().zip(&expected).position(|(theirs, ours)| theirs != ours);
        let around = first.map(|at| (expected[at.saturating_sub(12)..=at].to_vec(), printed.lines().nth(at)));
        assert_eq!(around, None, "seed {seed}: {definition}");
        assert_eq!(printed.lines().count(), expected.len(), "seed {seed}: {definition}");
    }
}

fn in_postgres(name: &str, statement: &str) -> String {
    match statement.split_once('(') {
        Some((function, arguments)) => format!("SELECT {function}('{name}', {arguments}"),
        None if statement == "lastval" => "SELECT lastval()".to_owned(),
        None => format!("SELECT {statement}('{name}')"),
    }
}

fn in_mariadb(name: &str, statement: &str) -> String {
    match statement.split_once('(') {
        Some((function, arguments)) => format!("SELECT {function}({name}, {arguments}"),
        None if statement == "currval" => format!("SELECT LASTVAL({name})"),
        None => format!("SELECT {statement}({name})"),
    }
}

#[test]
fn random_calls_answer_like_postgres() {
    shared(Kind::Server(Engine::Postgres)).run(|scene| async move {
        compare_at_random(&scene, Dialect::Pg, in_postgres).await;
    });
}

#[test]
fn random_calls_answer_like_mariadb() {
    shared(Kind::Server(Engine::Mariadb)).run(|scene| async move {
        compare_at_random(&scene, Dialect::Mariadb, in_mariadb).await;
    });
}

#[test]
fn our_sequences_answer_like_psql() {
    shared(Kind::Server(Engine::Postgres)).run(|scene| async move {
        compare(&scene, &PG, in_postgres).await;
    });
}

#[test]
fn our_sequences_answer_like_the_client_of_mariadb() {
    shared(Kind::Server(Engine::Mariadb)).run(|scene| async move {
        compare(&scene, &MARIADB, in_mariadb).await;
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
