//! Several statements for `SQLite` in one transaction.

use async_trait::async_trait;
use sqlx::sqlite::{SqliteConnection, SqliteQueryResult, SqliteRow};
use sqlx::{Connection as _, Executor as _, FromRow, Sqlite};

use crate::engines::sql::query::{Group, Outcome, Statement, arguments, outcomes};

#[async_trait]
impl<R: for<'r> FromRow<'r, SqliteRow> + Send + 'static> Group<R> for SqliteConnection {
    async fn group(&mut self, statements: &[Statement]) -> Result<Vec<Outcome<R>>, sqlx::Error> {
        // A transaction that begins as a reader could not become a writer after another process wrote.
        let mut transaction = self.begin_with("BEGIN IMMEDIATE").await?;
        let mut done = Vec::with_capacity(statements.len());
        for (statement, values) in statements {
            let query = sqlx::query_with(*statement, arguments::<Sqlite>(values)?);
            let steps = transaction.fetch_many(query);
            done.extend(outcomes::<Sqlite, R>(steps, 0, SqliteQueryResult::rows_affected).await?);
        }
        transaction.commit().await?;
        Ok(done)
    }
}
