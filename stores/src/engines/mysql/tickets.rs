//! Flickr's tables of tickets.

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::durability::Denial;
use sqlx::AssertSqlSafe;
use sqlx::mysql::MySqlConnection;

use super::dialect::{MyDialect, has_number};
use super::{Mysql, TICKETS_SCHEMA, settings};
use crate::engines::sql::dialect::{Failure, denial};
use crate::engines::sql::identifier::Identifier;
use crate::engines::sql::pool::Pool;
use crate::engines::sql::schema::{no_table, not_made};
use crate::error::Error;
use crate::store::TicketServer;

/// "Failed to read auto-increment value from storage engine", "Out of range value": no number is left.
const NO_NUMBER_LEFT: [u16; 2] = [1467, 167];

/// The highest value of `auto_increment_increment` and `auto_increment_offset`.
const MAX_SERVERS: u64 = 65_535;

/// A table of tickets of a `MariaDB` or `MySQL` database.
///
/// # Examples
/// ```no_run
/// use std::sync::Arc;
/// use snowmint_core::ticket::Form;
/// use snowmint_stores::mysql::Mysql;
/// use snowmint_stores::{Tickets, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Mysql::connect(&Url::parse("mysql://me:secret@db/app")?).await?;
/// let server = store.tickets("Tickets64", "a", 1, 1).await?;
/// let photos = Tickets::new(vec![Arc::new(server)], Form::Ticket, &[1], 1)?;
/// println!("{}", photos.next().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tickets {
    pool: Pool<MyDialect>,
    target: Target,
}

/// The table that a step works on.
#[derive(Clone, Debug)]
struct Target {
    /// The database and the table, for messages.
    source: String,
    table: Identifier,
    stub: String,
    increment: u64,
    offset: u64,
    allow_unsafe: bool,
    create: bool,
}

impl Mysql {
    /// Opens Flickr's table of tickets, `Tickets64` there, as a server that gives the numbers `offset` modulo `increment`.
    ///
    /// Makes the table if it is missing. All stubs of a table share its numbers.
    ///
    /// # Errors
    /// `InvalidStore` for a table without tickets and a wrong offset; `UnsafeStore` for a table that is not of `InnoDB`.
    ///
    /// # Examples
    /// ```no_run
    /// use std::sync::Arc;
    /// use snowmint_core::ticket::Form;
    /// use snowmint_stores::mysql::Mysql;
    /// use snowmint_stores::{Tickets, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Mysql::connect(&Url::parse("mysql://me:secret@db/app")?).await?;
    /// let server = store.tickets("Tickets64", "a", 1, 1).await?;
    /// let photos = Tickets::new(vec![Arc::new(server)], Form::Ticket, &[1], 1)?;
    /// println!("{}", photos.next().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn tickets(&self, table: &str, stub: &str, increment: u64, offset: u64) -> Result<Tickets, Error> {
        let target = self.target(table, stub, increment, offset)?;
        let pool = self.pool.clone();
        pool.run(target.clone(), |connection, target| Box::pin(target.check(connection))).await?;
        Ok(Tickets { pool, target })
    }

    /// Opens a table of tickets if it is there. `None` without the table.
    ///
    /// # Errors
    /// As [`Mysql::tickets`]; and `InvalidStore`, if the server counts with `auto_increment_increment` above 1, and not in these
    /// steps from this offset: its other clients would take the same numbers.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::Url;
    /// use snowmint_stores::mysql::Mysql;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Mysql::connect(&Url::parse("mysql://me:secret@db/app")?).await?;
    /// if let Some(server) = store.find_tickets("Tickets64", "a", 2, 1).await? {
    ///     println!("{server:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn find_tickets(
        &self,
        table: &str,
        stub: &str,
        increment: u64,
        offset: u64,
    ) -> Result<Option<Tickets>, Error> {
        let target = self.target(table, stub, increment, offset)?;
        let pool = self.pool.clone();
        let found = pool.run(target.clone(), |connection, target| Box::pin(target.find(connection))).await?;
        Ok(found.then_some(Tickets { pool, target }))
    }

    fn target(&self, table: &str, stub: &str, increment: u64, offset: u64) -> Result<Target, Error> {
        let pool = &self.pool;
        let table = Identifier::new(pool.name(), table)?;
        let source = format!("{}, table {table}", pool.name());
        if !(1..=increment).contains(&offset) || increment > MAX_SERVERS {
            let rule = "the offset of tickets is 1 to their increment, which is at most 65535";
            return Err(Error::invalid_store(&source, format_args!("{rule}, not {offset} of {increment}")));
        }
        let MyDialect { allow_unsafe, create, .. } = *pool.dialect();
        let stub = stub.to_owned();
        Ok(Target { source, table, stub, increment, offset, allow_unsafe, create })
    }
}

