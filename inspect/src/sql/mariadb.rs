//! A stored function of `MariaDB` that mints IDs.

use core::fmt::{self, Write};

use super::check_name;
use super::dialect::{Doubled, Engine, MARIADB_NAME_BYTES, Quoted};
use super::function::{Last, MAX_MS, digest};
use snowmint_core::time::Rfc3339;
use snowmint_core::{Error, Integer, Layout, Options, SequenceStart, mutant};

/// Statements for `MariaDB` 10.6 and later, tested on 10.11; see [`MariadbFunction::new`].
///
/// The function follows the rules of a [`Snowflake`](snowmint_core::Snowflake): the tick of an ID is `max(now, last)`, and one
/// more when the sequence is used up, at most `max_ahead_ms` ahead of the clock. Beyond that it waits up to
/// `max_wait_ms`, in steps of at most 10 ms, and then fails. It never wraps and never repeats an ID, and IDs increase
/// over all connections.
///
/// | SQLSTATE | message begins with | when |
/// | --- | --- | --- |
/// | `SN001` | `EXHAUSTED` | the IDs up to now are used up |
/// | `SN002` | `CLOCK_BACKWARDS` | the last ID lies more than `max_ahead_ms` ahead of the clock |
/// | `SN003` | `TIME_OVERFLOW` | the layout has ended |
/// | `SN004` | `BEFORE_EPOCH` | the clock reads a time before the layout's epoch |
/// | `SN006` | `UNSAFE_STORE` | the binary log has the format `STATEMENT`, so a replica would mint other IDs |
///
/// A stored function runs in the transaction of its caller, which may roll back, and which no other session sees before
/// its commit. So the last tick and sequence are one number in a table of the engine `MyISAM`, which has no
/// transactions: a rollback, also to a savepoint, does not set the number back, and every session sees it at once. A
/// statement that calls the function holds the table's lock to its end, so other sessions that mint wait for the
/// statement, and not for the transaction. While a statement that mints waits for a row of a transaction that then
/// mints, both wait until `innodb_lock_wait_timeout`.
///
/// `MyISAM` hands the number to the operating system at once. It survives a kill of the server. After a loss of power
/// the number may be an older one; then only the clock keeps new IDs above the old ones.
///
/// The name of the table has the function, the node and a digest of the layout. So a function that is made for another
/// node or layout uses another table, and a function that is made for the same ones continues. Callers need the right
/// to execute the function, but no right on the table (`SQL SECURITY DEFINER`).
///
/// The person who installs the function vouches for the node: no other function, server or process may mint with it.
/// Replicas get the IDs as rows: `binlog_format` is `ROW` or `MIXED`. After a failover or a restored backup, only the
/// clock keeps new IDs above the old ones. Two servers that accept writes, as in a Galera cluster, need two nodes.
/// Random fields come from `RAND()`.
///
/// The statements run under any `sql_mode`, and beside a binary log. There the server refuses a function that is declared
/// as `MODIFIES SQL DATA` (error 1418), because a log of statements would make replicas run it. So the function is declared
/// as `READS SQL DATA`, although it also writes its table, and refuses such a log itself. Without the right `SUPER` the
/// server refuses every stored function beside a binary log, unless `log_bin_trust_function_creators` is on (error 1419).
///
/// `MySQL` is not supported: with GTIDs it refuses a statement that writes tables with and without transactions, and no
/// test has run the function there.
#[derive(Clone, Copy, Debug)]
pub struct MariadbFunction<'a> {
    layout: &'a Layout,
    schema: &'a str,
    name: &'a str,
    node: u32,
    options: Options,
}

const ENGINE: Engine = Engine::Mariadb;

/// Sets the mode of one statement. In the mode `ORACLE` a function has another syntax. Without `NO_ENGINE_SUBSTITUTION` a
/// server that enforces an engine makes the table in that engine, and a rollback sets the number back.
const MODE: &str = "SET STATEMENT sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION' FOR";

