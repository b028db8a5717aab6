//! A stored function of `MariaDB` and `MySQL` that mints IDs.

use core::fmt;

use super::check_name;
use super::dialect::{Doubled, Engine, MARIADB_NAME_BYTES, Quoted};
use super::function::{LONGEST_MS, Last, digest};
use crate::error::Error;
use crate::generator::{Options, SequenceStart};
use crate::int::Integer;
use crate::layout::Layout;
use crate::random;
use crate::time::Rfc3339;

impl Layout {
    /// Returns the statements for `MariaDB` and `MySQL` that create the function `schema.name()`, which mints the IDs of a
    /// node. `schema` is a database.
    ///
    /// Use it in a statement, `INSERT INTO orders (id) VALUES (schema.name())`, or in a trigger: these engines allow no
    /// stored function as the default of a column. See [`MariadbFunction`].
    ///
    /// # Errors
    /// `InvalidNode`, if the layout has no such node. `InvalidText`, if a name is empty, has a NUL or is longer than 64
    /// bytes: `schema` itself, or `name` with up to 20 bytes that the name of the table adds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// let function = SNOWMINT.mariadb_function("app", "next_id", 5.into())?;
    /// let [table, drop, create] = function.statements().map(|statement| statement.to_string());
    /// assert!(table.starts_with("CREATE TABLE IF NOT EXISTS `app`.`next_id_5_"));
    /// assert_eq!(drop, "DROP FUNCTION IF EXISTS `app`.`next_id`");
    /// assert!(create.starts_with("CREATE FUNCTION `app`.`next_id`() RETURNS BIGINT UNSIGNED\n"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn mariadb_function<'a>(
        &'a self,
        schema: &'a str,
        name: &'a str,
        node: Integer,
    ) -> Result<MariadbFunction<'a>, Error> {
        let node = self.node(node)?;
        check_name(schema, MARIADB_NAME_BYTES)?;
        let function = MariadbFunction { layout: self, schema, name, node, options: Options::DEFAULT };
        check_name(name, MARIADB_NAME_BYTES - function.suffix_bytes())?;
        Ok(function)
    }
}

/// Statements for `MariaDB` 10.3 and later and `MySQL` 8.0.17 and later, tested on `MariaDB` 10.11; see
/// [`Layout::mariadb_function`].
///
/// The function follows the rules of a [`Snowflake`](crate::Snowflake): the tick of an ID is `max(now, last)`, and one
/// more when the sequence is used up, at most `max_ahead_ms` ahead of the clock. Beyond that it waits up to
/// `max_wait_ms`, in steps of at most 10 ms, and then fails. It never wraps and never repeats an ID, on any number of
/// connections. The IDs of one connection strictly increase.
///
/// | SQLSTATE | message begins with | when |
/// | --- | --- | --- |
/// | `SN001` | `EXHAUSTED` | the IDs up to now are used up |
/// | `SN002` | `CLOCK_BACKWARDS` | the next ID lies more than a tick, `max_wait_ms` and a second beyond `max_ahead_ms` |
/// | `SN003` | `TIME_OVERFLOW` | the layout has ended |
/// | `SN004` | `BEFORE_EPOCH` | the clock reads a time before the layout's epoch |
/// | `SN006` | `UNSAFE` | the engine does not read its clock in UTC, as in a `MySQL` before 8.0.17 |
/// | `SN007` | `LOCKED` | another session, stopped inside the function, held the lock a second longer than `max_wait_ms` |
///
/// A stored function runs in the transaction of its caller, which may roll back, and which no other session sees before
/// its commit. So the function keeps nothing in rows. A place, `tick << sequence bits | sequence`, is a value of the
/// `AUTO_INCREMENT` counter of an `InnoDB` table. The engine gives out each value once, in order, to all sessions,
/// whatever their transactions do. An explicit insert raises the counter to the tick of the clock, so it never goes back.
/// The function deletes each row at once. The lock by `GET_LOCK` keeps two sessions from raising the counter to one
/// value, which would make one wait for the other's transaction. It does not matter for uniqueness.
///
/// The counter is on disk when a later commit is. As with every such counter, an ID may repeat if a crash ended its
/// transaction before the commit and the server is back within the same tick. A call that fails has taken a place: with
/// a layout of few IDs per second, repeated failing calls move the next ID further ahead.
///
/// The name of the table has the function, the node and a digest of the layout. So a function that is made for another
/// node or layout uses another table, and a function that is made for the same ones continues. Callers need the right
/// to execute the function, but no right on the table (`SQL SECURITY DEFINER`).
///
/// The person who installs the function vouches for the node: no other function, server or process may mint with it.
/// Replicas get the IDs as rows: `binlog_format` is `ROW` or `MIXED`. After a failover or a restored backup, only the
/// clock keeps new IDs above the old ones. Two servers that accept writes, as in a Galera cluster, need two nodes.
/// Random fields come from `RAND()`.
#[derive(Clone, Copy, Debug)]
pub struct MariadbFunction<'a> {
    layout: &'a Layout,
    schema: &'a str,
    name: &'a str,
    node: u32,
    options: Options,
}