impl Target {
    /// Returns whether the table is there, and checks it and the server's own steps.
    async fn find(&self, connection: &mut MySqlConnection) -> Result<bool, Failure> {
        if settings::table(&mut *connection, &self.table).await?.is_none() {
            return Ok(false);
        }
        self.check(&mut *connection).await?;
        let query = sqlx::query_as(
            "SELECT CAST(@@GLOBAL.auto_increment_increment AS UNSIGNED), CAST(@@GLOBAL.auto_increment_offset AS UNSIGNED)",
        );
        let own: (u64, u64) = query.fetch_one(connection).await?;
        let (increment, offset) = (self.increment, self.offset);
        if own.0 > 1 && own != (increment, offset) {
            let (steps, from) = own;
            let why = format_args!(
                "the server counts in steps of {steps} from {from} (auto_increment_increment, auto_increment_offset), and it is \
                 number {offset} of {increment} here: name all {steps} servers, in the order of their offsets"
            );
            return Err(Error::invalid_store(&self.source, why).into());
        }
        Ok(true)
    }

    /// Checks the table, and makes it if it is missing.
    async fn check(&self, connection: &mut MySqlConnection) -> Result<(), Failure> {
        let table = self.table.as_str();
        let mut found = settings::table(&mut *connection, &self.table).await?;
        if found.is_none() {
            if !self.create {
                return Err(no_table(&self.source, table, "mysql::TICKETS_SCHEMA").into());
            }
            // An identifier contains no quotes.
            let statement = AssertSqlSafe(TICKETS_SCHEMA.replace("Tickets64", table));
            let made = sqlx::raw_sql(statement).execute(&mut *connection).await;
            made.map_err(|error| not_made(&self.source, table, "mysql::TICKETS_SCHEMA", &error))?;
            found = settings::table(&mut *connection, &self.table).await?;
        }
        if !self.allow_unsafe {
            settings::refuse_engine(&self.source, table, &found.unwrap_or_default().1)?;
        }
        let query = sqlx::query_as(
            "SELECT CAST(column_name AS CHAR) FROM information_schema.columns \
             WHERE table_schema = DATABASE() AND table_name = ? AND extra LIKE '%auto_increment%'",
        );
        let rows: Vec<(String,)> = query.bind(table).fetch_all(connection).await?;
        if rows.is_empty() {
            return Err(Error::invalid_store(&self.source, "it has no AUTO_INCREMENT column").into());
        }
        Ok(())
    }

    async fn take(&self, connection: &mut MySqlConnection) -> Result<u64, Failure> {
        // Each time, as tickets of other offsets may use the same connection.
        let query = sqlx::query("SET SESSION auto_increment_increment = ?, auto_increment_offset = ?");
        query.bind(self.increment).bind(self.offset).execute(&mut *connection).await?;
        let statement = format!("REPLACE INTO `{}` (stub) VALUES (?)", self.table);
        let done = sqlx::query(AssertSqlSafe(statement)).bind(&self.stub).execute(connection).await;
        match done {
            Ok(done) => Ok(done.last_insert_id()),
            Err(error) if has_number(&error, &NO_NUMBER_LEFT) || denial::<MyDialect>(&error) == Denial::Beyond => {
                Err(Error::new(ErrorKind::Exhausted, format!("{} has no more numbers", self.source)).into())
            }
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
