//! A `PostgreSQL` function that mints IDs.

use core::fmt;

use super::dialect::{Doubled, Engine, POSTGRES_NAME_BYTES, Quoted};
use super::tag::Tag;
use super::{Signed, check_name};
use snowmint_core::host::mix;
use snowmint_core::time::Rfc3339;
use snowmint_core::{Error, Integer, Layout, Options, SequenceStart};

/// A script for `PostgreSQL` 10 and later, tested on 15; see [`PostgresFunction::new`].
///
/// The function follows the rules of a [`Snowflake`](snowmint_core::Snowflake): the tick of an ID is `max(now, last)`, and one
/// more when the sequence is used up, at most `max_ahead_ms` ahead of the clock. Beyond that it waits up to
/// `max_wait_ms`, in steps of at most 10 ms, and then fails. It never wraps and never repeats an ID, on any number of
/// connections.
///
/// | SQLSTATE | message begins with | when |
/// | --- | --- | --- |
/// | `SN001` | `EXHAUSTED` | the IDs up to now are used up |
/// | `SN002` | `CLOCK_BACKWARDS` | the last ID lies more than `max_ahead_ms` ahead of the clock |
/// | `SN003` | `TIME_OVERFLOW` | the layout has ended |
/// | `SN004` | `BEFORE_EPOCH` | the clock reads a time before the layout's epoch |
/// | `55P03` | | another session, stopped inside the function, held the lock a second longer than `max_wait_ms` |
///
/// A sequence beside the function keeps the last tick and the last sequence number, as one number. The function reads
/// and sets it under an advisory lock, for some microseconds, not until the transaction ends. A sequence is not rolled
/// back. Its new value is on disk before the transaction that took the ID can commit: the function ensures this even if
/// `synchronous_commit` is off. As with every sequence, an ID may repeat if a crash ended its transaction before the
/// commit and the server is back within the same tick.
///
/// The name of the sequence has the function, the node and a digest of the layout. So a function that is replaced for
/// another node or layout uses another sequence, and a function that is replaced for the same ones continues. Roles
/// need the right to execute the function, but no right on the sequence (`SECURITY DEFINER`, with a fixed
/// `search_path`): a role that could set the sequence back could repeat IDs.
///
/// The person who installs the function vouches for the node: no other function, server or process may mint with it.
/// Standbys refuse to mint, since they are read-only. After a failover to an asynchronous standby, or a restored
/// backup, only the clock keeps new IDs above the old ones. Random fields come from the database's `random()`.
///
/// Places, `tick << sequence bits | sequence`, lie below 2^63 - 1: if time and sequence together have 63 or 64 bits,
/// the function ends before the layout does. The comment on the function says when it ends, and from when on IDs are
/// negative in a `bigint`.
#[derive(Clone, Copy, Debug)]
pub struct PostgresFunction<'a> {
    layout: &'a Layout,
    schema: &'a str,
    name: &'a str,
    node: u32,
    options: Options,
}

const ENGINE: Engine = Engine::Postgres;
/// The last place: the next free place is a `bigint` too.
const LAST_PLACE: u64 = (1 << 63) - 2;
/// The limit of times, so that no sum of times exceeds `bigint`.
pub(super) const MAX_MS: u64 = 1 << 53;
/// The largest time-out of `PostgreSQL`.
const MAX_TIMEOUT_MS: u64 = (1 << 31) - 1;

impl<'a> PostgresFunction<'a> {
    /// Makes a script for `PostgreSQL` that creates the function `schema.name()`, which mints the IDs of a node.
    ///
    /// Use it as the default of a column: `id bigint PRIMARY KEY DEFAULT schema.name()`.
    ///
    /// # Errors
    /// `InvalidNode`, if the layout has no such node; as [`Layout::refuse_unmintable`]. `InvalidText`, if a name is empty, has a NUL or is longer than
    /// `PostgreSQL`'s 63 bytes: `schema` itself, or `name` with up to 20 bytes that the name of the sequence adds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::PostgresFunction;
    /// let script = PostgresFunction::new(&SNOWMINT, "app", "next_id", 5.into())?.to_string();
    /// assert!(script.contains(r#"CREATE OR REPLACE FUNCTION "app"."next_id"() RETURNS bigint"#));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(layout: &'a Layout, schema: &'a str, name: &'a str, node: Integer) -> Result<Self, Error> {
        layout.refuse_unmintable()?;
        let node = layout.node(node)?;
        check_name(schema, POSTGRES_NAME_BYTES)?;
        let function = Self { layout, schema, name, node, options: Options::DEFAULT };
        check_name(name, POSTGRES_NAME_BYTES - function.suffix_bytes())?;
        Ok(function)
    }
}

impl PostgresFunction<'_> {
    /// Returns the same script with other options. The option `seed` is ignored.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, layouts::SNOWMINT};
    /// use snowmint_inspect::sql::PostgresFunction;
    /// let options = Options { max_wait_ms: 250, ..Options::DEFAULT };
    /// let script = PostgresFunction::new(&SNOWMINT, "app", "next_id", 5.into())?.with_options(options).to_string();
    /// assert!(script.contains("IF waited_ms < 250 THEN"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[must_use]
    pub const fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    fn digest(&self) -> u64 {
        digest(self.layout, self.node)
    }

    /// Returns the number of the advisory lock. The same function has the same number in every database.
    fn lock(&self) -> u64 {
        let names = [self.schema, "\0", self.name];
        let bytes = names.iter().flat_map(|name| name.bytes());
        bytes.fold(self.digest(), |state, byte| mix(state, byte.into())) >> 1
    }

    fn suffix_bytes(&self) -> usize {
        // Two underscores, the node, eight digits.
        self.node.checked_ilog10().unwrap_or(0) as usize + 1 + 10
    }

    const fn tag(&self) -> Tag<'_> {
        Tag { schema: self.schema, name: self.name }
    }
}

