//! SQL expressions that decode an ID.

use core::fmt;

use super::check_name;
use super::dialect::{Engine, Quoted};
use super::{Dialect, Signed};
use snowmint_core::host::What;
use snowmint_core::{Error, Field, Layout, Name};

/// A column of IDs; see [`Column::new`].
///
/// | method | value |
/// | --- | --- |
/// | [`timestamp`](Self::timestamp) | the first instant of the ID's tick, as the second table says |
/// | [`timestamp_ms`](Self::timestamp_ms) | the same as Unix ms, a signed number of 64 bits |
/// | [`tick`](Self::tick) | ticks since the epoch |
/// | [`node`](Self::node) | all node fields, concatenated high to low |
/// | [`sequence`](Self::sequence), [`random`](Self::random) | the field, or 0 |
/// | [`fields`](Self::fields) | every field but `unused` |
/// | [`between`](Self::between) | the predicate for a range of time |
///
/// | database | the instant is | beyond its range |
/// | --- | --- | --- |
/// | `PostgreSQL` | a `timestamptz` | an error in the year 294277 |
/// | `CockroachDB` | a `timestamptz` | as its documentation says |
/// | `MariaDB`, `TiDB` | a `DATETIME(6)` in UTC | `NULL` from the year 10000 on |
/// | `ClickHouse` | a `Nullable(DateTime64(3, 'UTC'))` | `NULL` before 1900 and from 2300 on |
/// | `DuckDB` | a `TIMESTAMP` in UTC | an error in the year 294247 |
/// | `SQLite` | a text in UTC, `2026-03-01T00:00:00.123Z` | `NULL` from the year 10000 on |
///
/// The values equal the values of [`Layout::decode`]. But IDs that the layout cannot have minted are not refused.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    layout: &'a Layout,
    dialect: Dialect,
    name: &'a str,
}

/// The text of an expression, in parentheses if operators beside it need them.
#[derive(Clone, Copy, Debug)]
pub struct Expression<'a> {
    column: Column<'a>,
    part: Part,
}

/// The time, Unix ms, up to which `PostgreSQL` multiplies ms exactly: it holds microseconds in a floating-point number.
const MAX_EXACT_MS: i64 = (1 << 53) / 1000;

#[derive(Clone, Copy, Debug)]
enum Part {
    Timestamp,
    TimestampMs,
    Node,
    Field(Field),
}

