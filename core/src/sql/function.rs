//! IDs minted in `PostgreSQL`.

use core::fmt;

use super::{Dialect, POSTGRES_NAME_BYTES, Quoted, Signed, check_name};
use crate::error::Error;
use crate::generator::{Options, SequenceStart};
use crate::int::Integer;
use crate::layout::Layout;
use crate::{random, time};

impl Layout {
    /// A script for `PostgreSQL` that creates the function `schema.name()`, which mints the IDs of a node.
    ///
    /// Made to be the default of a column: `id bigint PRIMARY KEY DEFAULT schema.name()`. See [`PostgresFunction`].
    ///
    /// # Errors
    /// `InvalidNode`, if the layout has no such node. `InvalidText`, if a name is empty, has a NUL or is longer than
    /// `PostgreSQL`'s 63 bytes: `schema` itself, or `name` together with up to 20 bytes that make it the name of the
    /// sequence.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// let script = SNOWMINT.postgres_function("app", "next_id", 5.into())?.to_string();
    /// assert!(script.contains(r#"CREATE OR REPLACE FUNCTION "app"."next_id"() RETURNS bigint"#));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn postgres_function<'a>(
        &'a self,
        schema: &'a str,
        name: &'a str,
        node: Integer,
    ) -> Result<PostgresFunction<'a>, Error> {
        let node = self.node(node)?;
        check_name(schema, POSTGRES_NAME_BYTES)?;
        let function = PostgresFunction { layout: self, schema, name, node, options: Options::DEFAULT };
        check_name(name, POSTGRES_NAME_BYTES - function.suffix_bytes())?;
        Ok(function)
    }
}

/// The text of a script for `PostgreSQL` 10 and later, tested on 15; see [`Layout::postgres_function`].
///
/// The function follows the rules of a [`Snowflake`](crate::Snowflake): the tick of an ID is `max(now, last)`, and one
/// more when the sequence is used up, at most `max_ahead_ms` ahead of the clock. Beyond that it waits up to
/// `max_wait_ms`, in steps of at most 10 ms, and then fails. It never wraps and never repeats an ID, whatever the
/// number of connections.
///
/// | SQLSTATE | message begins with | when |
/// | --- | --- | --- |
/// | `SN001` | `EXHAUSTED` | the IDs up to now are used up |
/// | `SN002` | `CLOCK_BACKWARDS` | the last ID lies more than `max_ahead_ms` ahead of the clock |
/// | `SN003` | `TIME_OVERFLOW` | the layout has ended |
/// | `SN004` | `BEFORE_EPOCH` | the clock reads a time before the layout's epoch |
/// | `55P03` | | another session held the lock for a second longer than `max_wait_ms`: it was stopped there |
///
/// The last tick and sequence are one number, the last value of a sequence beside the function, read and set under an
/// advisory lock that lasts some microseconds, not until the transaction ends. A sequence is not rolled back, and what
/// is set is on disk before the transaction that took the ID can be committed: the function sees to that where
/// `synchronous_commit` is off. As with every sequence, an ID that was seen in a transaction that a crash ended before
/// its commit may come again, if the server is back within the same tick.
///
/// The sequence is named after the function, the node and a digest of the layout, so that the same function made again
/// for another node or layout never reads a number as what it is not; made again for the same it goes on. Roles
/// need the right to execute the function, and none on the sequence (`SECURITY DEFINER`, with a fixed `search_path`):
/// who could set the sequence back could have IDs repeated.
///
/// The node is vouched for by who installs it: no other function, server or process mints with it. Standbys refuse
/// (they are read-only). After a failover to an asynchronous standby, or a restored backup, the clock is what keeps new
/// IDs above the old ones. Random fields come from the database's `random()`.
///
/// Places, `tick << sequence bits | sequence`, lie below 2^63 - 1: where time and sequence together have 63 or 64
/// bits, the function ends before the layout does. The comment on it tells when, and from when on IDs are negative in
/// a `bigint`.
#[derive(Clone, Copy, Debug)]
pub struct PostgresFunction<'a> {
    layout: &'a Layout,
    schema: &'a str,
    name: &'a str,
    node: u32,
    options: Options,
}

/// The last place: the next free one is a `bigint` too.
const LAST_PLACE: u64 = (1 << 63) - 2;
/// So that no sum of times leaves `bigint`.
const LONGEST_MS: u64 = 1 << 53;
/// What `PostgreSQL` takes as a time-out.
const LONGEST_TIMEOUT_MS: u64 = (1 << 31) - 1;