/// Returns a digest of the layout's numbers and the node.
pub(super) fn digest(layout: &Layout, node: u32) -> u64 {
    let mut digest = u64::from(node);
    layout.layout_id().each_word(|word| digest = mix(digest, word));
    digest
}

/// The last ID that a function mints.
pub(super) struct Last {
    pub(super) tick: u64,
    sequence: u64,
}

impl Last {
    pub(super) fn of(layout: &Layout) -> Self {
        let sequence = layout.sequence();
        let tick = layout.time().max().min(LAST_PLACE >> sequence.width());
        let most = LAST_PLACE - (tick << sequence.width());
        Self { tick, sequence: most.min(sequence.max()) }
    }

    /// Returns the place of the last ID.
    pub(super) const fn place(&self, layout: &Layout) -> u64 {
        (self.tick << layout.sequence().width()) | self.sequence
    }
}

/// The name of the sequence with its schema, in quotes.
struct Sequence<'a>(&'a PostgresFunction<'a>);

impl fmt::Display for Sequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0;
        let (schema, name) = (Quoted(ENGINE, function.schema), Doubled(ENGINE, function.name));
        write!(f, "{schema}.\"{name}_{}_{:08x}\"", function.node, function.digest() >> 32)
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
  'The last ID of node {node} under {layout}: its tick, times {}, plus its sequence. If it is set back, IDs repeat.';
",
            layout.ids_per_tick()
        )
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timeout_ms = self.options.max_wait_ms.saturating_add(1000).min(MAX_TIMEOUT_MS);
        write!(
            f,
            "
CREATE OR REPLACE FUNCTION {}.{}() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{timeout_ms}ms'
AS {tag}
",
            Quoted(ENGINE, self.schema),
            Quoted(ENGINE, self.name),
            tag = self.tag()
        )
    }

    /// The code that ends the block does not end in 000, because such a code would match its whole class.
    fn write_body(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, options, last) = (self.layout, &self.options, Last::of(self.layout));
        write!(
            f,
            "\
DECLARE
  state oid;
  -- A place is a tick << {width} | a sequence; this is the next free place.
  free bigint;
  place bigint;
  now_ms bigint;
  tick bigint;
  reach bigint;
  wait_ms bigint;
  waited_ms bigint := 0;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    -- Until this transaction ends: the IDs of a commit that a crash undoes would repeat.
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
      -- The lock ends with this block, not with the transaction; the sequence keeps its value.
      RAISE EXCEPTION USING ERRCODE = 'SN0OK';
    EXCEPTION WHEN SQLSTATE 'SN0OK' THEN
    END;
    IF place IS NOT NULL THEN
      RETURN ",
            lock = self.lock(),
            sequence = Sequence(self),
            from = Rfc3339(layout.epoch_ms()),
            epoch = layout.epoch_ms(),
            tick_ms = layout.tick_ms(),
            width = layout.sequence().width(),
            mask = layout.sequence().max(),
            ahead_ms = options.max_ahead_ms.min(MAX_MS),
            start = Start(self),
            last_tick = last.tick,
            last_place = last.place(layout),
            until = Rfc3339(layout.tick_start_ms(last.tick)),
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
            max_wait_ms = options.max_wait_ms.min(MAX_MS),
            width = layout.sequence().width(),
            epoch = layout.epoch_ms(),
            tick_ms = layout.tick_ms(),
            tag = self.tag(),
        )
    }

    /// Writes the ID at a place.
    fn write_id(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, sequence, random) = (self.layout.time(), self.layout.sequence(), self.layout.random());
        let node = Signed(self.layout.put_node(self.node) | self.layout.fixed());
        write!(f, "{node} | ((place >> {}) << {})", sequence.width(), time.shift())?;
        if sequence.width() > 0 {
            write!(f, " | ((place & {}) << {})", sequence.max(), sequence.shift())?;
        }
        // In parts of at most 32 bits: a double has 53 bits.
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
        let layout = self.layout;
        let last_ms = layout.tick_start_ms(Last::of(self.layout).tick);
        write!(
            f,
            "
COMMENT ON FUNCTION {}.{}() IS
  'Mints IDs of node {} under {layout}. No other generator may use this node. Its last tick is {}. ",
            Quoted(ENGINE, self.schema),
            Quoted(ENGINE, self.name),
            self.node,
            Rfc3339(last_ms)
        )?;
        match layout.signed_until_ms() {
            Some(_) if layout.time().mask() >> 63 == 0 => {
                f.write_str("Bit 63 is not a bit of the time, so any ID may be negative in a signed bigint.")?;
            }
            Some(from_ms) if from_ms <= last_ms => {
                write!(f, "From {} on IDs are negative in a signed bigint.", Rfc3339(from_ms))?;
            }
            _ => f.write_str("No ID is negative in a signed bigint.")?,
        }
        f.write_str("';\n")
    }
}

/// The start of the sequence in a new tick, unless it is 0. `free` is one past the last place.
struct Start<'a>(&'a PostgresFunction<'a>);

impl fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mask = self.0.layout.sequence().max();
        match self.0.options.sequence_start {
            SequenceStart::Carry => write!(f, " | (free & {mask})"),
            SequenceStart::Random => write!(f, " | floor(random() * {})::bigint", (mask >> 1) + 1),
            _ => Ok(()),
        }
    }
}
