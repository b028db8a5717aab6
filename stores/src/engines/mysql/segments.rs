//! Leaf's table.

use async_trait::async_trait;
use sqlx::Connection;

use super::{BEYOND, DUPLICATE, Mysql, is};
use crate::engines::sql;
use crate::error::Error;
use crate::store::counter::full;
use crate::store::{SegmentTable, Store, Tag};

/// What came of a fetch.
enum Fetched {
    End(i64),
    None,
    Full,
}

#[async_trait]
impl SegmentTable for Mysql {
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error> {
        let row = self.pool.run(tag.to_owned(), |connection, tag| {
            Box::pin(async move {
                let query = sqlx::query_as(
                    "SELECT CAST(max_id AS SIGNED), CAST(step AS SIGNED), CAST(COALESCE(description, '') AS CHAR) \
                     FROM leaf_alloc WHERE biz_tag = ?",
                );
                let rows: Vec<(i64, i64, String)> = query.bind(tag).fetch_all(connection).await?;
                Ok(rows.into_iter().next())
            })
        });
        let Some((next, step, description)) = row.await? else { return Ok(None) };
        sql::tag(self.name(), tag, next, step, description).map(Some)
    }

    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error> {
        let (next, step) = sql::tag_row(self.name(), tag, row)?;
        let arguments = (tag.to_owned(), next, step, row.description.clone());
        let created = self.pool.run(arguments, |connection, (tag, next, step, description)| {
            Box::pin(async move {
                let query =
                    sqlx::query("INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES (?, ?, ?, ?)");
                match query.bind(tag).bind(*next).bind(*step).bind(description).execute(connection).await {
                    Ok(_) => Ok(true),
                    Err(error) if is(&error, &[DUPLICATE]) => Ok(false),
                    Err(error) => Err(error.into()),
                }
            })
        });
        created.await
    }

    async fn tags(&self) -> Result<Vec<String>, Error> {
        let tags = self.pool.run((), |connection, ()| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT CAST(biz_tag AS CHAR) FROM leaf_alloc ORDER BY biz_tag");
                let rows: Vec<(String,)> = query.fetch_all(connection).await?;
                Ok(rows.into_iter().map(|(tag,)| tag).collect())
            })
        });
        tags.await
    }

    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error> {
        let Some(more) = sql::signed(amount) else { return Err(full(self.name(), tag)) };
        let fetched = self.pool.run((tag.to_owned(), more), |connection, (tag, more)| {
            Box::pin(async move {
                // As Leaf does it: the row stays locked until its end is read.
                let mut transaction = connection.begin().await?;
                let query = sqlx::query("UPDATE leaf_alloc SET max_id = max_id + ? WHERE biz_tag = ? AND max_id >= 0");
                let refused = match query.bind(*more).bind(tag).execute(&mut *transaction).await {
                    Ok(done) if done.rows_affected() > 0 => None,
                    Ok(_) => Some(Fetched::None),
                    Err(error) if is(&error, &BEYOND) => Some(Fetched::Full),
                    Err(error) => return Err(error.into()),
                };
                if let Some(refused) = refused {
                    transaction.rollback().await?;
                    return Ok(refused);
                }
                let query = sqlx::query_as("SELECT CAST(max_id AS SIGNED) FROM leaf_alloc WHERE biz_tag = ?");
                let rows: Vec<(i64,)> = query.bind(tag).fetch_all(&mut *transaction).await?;
                transaction.commit().await?;
                Ok(rows.into_iter().next().map_or(Fetched::None, |(end,)| Fetched::End(end)))
            })
        });
        match fetched.await? {
            Fetched::End(end) => sql::unsigned(self.name(), tag, end).map(Some),
            // There is none, or it is negative, which reading it says.
            Fetched::None => self.tag(tag).await.map(|_| None),
            Fetched::Full => Err(full(self.name(), tag)),
        }
    }

    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error> {
        let (Some(end), Some(start)) = (sql::signed(end), sql::signed(start)) else { return Ok(false) };
        let lowered = self.pool.run((tag.to_owned(), end, start), |connection, (tag, end, start)| {
            Box::pin(async move {
                let query = sqlx::query("UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id = ?");
                let done = query.bind(*start).bind(tag).bind(*end).execute(connection).await?;
                Ok(done.rows_affected() == 1)
            })
        });
        lowered.await
    }
}
