//! A layout as SQL: functions of a database that mint its IDs, and expressions that decode IDs in a query.
//!
//! | function | makes |
//! | --- | --- |
//! | [`PostgresFunction::new`] | a script that creates a function, which can be a column's default |
//! | [`MariadbFunction::new`] | statements that create such a function in `MariaDB` |
//! | [`Wide::postgres_function`] | the same for UUIDs of version 7, ULIDs and `TypeID`s |
//! | [`Column::new`] | expressions for the time, the node and every field, and a predicate for a range of time |
//!
//! [`Display`](core::fmt::Display) writes the texts, so they need no allocator. Names are always quoted, so no name can
//! change the meaning of a text.

mod decode;
mod dialect;
mod function;
mod mariadb;
mod tag;
mod wide;

use core::fmt;

pub use self::decode::{Between, Column, Expression};
pub use self::dialect::Dialect;
pub use self::function::PostgresFunction;
pub use self::mariadb::{MariadbFunction, MariadbStatement};
pub use self::wide::{PostgresWideFunction, Wide};

use snowmint_core::Error;
use snowmint_core::host::What;

/// The 64 bits of an ID as a signed number. SQL would read the smallest as a minus before a number beyond `bigint`, so
/// it is written as a sum.
#[derive(Clone, Copy)]
struct Signed(u64);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.cast_signed() {
            i64::MIN => write!(f, "({} - 1)", i64::MIN + 1),
            value => write!(f, "{value}"),
        }
    }
}

