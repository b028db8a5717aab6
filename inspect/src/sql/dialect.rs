//! Databases and their types of columns.

use core::fmt::{self, Write};

use snowmint_core::Error;
use snowmint_core::host::What;

/// The database, and the type of its ID column.
///
/// | name | column | IDs from 2^63 on are |
/// | --- | --- | --- |
/// | `postgres` | `bigint` | negative |
/// | `mariadb` | `BIGINT UNSIGNED` | positive |
/// | `mariadb_signed` | `BIGINT` | negative |
/// | `clickhouse` | `UInt64` | positive |
/// | `clickhouse_signed` | `Int64` | negative |
/// | `duckdb` | `BIGINT` | negative |
/// | `duckdb_unsigned` | `UBIGINT` | positive |
/// | `sqlite` | `INTEGER` | negative |
/// | `cockroach` | `INT8` of `CockroachDB` | negative |
/// | `tidb` | `BIGINT UNSIGNED` of `TiDB` | positive |
/// | `tidb_signed` | `BIGINT` of `TiDB` | negative |
///
/// Tests run the expressions in `PostgreSQL` 15 and 18, `MariaDB` 10.11, `ClickHouse` 26.9, `DuckDB` 2.0 and
/// `SQLite` 3. The expressions of `CockroachDB` and `TiDB` follow the documentation of these engines, and no test has
/// run them there. `MySQL` takes the expressions of `mariadb`, also according to its documentation only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `PostgreSQL`, with a `bigint`.
    Postgres,
    /// `MariaDB`, with a `BIGINT UNSIGNED`.
    Mariadb,
    /// `MariaDB`, with a `BIGINT`.
    MariadbSigned,
    /// `ClickHouse`, with a `UInt64`.
    Clickhouse,
    /// `ClickHouse`, with an `Int64`.
    ClickhouseSigned,
    /// `DuckDB`, with a `BIGINT`.
    Duckdb,
    /// `DuckDB`, with a `UBIGINT`.
    DuckdbUnsigned,
    /// `SQLite`, with an `INTEGER`.
    Sqlite,
    /// `CockroachDB`, with an `INT8`.
    Cockroach,
    /// `TiDB`, with a `BIGINT UNSIGNED`.
    Tidb,
    /// `TiDB`, with a `BIGINT`.
    TidbSigned,
}

/// The engine whose expressions a dialect uses: `TiDB` takes the expressions of `MariaDB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Postgres,
    Mariadb,
    Clickhouse,
    Duckdb,
    Sqlite,
    Cockroach,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 11] = [
        Self::Postgres,
        Self::Mariadb,
        Self::MariadbSigned,
        Self::Clickhouse,
        Self::ClickhouseSigned,
        Self::Duckdb,
        Self::DuckdbUnsigned,
        Self::Sqlite,
        Self::Cockroach,
        Self::Tidb,
        Self::TidbSigned,
    ];

    /// Returns the name of this dialect in every language.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::sql::Dialect;
    /// assert_eq!(Dialect::ALL.map(Dialect::name)[..3], ["postgres", "mariadb", "mariadb_signed"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mariadb => "mariadb",
            Self::MariadbSigned => "mariadb_signed",
            Self::Clickhouse => "clickhouse",
            Self::ClickhouseSigned => "clickhouse_signed",
            Self::Duckdb => "duckdb",
            Self::DuckdbUnsigned => "duckdb_unsigned",
            Self::Sqlite => "sqlite",
            Self::Cockroach => "cockroach",
            Self::Tidb => "tidb",
            Self::TidbSigned => "tidb_signed",
        }
    }

    /// Returns the dialect with this name.
    ///
    /// # Errors
    /// `InvalidText`, if no dialect has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::sql::Dialect;
    /// assert_eq!(Dialect::find("postgres"), Ok(Dialect::Postgres));
    /// assert!(Dialect::find("oracle").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name().as_bytes() == name.as_ref());
        found.ok_or(Error::plain(What::SqlDialect))
    }

    pub(super) const fn engine(self) -> Engine {
        match self {
            Self::Postgres => Engine::Postgres,
            Self::Mariadb | Self::MariadbSigned | Self::Tidb | Self::TidbSigned => Engine::Mariadb,
            Self::Clickhouse | Self::ClickhouseSigned => Engine::Clickhouse,
            Self::Duckdb | Self::DuckdbUnsigned => Engine::Duckdb,
            Self::Sqlite => Engine::Sqlite,
            Self::Cockroach => Engine::Cockroach,
        }
    }

    /// Returns whether the column holds IDs from 2^63 on as positive numbers.
    pub(super) const fn is_unsigned(self) -> bool {
        matches!(self, Self::Mariadb | Self::Clickhouse | Self::DuckdbUnsigned | Self::Tidb)
    }

    /// Returns the largest length of a name, in bytes. `PostgreSQL` cuts a longer name off, which could give two names
    /// the same start. For engines without such a limit the
    /// largest length is 128.
    pub(super) const fn name_bytes(self) -> usize {
        match self.engine() {
            Engine::Postgres => POSTGRES_NAME_BYTES,
            Engine::Mariadb => MARIADB_NAME_BYTES,
            Engine::Clickhouse | Engine::Duckdb | Engine::Sqlite | Engine::Cockroach => 128,
        }
    }
}

pub(super) const POSTGRES_NAME_BYTES: usize = 63;
pub(super) const MARIADB_NAME_BYTES: usize = 64;

impl Engine {
    /// Returns the quotes of a name. `SQLite` reads a name in double quotes that it does not know as a text.
    pub(super) const fn quote(self) -> char {
        match self {
            Self::Postgres | Self::Duckdb | Self::Cockroach => '"',
            Self::Mariadb | Self::Clickhouse | Self::Sqlite => '`',
        }
    }
}

/// A name in quotes. Quotes inside it are doubled, and so are backslashes in `ClickHouse`.
pub(super) struct Quoted<'a>(pub(super) Engine, pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(engine, name) = *self;
        f.write_char(engine.quote())?;
        Doubled(engine, name).fmt(f)?;
        f.write_char(engine.quote())
    }
}

/// A part of a name in quotes, without the quotes.
pub(super) struct Doubled<'a>(pub(super) Engine, pub(super) &'a str);

impl fmt::Display for Doubled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(engine, name) = *self;
        for char in name.chars() {
            if char == engine.quote() || (char == '\\' && engine == Engine::Clickhouse) {
                f.write_char(char)?;
            }
            f.write_char(char)?;
        }
        Ok(())
    }
}