/// Refuses a log of statements. The server itself checks the log only for a function that is declared as `MODIFIES SQL DATA`.
const REFUSAL: &str = "  IF @@log_bin AND @@binlog_format = 'STATEMENT' THEN
    SIGNAL SQLSTATE 'SN006' SET MESSAGE_TEXT =
      'UNSAFE_STORE: with binlog_format=STATEMENT a replica mints other IDs: SET GLOBAL binlog_format = ''MIXED''';
  END IF;
";

/// A statement of a [`MariadbFunction`], without a semicolon at its end.
#[derive(Clone, Copy, Debug)]
pub struct MariadbStatement<'a> {
    function: MariadbFunction<'a>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Table,
    Drop,
    Create,
}

impl<'a> MariadbFunction<'a> {
    /// Makes the statements for `MariaDB` that create the function `schema.name()`, which mints the IDs of a node.
    /// `schema` is a database.
    ///
    /// Use it in a statement, `INSERT INTO orders (id) VALUES (schema.name())`, or in a trigger: `MariaDB` allows no
    /// stored function as the default of a column.
    ///
    /// # Errors
    /// `InvalidLayout`, if no generator takes the layout. `InvalidNode`, if it has no such node. `InvalidText`, if a name is
    /// empty, has a NUL or is longer than 64 bytes: `schema` itself, or `name` with up to 20 bytes that the name of the table
    /// adds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::MariadbFunction;
    /// let function = MariadbFunction::new(&SNOWMINT, "app", "next_id", 5.into())?;
    /// let [table, drop, create] = function.statements().map(|statement| statement.to_string());
    /// assert!(table.contains("CREATE TABLE IF NOT EXISTS `app`.`next_id_5_"));
    /// assert_eq!(drop, "DROP FUNCTION IF EXISTS `app`.`next_id`");
    /// assert!(create.contains("CREATE FUNCTION `app`.`next_id`() RETURNS BIGINT UNSIGNED\n"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(layout: &'a Layout, schema: &'a str, name: &'a str, node: Integer) -> Result<Self, Error> {
        layout.refuse_unmintable()?;
        let node = layout.node(node)?;
        check_name(schema, MARIADB_NAME_BYTES)?;
        let function = Self { layout, schema, name, node, options: Options::DEFAULT };
        check_name(name, MARIADB_NAME_BYTES - function.suffix_bytes())?;
        Ok(function)
    }

    /// Returns the same function with other options. The option `seed` is ignored.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, layouts::SNOWMINT};
    /// use snowmint_inspect::sql::MariadbFunction;
    /// let options = Options { max_wait_ms: 250, ..Options::DEFAULT };
    /// let function = MariadbFunction::new(&SNOWMINT, "app", "next_id", 5.into())?.with_options(options);
    /// assert!(function.statements()[2].to_string().contains("IF waited_ms < 250 THEN"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[must_use]
    pub const fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Returns the statements, to be run in this order. Drivers run one statement at a time. The last statement contains
    /// the function as a text, so the client `mariadb` needs no other delimiter than the semicolon.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::MariadbFunction;
    /// let function = MariadbFunction::new(&SNOWMINT, "app", "next_id", 5.into())?;
    /// assert!(function.statements().map(|statement| statement.to_string())[2].ends_with("\nEND')"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn statements(&self) -> [MariadbStatement<'a>; 3] {
        [Kind::Table, Kind::Drop, Kind::Create].map(|kind| MariadbStatement { function: *self, kind })
    }

    fn digest(&self) -> u64 {
        digest(self.layout, self.node)
    }

    fn suffix_bytes(&self) -> usize {
        // Two underscores, the node, eight digits.
        self.node.checked_ilog10().unwrap_or(0) as usize + 1 + 10
    }

    fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\
{MODE} CREATE TABLE IF NOT EXISTS {} (free BIGINT NOT NULL) ENGINE=MyISAM ROW_FORMAT=FIXED
COMMENT 'The last ID of node {} under {}, and 1 more: its tick, times {}, plus its sequence. If it is set back, IDs repeat.'
SELECT 0 AS free",
            Table(self),
            self.node,
            self.layout,
            self.layout.ids_per_tick()
        )
    }

    /// Writes the function as a text, which the server reads under [`MODE`].
    fn write_create(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MODE} EXECUTE IMMEDIATE CONCAT('")?;
        self.write_function(&mut Literal(f))?;
        f.write_str("')")
    }

    fn write_function(&self, f: &mut impl Write) -> fmt::Result {
        let (layout, last) = (self.layout, Last::of(self.layout));
        write!(
            f,
            "\
CREATE FUNCTION {}.{}() RETURNS BIGINT UNSIGNED
NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Mints IDs of node {} under {layout}. No other generator may use this node. Its last tick is {}.'
",
            Quoted(ENGINE, self.schema),
            Quoted(ENGINE, self.name),
            self.node,
            Rfc3339(layout.tick_start_ms(last.tick)),
        )?;
        self.write_place(f)?;
        self.write_end(f)
    }

    fn write_place(&self, f: &mut impl Write) -> fmt::Result {
        let (layout, last) = (self.layout, Last::of(self.layout));
        write!(
            f,
            "\
BEGIN
  -- A place is a tick << {width} | a sequence; this is the next free place.
  DECLARE place BIGINT;
  DECLARE last_place BIGINT;
  DECLARE now_ms BIGINT;
  DECLARE tick BIGINT;
  DECLARE reach BIGINT;
  DECLARE wait_ms BIGINT;
  DECLARE waited_ms BIGINT DEFAULT 0;
  DECLARE message VARCHAR(128);
{refusal}  LOOP
    -- In UTC, because a session's time zone may have an hour twice.
    SET STATEMENT time_zone = '+00:00' FOR
      SELECT TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) DIV 1000 INTO now_ms;
    IF now_ms < {epoch} THEN
      SIGNAL SQLSTATE 'SN004' SET MESSAGE_TEXT = 'BEFORE_EPOCH: the clock reads a time before the layout''s epoch, {from}';
    END IF;
    SELECT state.free INTO place FROM {table} AS state;
    SET last_place = place - 1;
    SET reach = (now_ms + {ahead_ms} - {epoch}) DIV {tick_ms};
    SET tick = (now_ms - {epoch}) DIV {tick_ms};
    IF tick > place >> {width} OR place & {mask} = 0 THEN
      SET tick = GREATEST(tick, CAST(place >> {width} AS SIGNED));
      SET place = (tick << {width}){start};
    END IF;
    SET tick = place >> {width};
    IF tick > {last_tick} OR place > {last_place} THEN
      SIGNAL SQLSTATE 'SN003' SET MESSAGE_TEXT = 'TIME_OVERFLOW: the last tick of this function was {until}';
    END IF;
    IF tick <= reach THEN
      UPDATE {table} AS state SET state.free = place + 1;
      RETURN ",
            refusal = if mutant::removes("binlog") { "" } else { REFUSAL },
            table = Table(self),
            from = Rfc3339(layout.epoch_ms()),
            epoch = Number(layout.epoch_ms()),
            tick_ms = layout.tick_ms(),
            width = layout.sequence().width(),
            mask = layout.sequence().max(),
            ahead_ms = self.options.max_ahead_ms.min(MAX_MS),
            start = Start(self),
            last_tick = last.tick,
            last_place = last.place(layout),
            until = Rfc3339(layout.tick_start_ms(last.tick)),
        )?;
        self.write_id(f)
    }

    fn write_end(&self, f: &mut impl Write) -> fmt::Result {
        let (layout, options) = (self.layout, &self.options);
        write!(
            f,
            ";
    END IF;
    SET wait_ms = GREATEST(1, {epoch} + tick * {tick_ms} - now_ms - {ahead_ms});
    IF waited_ms < {max_wait_ms} THEN
      SET wait_ms = LEAST(wait_ms, {max_wait_ms} - waited_ms, 10);
      DO SLEEP(wait_ms / 1000);
      SET waited_ms = waited_ms + wait_ms;
    ELSEIF last_place >> {width} > reach THEN
      SET message = CONCAT('CLOCK_BACKWARDS: the clock is ',
        {epoch} + CAST(last_place >> {width} AS SIGNED) * {tick_ms} - now_ms, ' ms behind the last ID');
      SIGNAL SQLSTATE 'SN002' SET MESSAGE_TEXT = message;
    ELSE
      SET message = CONCAT('EXHAUSTED: no ID is free now: retry in ', wait_ms, ' ms');
      SIGNAL SQLSTATE 'SN001' SET MESSAGE_TEXT = message;
    END IF;
  END LOOP;
END",
            width = layout.sequence().width(),
            epoch = Number(layout.epoch_ms()),
            tick_ms = layout.tick_ms(),
            ahead_ms = options.max_ahead_ms.min(MAX_MS),
            max_wait_ms = options.max_wait_ms.min(MAX_MS),
        )
    }

    /// Writes the ID at a place. Numbers are below 2^64, and bits are unsigned in this engine.
    fn write_id(&self, f: &mut impl Write) -> fmt::Result {
        let (time, sequence, random) = (self.layout.time(), self.layout.sequence(), self.layout.random());
        write!(
            f,
            "{} | ((place >> {}) << {})",
            self.layout.put_node(self.node) | self.layout.fixed(),
            sequence.width(),
            time.shift()
        )?;
        if sequence.width() > 0 {
            write!(f, " | ((place & {}) << {})", sequence.max(), sequence.shift())?;
        }
        // `RAND` has 30 random bits.
        for low in (0..random.width()).step_by(16) {
            let bits = (random.width() - low).min(16);
            write!(f, " | (FLOOR(RAND() * {}) << {})", 1u64 << bits, random.shift() + low)?;
        }
        Ok(())
    }
}