impl<'a> Column<'a> {
    /// Makes expressions that decode the IDs of a column.
    ///
    /// `name` is the name of a column without quotes; the expressions quote it. It can follow the names of its table and schema,
    /// separated by dots: `id`, `orders.id`, `shop.orders.id`.
    ///
    /// # Errors
    /// `InvalidText`, if a name is empty, too long or has a NUL.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&TWITTER, Dialect::Postgres, "orders.id")?;
    /// assert_eq!(id.node().to_string(), r#"(("orders"."id" >> 12) & 1023)"#);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(layout: &'a Layout, dialect: Dialect, name: &'a str) -> Result<Self, Error> {
        if layout.has_fine_ticks() {
            return Err(Error::plain(What::SqlTicks));
        }
        name.split('.').try_for_each(|part| check_name(part, dialect.name_bytes()))?;
        Ok(Self { layout, dialect, name })
    }

    const fn part(&self, part: Part) -> Expression<'a> {
        Expression { column: *self, part }
    }

    /// Returns the first instant of the ID's tick, as the database's type of instants.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&SNOWMINT, Dialect::Postgres, "id")?;
    /// let ms = r#"((("id" >> 22) & 2199023255551) + 1735689600000)"#;
    /// let timestamp = format!("(TIMESTAMPTZ 'epoch' + {ms} * INTERVAL '1 millisecond')");
    /// assert_eq!(id.timestamp().to_string(), timestamp);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp(&self) -> Expression<'a> {
        self.part(Part::Timestamp)
    }

    /// Returns the first instant of the ID's tick, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&SNOWMINT, Dialect::Postgres, "id")?;
    /// assert_eq!(id.timestamp_ms().to_string(), r#"((("id" >> 22) & 2199023255551) + 1735689600000)"#);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp_ms(&self) -> Expression<'a> {
        self.part(Part::TimestampMs)
    }

    /// Returns the value of the time field.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&SNOWMINT, Dialect::Mariadb, "id")?;
    /// assert_eq!(id.tick().to_string(), "((`id` >> 22) & 2199023255551)");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn tick(&self) -> Expression<'a> {
        self.part(Part::Field(self.layout.time()))
    }

    /// Returns all node fields, concatenated high to low.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&SNOWMINT, Dialect::Postgres, "id")?;
    /// assert_eq!(id.node().to_string(), r#"(("id" >> 12) & 1023)"#);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn node(&self) -> Expression<'a> {
        self.part(Part::Node)
    }

    /// Returns the counter within the tick; 0 if the layout has no sequence.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&SNOWMINT, Dialect::Postgres, "id")?;
    /// assert_eq!((id.sequence().to_string(), id.random().to_string()), (r#"("id" & 4095)"#.into(), "0".into()));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn sequence(&self) -> Expression<'a> {
        self.part(Part::Field(self.layout.sequence()))
    }

    /// Returns the random bits; 0 if the layout has no random field.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Layout;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let layout = Layout::parse("time:41,random:22;epoch=0")?;
    /// assert_eq!(Column::new(&layout, Dialect::Postgres, "id")?.random().to_string(), r#"("id" & 4194303)"#);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn random(&self) -> Expression<'a> {
        self.part(Part::Field(self.layout.random()))
    }

    /// Returns each field except `unused`, high to low.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&TWITTER, Dialect::Postgres, "id")?;
    /// let (name, worker) = id.fields().nth(2).expect("four fields without `unused`");
    /// assert_eq!((name.as_str(), worker.to_string()), ("worker", r#"(("id" >> 12) & 31)"#.into()));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = (&'a Name, Expression<'a>)> {
        let unused = usize::from(self.layout.unused().width() > 0);
        self.layout.fields().skip(unused).map(|(name, field)| (name, self.part(Part::Field(field))))
    }

    /// Returns the predicate whether an ID lies between two instants (Unix ms), both included. It compares the column
    /// with numbers, so an index on the column is used.
    ///
    /// # Errors
    /// As [`Layout::id_range`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::sql::{Column, Dialect};
    /// let id = Column::new(&SNOWMINT, Dialect::Postgres, "id")?;
    /// let march = id.between(1_772_323_200_000, 1_775_001_599_999)?; // 2026-03, UTC
    /// let range = SNOWMINT.id_range(1_772_323_200_000, 1_775_001_599_999)?;
    /// assert_eq!(march.to_string(), format!(r#"("id" BETWEEN {} AND {})"#, range.start(), range.end()));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn between(&self, from_ms: i64, to_ms: i64) -> Result<Between<'a>, Error> {
        let (from, to) = self.layout.id_range(from_ms, to_ms)?.into_inner();
        Ok(Between { column: *self, from, to })
    }
}

impl fmt::Display for Column<'_> {
    /// Writes the name in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.name.split('.').enumerate() {
            f.write_str(if i > 0 { "." } else { "" })?;
            Quoted(self.dialect.engine(), name).fmt(f)?;
        }
        Ok(())
    }
}

