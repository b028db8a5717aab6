//! Flickr's tickets.

use async_trait::async_trait;
use sqlx::AssertSqlSafe;
use sqlx::mysql::MySqlConnection;

use super::schema::TICKETS_SCHEMA;
use super::{BEYOND, Mysql, Opening, is, settings};
use crate::engines::sql::{self, Failure, Identifier, Pool};
use crate::error::Error;
use crate::store::TicketServer;

/// "Failed to read auto-increment value from storage engine", "Out of range value": there is none left.
const NO_NEXT: [u16; 2] = [1467, 167];

/// What a server lets `auto_increment_increment` and `auto_increment_offset` be.
const MOST_SERVERS: u64 = 65_535;

/// A table of tickets of a `MariaDB` or `MySQL` database.
#[derive(Debug)]
pub struct Tickets {
    pool: Pool<Opening>,
    target: Target,
}

/// What a step has to know about it.
#[derive(Clone, Debug)]
struct Target {
    /// For sentences.
    source: String,
    table: Identifier,
    stub: String,
    increment: u64,
    offset: u64,
    allow_unsafe: bool,
    create: bool,
}

impl Tickets {
    pub(super) async fn open(
        store: &Mysql,
        table: &str,
        stub: &str,
        increment: u64,
        offset: u64,
    ) -> Result<Self, Error> {
        let pool = store.pool.clone();
        let table = Identifier::new(pool.name(), table)?;
        let source = format!("{}, table {table}", pool.name());
        if !(1..=increment).contains(&offset) || increment > MOST_SERVERS {
            let rule = "the offset of tickets is 1 to their increment, which is at most 65535";
            return Err(Error::unavailable(&source, format_args!("{rule}, not {offset} of {increment}")));
        }
        let (stub, allow_unsafe, create) = (stub.to_owned(), store.allow_unsafe, store.create);
        let target = Target { source, table, stub, increment, offset, allow_unsafe, create };
        pool.run(target.clone(), |connection, target| Box::pin(target.check(connection))).await?;
        Ok(Self { pool, target })
    }
}

impl Target {
    async fn check(&self, connection: &mut MySqlConnection) -> Result<(), Failure> {
        let mut engine = self.engine(&mut *connection).await?;
        if engine.is_none() {
            let table = self.table.as_str();
            if !self.create {
                return Err(sql::no_table(&self.source, table, "mysql").into());
            }
            // An identifier has no quotes in it.
            let statement = AssertSqlSafe(TICKETS_SCHEMA.replace("Tickets64", table));
            let made = sqlx::raw_sql(statement).execute(&mut *connection).await;
            made.map_err(|error| sql::not_made(&self.source, table, "mysql", &error))?;
            engine = self.engine(&mut *connection).await?;
        }
        let engine = engine.unwrap_or_default();
        if !settings::is_innodb(&engine) && !self.allow_unsafe {
            return Err(settings::not_innodb(&self.source, self.table.as_str(), &engine).into());
        }
        let query = sqlx::query_as(
            "SELECT CAST(column_name AS CHAR) FROM information_schema.columns \
             WHERE table_schema = DATABASE() AND table_name = ? AND extra LIKE '%auto_increment%'",
        );
        let rows: Vec<(String,)> = query.bind(self.table.as_str()).fetch_all(connection).await?;
        if rows.is_empty() {
            return Err(Error::unavailable(&self.source, "it has no AUTO_INCREMENT column").into());
        }
        Ok(())
    }

    /// The storage engine of the table, if it is there.
    async fn engine(&self, connection: &mut MySqlConnection) -> Result<Option<String>, Failure> {
        let query = sqlx::query_as(
            "SELECT CAST(COALESCE(engine, 'none') AS CHAR) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = ?",
        );
        let rows: Vec<(String,)> = query.bind(self.table.as_str()).fetch_all(connection).await?;
        Ok(rows.into_iter().next().map(|(engine,)| engine))
    }

    async fn take(&self, connection: &mut MySqlConnection) -> Result<u64, Failure> {
        // Every time, as tickets of other servers may be taken on the same connection.
        let query = sqlx::query("SET SESSION auto_increment_increment = ?, auto_increment_offset = ?");
        query.bind(self.increment).bind(self.offset).execute(&mut *connection).await?;
        let statement = format!("REPLACE INTO `{}` (stub) VALUES (?)", self.table);
        let done = sqlx::query(AssertSqlSafe(statement)).bind(&self.stub).execute(connection).await;
        match done {
            Ok(done) => Ok(done.last_insert_id()),
            Err(error) if is(&error, &NO_NEXT) || is(&error, &BEYOND) => Err(sql::run_out(&self.source).into()),
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait]
impl TicketServer for Tickets {
    fn name(&self) -> &str {
        &self.target.source
    }

    async fn take(&self) -> Result<u64, Error> {
        self.pool.run(self.target.clone(), |connection, target| Box::pin(target.take(connection))).await
    }
}
