//! Functions of `PostgreSQL` that mint IDs of 128 bits.

use core::fmt;

use super::check_name;
use super::dialect::{Doubled, Engine, POSTGRES_NAME_BYTES, Quoted};
use super::tag::Tag;
use snowmint_core::Error;
use snowmint_core::host::{What, mix};

/// A kind of 128-bit ID that a function of `PostgreSQL` mints.
///
/// | name | the function returns | its argument |
/// | --- | --- | --- |
/// | `uuid7` | a `uuid` of version 7 (RFC 9562) | |
/// | `ulid` | a `text`, 26 characters in upper case (`ulid/spec` on GitHub) | |
/// | `typeid` | a `text`, a `TypeID` of version 0.3 (`jetify-com/typeid` on GitHub) | the prefix, a `text` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wide {
    /// A UUID of version 7.
    Uuid7,
    /// A ULID.
    Ulid,
    /// A `TypeID`: a prefix and a UUID of version 7.
    TypeId,
}

impl Wide {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Uuid7, Self::Ulid, Self::TypeId];

    /// Returns the name of this kind in every language.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::sql::Wide;
    /// assert_eq!(Wide::ALL.map(Wide::name), ["uuid7", "ulid", "typeid"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uuid7 => "uuid7",
            Self::Ulid => "ulid",
            Self::TypeId => "typeid",
        }
    }

    /// Returns the kind with this name.
    ///
    /// # Errors
    /// `InvalidText`, if no kind has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::sql::Wide;
    /// assert_eq!(Wide::find("ulid"), Ok(Wide::Ulid));
    /// assert!(Wide::find("uuid4").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.name().as_bytes() == name.as_ref());
        found.ok_or(Error::plain(What::SqlWide))
    }

    /// Returns a script for `PostgreSQL` that creates the function `schema.name()`, which mints IDs of this kind.
    ///
    /// Use it as the default of a column: `id uuid PRIMARY KEY DEFAULT schema.name()`. See [`PostgresWideFunction`].
    ///
    /// # Errors
    /// `InvalidText`, if a name is empty, has a NUL or is longer than `PostgreSQL`'s 63 bytes: `schema` itself, or `name`
    /// with 5 bytes that the name of the sequence adds.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::sql::Wide;
    /// let script = Wide::Uuid7.postgres_function("app", "uuid7")?.to_string();
    /// assert!(script.contains(r#"CREATE OR REPLACE FUNCTION "app"."uuid7"() RETURNS uuid"#));
    /// let script = Wide::TypeId.postgres_function("app", "typeid")?.to_string();
    /// assert!(script.contains(r#"CREATE OR REPLACE FUNCTION "app"."typeid"(prefix text) RETURNS text"#));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn postgres_function<'a>(self, schema: &'a str, name: &'a str) -> Result<PostgresWideFunction<'a>, Error> {
        check_name(schema, POSTGRES_NAME_BYTES)?;
        check_name(name, POSTGRES_NAME_BYTES - SUFFIX.len())?;
        Ok(PostgresWideFunction { kind: self, schema, name })
    }
}