const ENGINE: Engine = Engine::Mariadb;

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
    /// Returns the same function with other options. The option `seed` is ignored.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, layouts::SNOWMINT};
    /// let options = Options { max_wait_ms: 250, ..Options::DEFAULT };
    /// let function = SNOWMINT.mariadb_function("app", "next_id", 5.into())?.with_options(options);
    /// assert!(function.statements()[2].to_string().contains("IF waited_ms < 250 THEN"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[must_use]
    pub const fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Returns the statements, to be run in this order. Drivers run one statement at a time. The clients `mariadb` and
    /// `mysql` need another delimiter than the semicolon for the last statement.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// let function = SNOWMINT.mariadb_function("app", "next_id", 5.into())?;
    /// assert!(function.statements().map(|statement| statement.to_string())[2].ends_with("\nEND"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn statements(&self) -> [MariadbStatement<'a>; 3] {
        [Kind::Table, Kind::Drop, Kind::Create].map(|kind| MariadbStatement { function: *self, kind })
    }

    fn digest(&self) -> u64 {
        digest(self.layout, self.node)
    }

    /// Returns the number in the name of the lock, which is one for the whole server.
    fn lock(&self) -> u64 {
        let names = [self.schema, "\0", self.name];
        let bytes = names.iter().flat_map(|name| name.bytes());
        bytes.fold(self.digest(), |state, byte| random::mix(state, byte.into()))
    }

    fn suffix_bytes(&self) -> usize {
        // Two underscores, the node, eight digits.
        self.node.checked_ilog10().unwrap_or(0) as usize + 1 + 10
    }

    fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\