impl fmt::Display for MariadbStatement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = &self.function;
        match self.kind {
            Kind::Table => function.write_table(f),
            Kind::Drop => {
                let (schema, name) = (Quoted(ENGINE, function.schema), Quoted(ENGINE, function.name));
                write!(f, "DROP FUNCTION IF EXISTS {schema}.{name}")
            }
            Kind::Create => function.write_create(f),
        }
    }
}

/// The name of the table with its database, in quotes.
struct Table<'a, 'b>(&'a MariadbFunction<'b>);

impl fmt::Display for Table<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0;
        let (schema, name) = (Quoted(ENGINE, function.schema), Doubled(ENGINE, function.name));
        write!(f, "{schema}.`{name}_{}_{:08x}`", function.node, function.digest() >> 32)
    }
}

/// Writes into an SQL literal, without backslashes: it depends on the session whether a backslash is an escape.
struct Literal<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Literal<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|char| match char {
            '\'' => self.0.write_str("''"),
            '\\' => self.0.write_str("', CHAR(92 USING utf8mb4), '"),
            char => self.0.write_char(char),
        })
    }
}

/// A number that follows a minus, so that a negative one needs parentheses.
struct Number(i64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

/// The start of the sequence in a new tick, unless it is 0. `place` is one past the last place.
struct Start<'a, 'b>(&'a MariadbFunction<'b>);

impl fmt::Display for Start<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mask = self.0.layout.sequence().max();
        match self.0.options.sequence_start {
            SequenceStart::Carry => write!(f, " | (place & {mask})"),
            SequenceStart::Random => write!(f, " | FLOOR(RAND() * {})", (mask >> 1) + 1),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use snowmint_core::ErrorKind;
    use std::string::ToString;

    #[test]
    fn a_fixed_value_is_in_every_id() {
        let layout = Layout::parse("version:5=16,time:41,node:6,sequence:12;epoch=0").expect("valid");
        let function = MariadbFunction::new(&layout, "app", "next_id", 3.into()).expect("valid");
        let [.., create] = function.statements().map(|statement| statement.to_string());
        assert!(create.contains(&std::format!("{} | ((place", 16_u64 << 59 | 3 << 12)), "{create}");
    }

    #[test]
    fn a_layout_that_no_generator_takes_is_refused() {
        for text in ["time:42,opaque:22;epoch=0", "time:53,clock:10;epoch=0;tick=1us"] {
            let layout = Layout::parse(text).expect("valid");
            let refused = MariadbFunction::new(&layout, "app", "next_id", 0.into()).expect_err(text);
            assert_eq!(refused.kind(), ErrorKind::InvalidLayout);
        }
    }
}