/// A script for `PostgreSQL` 13 and later, tested on 15 and 18; see [`Wide::postgres_function`].
///
/// It needs no extension, and no server of version 18, which has a function `uuidv7()`. IDs of one function strictly
/// increase over all connections, and under any clock: a step back of the clock changes nothing, and the time of IDs
/// runs ahead until the clock has caught up. The function never waits for the clock.
///
/// ```text
/// bit  127 ... 80   79 ... 76   75 ... 64      63 62  61 ... 0
///      Unix ms      0111        1/4096 ms      10     random     a UUID of version 7, the value of a TypeID
///
/// bit  127 ... 80   79 ... 68   67 ... 0
///      Unix ms      1/4096 ms   random                           a ULID
/// ```
///
/// The time has 12 bits more than ms, as method 3 of RFC 9562, section 6.2 allows. An ID is at least 1/4096 ms after the
/// one before. The function keeps that time in a sequence, as a [`PostgresFunction`](super::PostgresFunction) does: read
/// and set under an advisory lock that lasts some microseconds, and not rolled back.
///
/// Random bits come from `gen_random_uuid()`, a cryptographically strong source. They alone keep IDs apart if the
/// sequence is lost: 62 random bits of the same 1/4096 ms after a failover, a restored backup or a crash, or from
/// another database.
///
/// | SQLSTATE | message begins with | when |
/// | --- | --- | --- |
/// | `SN003` | `TIME_OVERFLOW` | the time exceeds 48 bits, in the year 10889 |
/// | `SN004` | `BEFORE_EPOCH` | the clock reads a time before 1970, and no ID was minted yet |
/// | `SN005` | `INVALID_TEXT` | the prefix of a `TypeID` is not valid, or `NULL` |
/// | `55P03` | | another session, stopped inside the function, held the lock for a second |
///
/// Roles need the right to execute the function, but no right on the sequence (`SECURITY DEFINER`, with a fixed
/// `search_path`). Standbys refuse to mint, since they are read-only.
#[derive(Clone, Copy, Debug)]
pub struct PostgresWideFunction<'a> {
    kind: Wide,
    schema: &'a str,
    name: &'a str,
}

const ENGINE: Engine = Engine::Postgres;
/// The end of the sequence's name.
const SUFFIX: &str = "_last";
/// The characters of Crockford's base 32.
const UPPER: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LOWER: &str = "0123456789abcdefghjkmnpqrstvwxyz";

/// The bits of an ID as three numbers, whose characters do not overlap.
const NUMBERS: &str = "  \
  high := ('x' || substr(digits, 1, 12))::bit(48)::bigint;
  middle := ('x' || substr(digits, 13, 10))::bit(40)::bigint;
  low := ('x' || substr(digits, 23, 10))::bit(40)::bigint;";