/// Refuses a name that is empty, has a NUL, or more than `max` bytes.
fn check_name(name: &str, max: usize) -> Result<(), Error> {
    let fits = !name.is_empty() && name.len() <= max && !name.contains('\0');
    if fits { Ok(()) } else { Err(Error::new(What::SqlName, 0, max as u64, 0)) }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::string::{String, ToString};

    use super::dialect::{Engine, Quoted};
    use super::*;
    use snowmint_core::layouts::{DISCORD, INSTAGRAM, MASTODON, SNOWMINT, SONYFLAKE, TWITTER};
    use snowmint_core::{ErrorKind, Layout, Options, SequenceStart};

    fn script(layout: &Layout, schema: &str, name: &str, node: u64) -> String {
        PostgresFunction::new(layout, schema, name, node.into()).expect("it can be").to_string()
    }

    #[test]
    fn names_are_quoted_everywhere() {
        let script = script(&SNOWMINT, r#"a"b"#, r#"c"; DROP TABLE t; --"#, 5);
        assert!(script.contains(r#"FUNCTION "a""b"."c""; DROP TABLE t; --"() RETURNS"#));
        assert!(script.contains(r#"SEQUENCE IF NOT EXISTS "a""b"."c""; DROP TABLE t; --_5_"#));
        assert!(!script.contains(r#"c"; DROP"#));
    }

    #[test]
    fn no_name_can_end_the_body() {
        assert_eq!(script(&SNOWMINT, "s", "f", 5).matches("$snowmint0$").count(), 2);
        let taken = script(&SNOWMINT, "$snowmint0$", "x$snowmint1$snowmint2$", 5);
        assert_eq!(taken.matches("$snowmint3$").count(), 2);
    }

    #[test]
    fn names_are_at_most_as_long_as_postgres_allows() {
        let long = "n".repeat(63);
        for (node, room) in [(0, 52), (9, 52), (10, 51), (1023, 49)] {
            assert!(PostgresFunction::new(&SNOWMINT, &long, &long[..room], node.into()).is_ok());
            let error = PostgresFunction::new(&SNOWMINT, "s", &long[..=room], node.into()).expect_err("one too many");
            assert_eq!(error.kind(), ErrorKind::InvalidText);
            let script = script(&SNOWMINT, "s", &long[..room], node);
            let sequence = script.split('"').nth(3).expect("quotes");
            assert_eq!(sequence.len(), 63);
        }
        for bad in ["", "a\0b"] {
            assert!(PostgresFunction::new(&SNOWMINT, bad, "f", 5.into()).is_err());
            assert!(PostgresFunction::new(&SNOWMINT, "s", bad, 5.into()).is_err());
            assert!(Column::new(&SNOWMINT, Dialect::Postgres, bad).is_err());
        }
    }

    #[test]
    fn a_node_that_does_not_fit_is_refused() {
        let error = PostgresFunction::new(&TWITTER, "s", "f", 1024.into()).expect_err("ten bits");
        assert_eq!(error.to_string(), "node 1024 does not fit this layout: it takes 0 to 1023");
    }

    #[test]
    fn every_node_and_layout_has_a_different_sequence() {
        let sequence = |layout: &Layout, node| {
            let script = script(layout, "s", "f", node);
            String::from(script.split('"').nth(3).expect("quotes"))
        };
        assert_eq!(sequence(&SNOWMINT, 5), sequence(&SNOWMINT, 5));
        assert_ne!(sequence(&SNOWMINT, 5), sequence(&SNOWMINT, 6));
        assert_ne!(sequence(&SNOWMINT, 5), sequence(&TWITTER, 5));
        // The names of fields do not matter.
        let renamed = Layout::parse("unused:1,time:41,x:10,sequence:12;epoch=1735689600000").expect("a layout");
        assert_eq!(sequence(&SNOWMINT, 5), sequence(&renamed, 5));
    }

    #[test]
    fn the_comment_says_when_ids_turn_negative() {
        assert!(script(&SNOWMINT, "s", "f", 5).ends_with("No ID is negative in a signed bigint.';\n"));
        let comment = "From 2046-06-27T17:00:49.497Z on IDs are negative in a signed bigint.';\n";
        assert!(script(&INSTAGRAM, "s", "f", 5).ends_with(comment));
        assert!(script(&DISCORD, "s", "f", 5).contains("From 2084-09-06T15:47:35.552Z on IDs are negative"));
        // The places of a bigint end before IDs turn negative.
        assert!(script(&MASTODON, "s", "f", 0).contains("Its last tick is 6429-10-17T02:45:55.327Z. No ID"));
    }

    #[test]
    fn options_are_in_the_script() {
        let function = PostgresFunction::new(&SONYFLAKE, "s", "f", 5.into()).expect("it can be");
        let options = Options { max_ahead_ms: 70, max_wait_ms: 300, ..Options::DEFAULT };
        let script = function.with_options(options).to_string();
        assert!(script.contains("SET lock_timeout = '1300ms'"));
        assert!(script.contains("reach := now_ms + 70;"));
        assert!(script.contains("IF waited_ms < 300 THEN"));
        assert!(script.contains("place := (tick << 8);"));
        let options = Options { max_ahead_ms: u64::MAX, max_wait_ms: u64::MAX, ..Options::DEFAULT };
        let script = function.with_options(options).to_string();
        assert!(script.contains("SET lock_timeout = '2147483647ms'"));
        assert!(script.contains("reach := now_ms + 9007199254740992;"));
        let carry = Options { sequence_start: SequenceStart::Carry, ..Options::DEFAULT };
        assert!(function.with_options(carry).to_string().contains("place := (tick << 8) | (free & 255);"));
        let random = Options { sequence_start: SequenceStart::Random, ..Options::DEFAULT };
        let script = function.with_options(random).to_string();
        assert!(script.contains("place := (tick << 8) | floor(random() * 128)::bigint;"));
    }

    #[test]
    fn functions_of_mariadb_quote_names_and_keep_tables_apart() {
        let statements = |layout: &Layout, schema: &str, name: &str, node: u64| {
            let function = MariadbFunction::new(layout, schema, name, node.into()).expect("it can be");
            function.statements().map(|statement| statement.to_string())
        };
        let [table, drop, create] = statements(&TWITTER, "a`b", "c`; DROP TABLE t; --", 5);
        assert!(table.contains("CREATE TABLE IF NOT EXISTS `a``b`.`c``; DROP TABLE t; --_5_"));
        assert_eq!(drop, "DROP FUNCTION IF EXISTS `a``b`.`c``; DROP TABLE t; --`");
        assert!(!create.contains("c`; DROP"));
        let table_of =
            |layout: &Layout, node| statements(layout, "s", "f", node)[0].split('(').next().map(String::from);
        assert_eq!(table_of(&TWITTER, 5), table_of(&TWITTER, 5));
        assert_ne!(table_of(&TWITTER, 5), table_of(&TWITTER, 6));
        assert_ne!(table_of(&TWITTER, 5), table_of(&SNOWMINT, 5));
        let long = "n".repeat(64);
        for (node, room) in [(0, 53), (10, 52), (1023, 50)] {
            assert!(MariadbFunction::new(&SNOWMINT, &long, &long[..room], node.into()).is_ok());
            assert!(MariadbFunction::new(&SNOWMINT, "s", &long[..=room], node.into()).is_err());
        }
    }

    #[test]
    fn messages_of_mariadb_fit_128_characters() {
        for layout in [&SNOWMINT, &MASTODON, &SONYFLAKE] {
            let function = MariadbFunction::new(layout, "s", "f", 0.into()).expect("it can be");
            let create = function.statements()[2].to_string();
            // The function is a text, so its quotes are doubled.
            for message in create.split("MESSAGE_TEXT =").skip(1).filter(|message| !message.starts_with(" message")) {
                let message = message.trim_start().split("'';\n").next().expect("an end");
                assert!(message.trim_start_matches('\'').replace("''''", "'").len() <= 128, "{message}");
            }
        }
    }

    #[test]
    fn options_are_in_the_function_of_mariadb() {
        let function = MariadbFunction::new(&SONYFLAKE, "s", "f", 5.into()).expect("it can be");
        let options = Options { max_ahead_ms: 70, max_wait_ms: 300, ..Options::DEFAULT };
        let create = function.with_options(options).statements()[2].to_string();
        assert!(create.contains("SET reach = (now_ms + 70 - 1409529600000) DIV 10;"));
        assert!(create.contains("IF waited_ms < 300 THEN"));
        assert!(create.contains("SET place = (tick << 8);"));
        let carry = Options { sequence_start: SequenceStart::Carry, ..Options::DEFAULT };
        let create = function.with_options(carry).statements()[2].to_string();
        assert!(create.contains("SET place = (tick << 8) | (place & 255);"));
        let early = Layout::parse("time:40,node:4;epoch=-5").expect("a layout");
        let create = MariadbFunction::new(&early, "s", "f", 5.into()).expect("it can be").statements()[2].to_string();
        assert!(create.contains("SET tick = (now_ms - (-5)) DIV 1;"));
    }

    #[test]
    fn wide_functions_have_separate_sequences_and_locks() {
        let script = |kind: Wide, name| kind.postgres_function("s", name).expect("it can be").to_string();
        let (one, other) = (script(Wide::Uuid7, "f"), script(Wide::Uuid7, "g"));
        assert!(one.starts_with(r#"CREATE SEQUENCE IF NOT EXISTS "s"."f_last" AS bigint"#));
        let lock =
            |script: &str| script.split("xact_lock(").nth(1).and_then(|rest| rest.split(')').next()).map(String::from);
        assert_ne!(lock(&one), lock(&other));
        assert_eq!(script(Wide::Ulid, "f").matches("substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ'").count(), 26);
        assert_eq!(script(Wide::TypeId, "f").matches("substr('0123456789abcdefghjkmnpqrstvwxyz'").count(), 26);
        for kind in Wide::ALL {
            assert_eq!(Wide::find(kind.name()), Ok(kind));
            assert!(kind.postgres_function("s", &"n".repeat(58)).is_ok());
            assert!(kind.postgres_function("s", &"n".repeat(59)).is_err());
            assert!(kind.postgres_function("s\0", "n").is_err());
        }
        assert_eq!(Wide::find("uuid4").expect_err("no such kind").kind(), ErrorKind::InvalidText);
    }

    #[test]
    fn expressions_cut_fields_out_of_the_column() {
        let id = Column::new(&SONYFLAKE, Dialect::Mariadb, "t.i`d").expect("a column");
        assert_eq!(id.sequence().to_string(), "((`t`.`i``d` >> 16) & 255)");
        assert_eq!(id.node().to_string(), "(`t`.`i``d` & 65535)");
        assert_eq!(id.random().to_string(), "0");
        let time_ms = "(CAST(((`t`.`i``d` >> 24) & 549755813887) AS SIGNED) * 10 + 1409529600000)";
        assert_eq!(id.timestamp_ms().to_string(), time_ms);
        assert_eq!(
            id.fields().map(|(name, _)| name.as_str()).collect::<alloc::vec::Vec<_>>(),
            ["time", "sequence", "machine"]
        );
    }

    #[test]
    fn each_engine_has_its_words_for_bits_and_instants() {
        let id = |dialect| Column::new(&TWITTER, dialect, "t.i`d").expect("a column");
        let clickhouse = id(Dialect::Clickhouse);
        assert_eq!(clickhouse.node().to_string(), "bitAnd(bitShiftRight(`t`.`i``d`, 12), 1023)");
        assert_eq!(clickhouse.sequence().to_string(), "bitAnd(`t`.`i``d`, 4095)");
        assert_eq!(Quoted(Engine::Clickhouse, r"\`").to_string(), r"`\\```");
        assert_eq!(id(Dialect::Sqlite).sequence().to_string(), "(`t`.`i``d` & 4095)");
        assert_eq!(id(Dialect::Cockroach).sequence().to_string(), r#"("t"."i`d" & 4095)"#);
        let unsigned = r#"(CAST((("t"."i`d" >> 22) & 2199023255551) AS BIGINT) + 1288834974657)"#;
        assert_eq!(id(Dialect::DuckdbUnsigned).timestamp_ms().to_string(), unsigned);
        let signed = r#"((("t"."i`d" >> 22) & 2199023255551) + 1288834974657)"#;
        assert_eq!(id(Dialect::Duckdb).timestamp().to_string(), alloc::format!("epoch_ms({signed})"));
    }

    #[test]
    fn late_instants_are_exact_in_postgres() {
        let late = Column::new(&MASTODON, Dialect::Postgres, "id").expect("a column").timestamp().to_string();
        assert!(late.contains(" / 3600000 * INTERVAL '1 hour' + "), "{late}");
        let soon = Column::new(&DISCORD, Dialect::Postgres, "id").expect("a column").timestamp().to_string();
        assert!(soon.ends_with(" * INTERVAL '1 millisecond')") && !soon.contains("hour"), "{soon}");
    }

    #[test]
    fn the_message_of_a_refusal_lists_every_dialect() {
        let message = Dialect::find("oracle").expect_err("not one of them").to_string();
        for dialect in Dialect::ALL {
            assert!(message.split([' ', ',']).any(|word| word == dialect.name()), "{}", dialect.name());
        }
    }

    #[test]
    fn a_range_can_cross_the_sign() {
        let from_ms = DISCORD.signed_until_ms().expect("64 bits");
        let between = |dialect, from_ms, to_ms| {
            let column = Column::new(&DISCORD, dialect, "id").expect("a column");
            column.between(from_ms, to_ms).expect("times of the layout").to_string()
        };
        let most = (i64::MAX - 4_194_303, i64::MIN + 4_194_303);
        let over = alloc::format!(r#"("id" >= {} OR "id" <= {})"#, most.0, most.1);
        assert_eq!(between(Dialect::Postgres, from_ms - 1, from_ms), over);
        let after = alloc::format!(r#"("id" BETWEEN (-9223372036854775807 - 1) AND {})"#, most.1);
        assert_eq!(between(Dialect::Postgres, from_ms, from_ms), after);
        let unsigned = alloc::format!("(`id` BETWEEN {} AND {})", 1u64 << 63, (1u64 << 63) + 4_194_303);
        assert_eq!(between(Dialect::Mariadb, from_ms, from_ms), unsigned);
    }

    #[test]
    fn dialects_are_found_by_their_names() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::find(dialect.name()), Ok(dialect));
        }
        assert_eq!(Dialect::find("Postgres").expect_err("a capital").kind(), ErrorKind::InvalidText);
    }
}