impl Expression<'_> {
    /// Writes the field's bits. A shift fills in the sign of a signed column, or zeros; the mask removes both.
    /// `ClickHouse` has functions where other engines have operators.
    fn field(&self, f: &mut fmt::Formatter<'_>, field: Field) -> fmt::Result {
        let (column, mask) = (&self.column, field.max());
        match (field.shift(), column.dialect.engine()) {
            _ if field.width() == 0 => f.write_str("0"),
            (0, Engine::Clickhouse) => write!(f, "bitAnd({column}, {mask})"),
            (shift, Engine::Clickhouse) => write!(f, "bitAnd(bitShiftRight({column}, {shift}), {mask})"),
            (0, _) => write!(f, "({column} & {mask})"),
            (shift, _) => write!(f, "(({column} >> {shift}) & {mask})"),
        }
    }

    fn node(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Column { layout, dialect, .. } = &self.column;
        // Adjacent node fields are one field, as in nearly every layout.
        let mask = layout.put_node(u32::MAX);
        let whole = Field::of_mask(mask);
        if whole.mask() == mask {
            return self.field(f, whole);
        }
        let mut below = layout.nodes().trailing_zeros();
        let mut between = "(";
        for (_, field) in layout.fields().filter(|(_, field)| field.mask() & mask != 0) {
            below -= field.width();
            f.write_str(between)?;
            // No two fields have a bit in common, so their sum is their union.
            between = " + ";
            let clickhouse = dialect.engine() == Engine::Clickhouse;
            f.write_str(if clickhouse { "bitShiftLeft(" } else { "(" })?;
            self.field(f, field)?;
            write!(f, "{} {below})", if clickhouse { "," } else { " <<" })?;
        }
        f.write_str(")")
    }

    fn timestamp_ms(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Column { layout, dialect, .. } = &self.column;
        // As an unsigned number, most engines would refuse an instant before 1970.
        let (before, after) = match dialect.engine() {
            Engine::Mariadb => ("(CAST(", " AS SIGNED)"),
            Engine::Duckdb if dialect.is_unsigned() => ("(CAST(", " AS BIGINT)"),
            Engine::Clickhouse => ("(toInt64(", ")"),
            _ => ("(", ""),
        };
        f.write_str(before)?;
        self.field(f, layout.time())?;
        f.write_str(after)?;
        if layout.tick_ms() > 1 {
            write!(f, " * {}", layout.tick_ms())?;
        }
        let sign = if layout.epoch_ms() < 0 { '-' } else { '+' };
        write!(f, " {sign} {})", layout.epoch_ms().unsigned_abs())
    }

    /// Adds ms or microseconds to 1970 where other functions use floating point or end in 2038.
    fn timestamp(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut around = |before: &str, after: &str| {
            f.write_str(before)?;
            self.timestamp_ms(f)?;
            f.write_str(after)
        };
        match self.column.dialect.engine() {
            Engine::Postgres if self.column.layout.ends_at_ms() < MAX_EXACT_MS => {
                around("(TIMESTAMPTZ 'epoch' + ", " * INTERVAL '1 millisecond')")
            }
            Engine::Postgres => {
                around("(TIMESTAMPTZ 'epoch' + ", " / 3600000 * INTERVAL '1 hour'")?;
                around(" + ", " % 3600000 * INTERVAL '1 millisecond')")
            }
            Engine::Mariadb => around("(TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ", " * 1000 MICROSECOND)"),
            Engine::Duckdb => around("epoch_ms(", ")"),
            Engine::Sqlite => around("strftime('%Y-%m-%dT%H:%M:%fZ', ", " / 1000.0, 'unixepoch')"),
            Engine::Clickhouse => {
                // Beyond these years the engine would show other times.
                around("if(", "")?;
                around(" BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(", ", 'UTC'), NULL)")
            }
            Engine::Cockroach => {
                // Whole days, because the ns of an interval exceed 64 bits in 2262.
                around("((TIMESTAMP '1970-01-01 00:00:00' + ", " // 86400000 * INTERVAL '1 day'")?;
                around(" + ", " % 86400000 * INTERVAL '1 millisecond') AT TIME ZONE 'UTC')")
            }
        }
    }
}

impl fmt::Display for Expression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::Timestamp => self.timestamp(f),
            Part::TimestampMs => self.timestamp_ms(f),
            Part::Node => self.node(f),
            Part::Field(field) => self.field(f, field),
        }
    }
}

/// The text of a predicate; see [`Column::between`].
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    column: Column<'a>,
    from: u64,
    to: u64,
}

impl fmt::Display for Between<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, from, to } = self;
        if column.dialect.is_unsigned() {
            return write!(f, "({column} BETWEEN {from} AND {to})");
        }
        let (low, high) = (Signed(*from), Signed(*to));
        if low.0 >> 63 < high.0 >> 63 {
            // The range goes up to the largest signed number, and continues at the smallest.
            write!(f, "({column} >= {low} OR {column} <= {high})")
        } else {
            write!(f, "({column} BETWEEN {low} AND {high})")
        }
    }
}