impl PostgresWideFunction<'_> {
    /// Returns the number of the advisory lock.
    fn lock(&self) -> u64 {
        let names = [self.schema, "\0", self.name, SUFFIX];
        let bytes = names.iter().flat_map(|name| name.bytes());
        bytes.fold(0, |state, byte| mix(state, byte.into())) >> 1
    }

    fn write_sequence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sequence = Sequence(self);
        write!(
            f,
            "\
CREATE SEQUENCE IF NOT EXISTS {sequence} AS bigint MINVALUE 0 START 0 NO CYCLE;
REVOKE ALL ON SEQUENCE {sequence} FROM PUBLIC;
COMMENT ON SEQUENCE {sequence} IS
  'The time of the last ID, in 1/4096 ms since 1970. If it is set back, new IDs may sort below older ones.';
"
        )
    }

    fn write_body(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (returns, argument) = match self.kind {
            Wide::Uuid7 => ("uuid", ""),
            Wide::Ulid => ("text", ""),
            Wide::TypeId => ("text", "prefix text"),
        };
        let tag = Tag { schema: self.schema, name: self.name };
        write!(
            f,
            "
CREATE OR REPLACE FUNCTION {schema}.{name}({argument}) RETURNS {returns}
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1000ms'
AS {tag}
DECLARE
  state oid;
  -- A place is a time in 1/4096 ms since 1970; this is the next free place.
  free bigint;
  place bigint;
  now_us bigint;
  -- 32 hexadecimal digits, of which the 13th and the 17th are not random.
  noise text := translate(gen_random_uuid()::text, '-', '');
  digits text;
{numbers}BEGIN
",
            schema = Quoted(ENGINE, self.schema),
            name = Quoted(ENGINE, self.name),
            numbers = if self.kind == Wide::Uuid7 { "" } else { "  high bigint;\n  middle bigint;\n  low bigint;\n" },
        )?;
        if self.kind == Wide::TypeId {
            f.write_str(
                "  \
  IF prefix IS NULL OR prefix COLLATE \"C\" !~ '^([a-z]([a-z_]{0,61}[a-z])?)?$' THEN
    RAISE EXCEPTION 'INVALID_TEXT: % is not a prefix: a prefix has at most 63 characters, a-z and _, and begins and ends with a letter',
      coalesce('\"' || left(prefix, 80) || '\"', 'NULL') USING ERRCODE = 'SN005';
  END IF;
",
            )?;
        }
        write!(
            f,
            "  \
  BEGIN
    PERFORM pg_advisory_xact_lock({lock});
    SELECT tableoid, last_value + is_called::int INTO STRICT state, free FROM {sequence};
    now_us := floor(extract(epoch FROM clock_timestamp()) * 1000000);
    IF now_us < 0 AND free = 0 THEN
      RAISE EXCEPTION 'BEFORE_EPOCH: the clock reads a time before 1970' USING ERRCODE = 'SN004';
    END IF;
    place := greatest(free, (now_us / 1000 << 12) | (now_us % 1000 * 4096 / 1000));
    IF place >> 60 > 0 THEN
      RAISE EXCEPTION 'TIME_OVERFLOW: the last ms of 48 bits was in the year 10889' USING ERRCODE = 'SN003';
    END IF;
    PERFORM setval(state, place);
    -- The lock ends with this block, not with the transaction; the sequence keeps its value.
    RAISE EXCEPTION USING ERRCODE = 'SN0OK';
  EXCEPTION WHEN SQLSTATE 'SN0OK' THEN
  END;
  digits := lpad(to_hex(place), 15, '0');
",
            lock = self.lock(),
            sequence = Sequence(self),
        )?;
        self.write_answer(f)?;
        write!(f, "END\n{tag};\n")
    }

    fn write_answer(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uuid = "substr(digits, 1, 12) || '7' || substr(digits, 13) || substr(noise, 17)";
        match self.kind {
            Wide::Uuid7 => writeln!(f, "  RETURN ({uuid})::uuid;"),
            Wide::Ulid => {
                writeln!(f, "  digits := digits || substr(noise, 1, 12) || substr(noise, 28);\n{NUMBERS}")?;
                f.write_str("  RETURN ")?;
                write_base32(f, UPPER)
            }
            Wide::TypeId => {
                writeln!(f, "  digits := {uuid};\n{NUMBERS}")?;
                f.write_str("  RETURN CASE WHEN prefix = '' THEN '' ELSE prefix || '_' END\n    || ")?;
                write_base32(f, LOWER)
            }
        }
    }

    fn write_comment(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, argument) = match self.kind {
            Wide::Uuid7 => ("UUIDs of version 7", ""),
            Wide::Ulid => ("ULIDs", ""),
            Wide::TypeId => ("TypeIDs with a prefix", "text"),
        };
        let (schema, name) = (Quoted(ENGINE, self.schema), Quoted(ENGINE, self.name));
        writeln!(
            f,
            "\nCOMMENT ON FUNCTION {schema}.{name}({argument}) IS 'Mints {what}, which increase over all connections.';"
        )
    }
}

/// Writes the 26 characters of the numbers `high` (48 bits), `middle` and `low` (40 bits each).
fn write_base32(f: &mut fmt::Formatter<'_>, alphabet: &str) -> fmt::Result {
    for (number, characters) in [("high", 10), ("middle", 8), ("low", 8)] {
        for character in (0..characters).rev() {
            if (number, character) != ("high", 9) {
                f.write_str("\n    || ")?;
            }
            write!(f, "substr('{alphabet}', 1 + (({number} >> {}) & 31)::int, 1)", 5 * character)?;
        }
    }
    f.write_str(";\n")
}

impl fmt::Display for PostgresWideFunction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_sequence(f)?;
        self.write_body(f)?;
        self.write_comment(f)
    }
}

/// The name of the sequence with its schema, in quotes.
struct Sequence<'a>(&'a PostgresWideFunction<'a>);

impl fmt::Display for Sequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0;
        write!(f, "{}.\"{}{SUFFIX}\"", Quoted(ENGINE, function.schema), Doubled(ENGINE, function.name))
    }
}