impl PostgresFunction<'_> {
    /// The same with other options; `seed` means nothing here.
    #[must_use]
    pub const fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// A number that is another for nearly every other state: the layout's numbers and the node.
    fn digest(&self) -> u64 {
        self.layout.numbers().to_words().into_iter().fold(u64::from(self.node), random::mix)
    }

    /// The number of the advisory lock, the same wherever the same function is made.
    fn lock(&self) -> u64 {
        let names = [self.schema, "\0", self.name];
        let bytes = names.iter().flat_map(|name| name.bytes());
        bytes.fold(self.digest(), |state, byte| random::mix(state, byte.into())) >> 1
    }

    fn suffix_bytes(&self) -> usize {
        // Two underscores, the node, eight digits.
        self.node.checked_ilog10().unwrap_or(0) as usize + 1 + 10
    }

    fn last(&self) -> Last {
        let sequence = self.layout.sequence();
        let tick = self.layout.time().max().min(LAST_PLACE >> sequence.width());
        let most = LAST_PLACE - (tick << sequence.width());
        Last { tick, sequence: most.min(sequence.max()) }
    }
}

/// The last ID that the function mints.
struct Last {
    tick: u64,
    sequence: u64,
}

/// The name of the sequence, in quotes with that of its schema.
struct Sequence<'a>(&'a PostgresFunction<'a>);

impl fmt::Display for Sequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0;
        let quote = Dialect::Postgres.quote();
        Quoted(quote, function.schema).fmt(f)?;
        f.write_str(".\"")?;
        // Doubled as in `Quoted`, and without its end.
        for (i, part) in function.name.split(quote).enumerate() {
            f.write_str(if i > 0 { "\"\"" } else { "" })?;
            f.write_str(part)?;
        }
        write!(f, "_{}_{:08x}\"", function.node, function.digest() >> 32)
    }
}

/// The dollar quotes of the body: `$snowmint0$`, or the first number that no name in the body has.
struct Tag<'a>(&'a PostgresFunction<'a>);

impl fmt::Display for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0;
        let is_in = |name: &str, number: u32| {
            name.split("$snowmint").skip(1).any(|rest| {
                let digits = rest.split(|char: char| !char.is_ascii_digit()).next();
                digits.is_some_and(|digits| digits.parse() == Ok(number))
            })
        };
        // Names as short as these have room for twelve of them.
        let free = (0..16).find(|number| !is_in(function.schema, *number) && !is_in(function.name, *number));
        write!(f, "$snowmint{}$", free.unwrap_or_default())
    }
}

/// An instant as RFC 3339.
struct Instant(i64);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        time::write_rfc3339(f, self.0)
    }
}

impl fmt::Display for PostgresFunction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_sequence(f)?;
        self.write_head(f)?;
        self.write_body(f)?;
        self.write_comment(f)
    }
}