CREATE TABLE IF NOT EXISTS {} (taken BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB
COMMENT 'Always empty. Its counter is the last ID of node {} under {}: its tick, times {}, plus its sequence.'",
            Table(self),
            self.node,
            self.layout,
            self.layout.ids_per_tick()
        )
    }

    fn write_create(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, last) = (self.layout, Last::of(self.layout));
        write!(
            f,
            "\
CREATE FUNCTION {}.{}() RETURNS BIGINT UNSIGNED
NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Mints IDs of node {} under {layout}. No other generator may use this node. Its last tick is {}.'
",
            Quoted(ENGINE, self.schema),
            Quoted(ENGINE, self.name),
            self.node,
            Rfc3339(layout.tick_start_ms(last.tick)),
        )?;
        self.write_clock(f)?;
        self.write_place(f)?;
        self.write_end(f)
    }

    fn write_clock(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = self.layout;
        write!(
            f,
            "\
BEGIN
  -- A place is a tick << {width} | a sequence; this is the place of this call, once it has one.
  DECLARE place BIGINT;
  DECLARE below BIGINT;
  DECLARE zone VARCHAR(64);
  DECLARE now_ms BIGINT;
  DECLARE tick BIGINT;
  DECLARE reach BIGINT;
  DECLARE wait_ms BIGINT;
  DECLARE waited_ms BIGINT DEFAULT 0;
  DECLARE message VARCHAR(128);
  LOOP
    -- MariaDB takes the first comment as code, MySQL the second one. A session's time zone may have an hour twice.
    /*M! SET STATEMENT time_zone = '+00:00' FOR */
    SELECT /*+ SET_VAR(time_zone = '+00:00') */
        @@SESSION.time_zone, TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) DIV 1000
      INTO zone, now_ms;
    IF zone <> '+00:00' THEN
      SIGNAL SQLSTATE 'SN006' SET MESSAGE_TEXT = 'UNSAFE: the clock is not read in UTC: use MariaDB, or MySQL 8.0.17 or later';
    END IF;
    IF now_ms < {epoch} THEN
      SIGNAL SQLSTATE 'SN004' SET MESSAGE_TEXT = 'BEFORE_EPOCH: the clock reads a time before the layout''s epoch, {from}';
    END IF;
    SET tick = (now_ms - {epoch}) DIV {tick_ms};
    SET reach = (now_ms + {ahead_ms} - {epoch}) DIV {tick_ms};
",
            from = Rfc3339(layout.epoch_ms()),
            epoch = Number(layout.epoch_ms()),
            tick_ms = layout.tick_ms(),
            width = layout.sequence().width(),
            ahead_ms = self.options.max_ahead_ms.min(LONGEST_MS),
        )
    }

    /// Each row has one key and is deleted by it, so that no lock covers a gap where another session inserts.
    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = Last::of(self.layout);
        write!(
            f,
            "    \
    IF place IS NULL THEN
      INSERT INTO {table} VALUES (NULL);
      SET place = LAST_INSERT_ID();
      DELETE FROM {table} WHERE taken = place;
    END IF;
    IF place >> {width} < tick AND tick <= {last_tick} THEN
      -- A call that was killed may have left the lock to this session.
      WHILE IS_USED_LOCK('{lock}') = CONNECTION_ID() DO
        DO RELEASE_LOCK('{lock}');
      END WHILE;
      IF COALESCE(GET_LOCK('{lock}', {timeout_s}), 0) <> 1 THEN
        SIGNAL SQLSTATE 'SN007' SET MESSAGE_TEXT = 'LOCKED: another session is stopped inside of this function: end it';
      END IF;
      BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
          DO RELEASE_LOCK('{lock}');
          RESIGNAL;
        END;
        INSERT INTO {table} VALUES (NULL);
        SET place = LAST_INSERT_ID();
        DELETE FROM {table} WHERE taken = place;
        IF place >> {width} < tick THEN
          SET below = ((tick << {width}){start}) - 1;
          IF place < below THEN
            INSERT INTO {table} VALUES (below);
            DELETE FROM {table} WHERE taken = below;
          END IF;
          INSERT INTO {table} VALUES (NULL);
          SET place = LAST_INSERT_ID();
          DELETE FROM {table} WHERE taken = place;
        END IF;
        DO RELEASE_LOCK('{lock}');
      END;
    END IF;
    IF tick > {last_tick} OR place > {last_place} THEN
      SIGNAL SQLSTATE 'SN003' SET MESSAGE_TEXT = 'TIME_OVERFLOW: the last tick of this function was {until}';
    END IF;
    IF place >> {width} <= reach THEN
      RETURN ",
            table = Table(self),
            lock = Lock(self),
            timeout_s = self.options.max_wait_ms.min(LONGEST_MS).div_ceil(1000) + 1,
            width = self.layout.sequence().width(),
            start = Start(self),
            last_tick = last.tick,
            last_place = last.place(self.layout),
            until = Rfc3339(self.layout.tick_start_ms(last.tick)),
        )?;
        self.write_id(f)
    }

    fn write_end(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, options) = (self.layout, &self.options);
        let max_wait_ms = options.max_wait_ms.min(LONGEST_MS);
        write!(
            f,
            ";
    END IF;
    SET wait_ms = GREATEST(1, {epoch} + CAST(place >> {width} AS SIGNED) * {tick_ms} - now_ms - {ahead_ms});
    IF waited_ms < {max_wait_ms} THEN
      SET wait_ms = LEAST(wait_ms, {max_wait_ms} - waited_ms, 10);
      DO SLEEP(wait_ms / 1000);
      SET waited_ms = waited_ms + wait_ms;
    ELSEIF wait_ms > {stepped_ms} THEN
      SET message = CONCAT('CLOCK_BACKWARDS: the clock is ', wait_ms, ' ms behind the next ID');
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
            ahead_ms = options.max_ahead_ms.min(LONGEST_MS),
            stepped_ms = max_wait_ms + layout.tick_ms() + 1000,
        )
    }

    /// Writes the ID at a place. Numbers are below 2^64, and bits are unsigned in these engines.
    fn write_id(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, sequence, random) = (self.layout.time(), self.layout.sequence(), self.layout.random());
        write!(f, "{} | ((place >> {}) << {})", self.layout.put_node(self.node), sequence.width(), time.shift())?;
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

/// The name of the lock.
struct Lock<'a, 'b>(&'a MariadbFunction<'b>);

impl fmt::Display for Lock<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "snowmint_{:016x}", self.0.lock())
    }
}

/// A number that stands after a minus, so that a negative one needs parentheses.
struct Number(i64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

/// The start of the sequence in a new tick, unless it is 0. `place` is a free place of the tick before.
struct Start<'a, 'b>(&'a MariadbFunction<'b>);

impl fmt::Display for Start<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mask = self.0.layout.sequence().max();
        match self.0.options.sequence_start {
            SequenceStart::Zero => Ok(()),
            SequenceStart::Carry => write!(f, " | (place & {mask})"),
            SequenceStart::Random => write!(f, " | FLOOR(RAND() * {})", (mask >> 1) + 1),
        }
    }
}