impl PostgresFunction<'_> {
    fn write_sequence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { layout, node, .. }, sequence) = (self, Sequence(self));
        write!(
            f,
            "\
CREATE SEQUENCE IF NOT EXISTS {sequence} AS bigint MINVALUE 0 START 0 NO CYCLE;
REVOKE ALL ON SEQUENCE {sequence} FROM PUBLIC;
COMMENT ON SEQUENCE {sequence} IS
  'The last ID of node {node} under {layout}: its tick, times {}, plus its sequence. Setting it back has IDs repeated.';
",
            layout.ids_per_tick()
        )
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = Dialect::Postgres.quote();
        let timeout_ms = self.options.max_wait_ms.saturating_add(1000).min(LONGEST_TIMEOUT_MS);
        write!(
            f,
            "
CREATE OR REPLACE FUNCTION {}.{}() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{timeout_ms}ms'
AS {tag}
",
            Quoted(quote, self.schema),
            Quoted(quote, self.name),
            tag = Tag(self)
        )
    }

    /// A code that ends in 000 would stand for its whole class, so the one that ends the block does not.
    fn write_body(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, options, last) = (self.layout, &self.options, self.last());
        write!(
            f,
            "\
DECLARE
  state oid;
  -- A place is a tick << {width} | a sequence; this is the next free one.
  free bigint;
  place bigint;
  now_ms bigint;
  tick bigint;
  reach bigint;
  wait_ms bigint;
  waited_ms bigint := 0;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    -- Until this transaction ends: a commit that a crash could undo would have its IDs repeated.
    PERFORM set_config('synchronous_commit', 'local', true);
  END IF;
  LOOP
    BEGIN
      PERFORM pg_advisory_xact_lock({lock});
      SELECT tableoid, last_value + is_called::int INTO STRICT state, free FROM {sequence};
      now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000);
      IF now_ms < {epoch} AND free = 0 THEN
        RAISE EXCEPTION 'BEFORE_EPOCH: the clock reads a time before the layout''s epoch, {from}' USING ERRCODE = 'SN004';
      END IF;
      reach := now_ms + {ahead_ms};
      reach := CASE WHEN reach < {epoch} THEN -1 ELSE (reach - {epoch}) / {tick_ms} END;
      tick := greatest(free >> {width}, CASE WHEN now_ms < {epoch} THEN 0 ELSE (now_ms - {epoch}) / {tick_ms} END);
      place := free;
      IF tick > free >> {width} OR free & {mask} = 0 THEN
        place := (tick << {width}){start};
      END IF;
      IF tick > {last_tick} OR place > {last_place} THEN
        RAISE EXCEPTION 'TIME_OVERFLOW: the last tick of this function was {until}' USING ERRCODE = 'SN003';
      END IF;
      IF tick <= reach THEN
        PERFORM setval(state, place);
      ELSE
        place := NULL;
        wait_ms := greatest(1, {epoch} + tick * {tick_ms} - now_ms - {ahead_ms});
      END IF;
      -- The lock ends with this block, not with the transaction; what was set stays.
      RAISE EXCEPTION USING ERRCODE = 'SN0OK';
    EXCEPTION WHEN SQLSTATE 'SN0OK' THEN
    END;
    IF place IS NOT NULL THEN
      RETURN ",
            lock = self.lock(),
            sequence = Sequence(self),
            from = Instant(layout.epoch_ms()),
            epoch = layout.epoch_ms(),
            tick_ms = layout.tick_ms(),
            width = layout.sequence().width(),
            mask = layout.sequence().max(),
            ahead_ms = options.max_ahead_ms.min(LONGEST_MS),
            start = Start(self),
            last_tick = last.tick,
            last_place = (last.tick << layout.sequence().width()) | last.sequence,
            until = Instant(layout.tick_start_ms(last.tick)),
        )?;
        self.write_id(f)?;
        write!(
            f,
            ";
    END IF;
    IF waited_ms < {max_wait_ms} THEN
      wait_ms := least(wait_ms, {max_wait_ms} - waited_ms, 10);
      PERFORM pg_sleep(wait_ms / 1000.0);
      waited_ms := waited_ms + wait_ms;
    ELSIF (free - 1) >> {width} > reach THEN
      RAISE EXCEPTION 'CLOCK_BACKWARDS: the clock is % ms behind the last ID',
        {epoch} + ((free - 1) >> {width}) * {tick_ms} - now_ms USING ERRCODE = 'SN002';
    ELSE
      RAISE EXCEPTION 'EXHAUSTED: no ID is free now: retry in % ms', wait_ms USING ERRCODE = 'SN001';
    END IF;
  END LOOP;
END
{tag};
",
            max_wait_ms = options.max_wait_ms.min(LONGEST_MS),
            width = layout.sequence().width(),
            epoch = layout.epoch_ms(),
            tick_ms = layout.tick_ms(),
            tag = Tag(self),
        )
    }

    /// The ID at a place.
    fn write_id(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, sequence, random) = (self.layout.time(), self.layout.sequence(), self.layout.random());
        let node = Signed(self.layout.put_node(self.node));
        write!(f, "{node} | ((place >> {}) << {})", sequence.width(), time.shift())?;
        if sequence.width() > 0 {
            write!(f, " | ((place & {}) << {})", sequence.max(), sequence.shift())?;
        }
        // Of 32 bits at most: a double has 53.
        let low = random.width().min(32);
        if low > 0 {
            write!(f, " | (floor(random() * {})::bigint << {})", 1u64 << low, random.shift())?;
        }
        if low < random.width() {
            let high = 1u64 << (random.width() - low);
            write!(f, " | (floor(random() * {high})::bigint << {})", random.shift() + low)?;
        }
        Ok(())
    }

    fn write_comment(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, quote) = (self.layout, Dialect::Postgres.quote());
        let last_ms = layout.tick_start_ms(self.last().tick);
        write!(
            f,
            "
COMMENT ON FUNCTION {}.{}() IS
  'Mints IDs of node {} under {layout}, which nothing else may mint with. Its last tick is {}. ",
            Quoted(quote, self.schema),
            Quoted(quote, self.name),
            self.node,
            Instant(last_ms)
        )?;
        match layout.signed_until_ms() {
            Some(_) if layout.time().mask() >> 63 == 0 => {
                f.write_str("As bit 63 is not of the time, any of them may be negative in this signed bigint.")?;
            }
            Some(from_ms) if from_ms <= last_ms => {
                write!(f, "From {} on they are negative in this signed bigint.", Instant(from_ms))?;
            }
            _ => f.write_str("None of them is negative in this signed bigint.")?,
        }
        f.write_str("';\n")
    }
}

/// What a new tick begins with, beside 0; `free` is one past the last place.
struct Start<'a>(&'a PostgresFunction<'a>);

impl fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mask = self.0.layout.sequence().max();
        match self.0.options.sequence_start {
            SequenceStart::Zero => Ok(()),
            SequenceStart::Carry => write!(f, " | (free & {mask})"),
            SequenceStart::Random => write!(f, " | floor(random() * {})::bigint", (mask >> 1) + 1),
        }
    }
}
