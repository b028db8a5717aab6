//! Leaf's table.

use async_trait::async_trait;

use super::Sqlite;
use crate::engines::sql;
use crate::error::Error;
use crate::store::counter::full;
use crate::store::{SegmentTable, Store, Tag};

#[async_trait]
impl SegmentTable for Sqlite {
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error> {
        let row = self.pool.run(tag.to_owned(), |connection, tag| {
            Box::pin(async move {
                let query =
                    sqlx::query_as("SELECT max_id, step, coalesce(description, '') FROM leaf_alloc WHERE biz_tag = $1");
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
                let query = sqlx::query(
                    "INSERT INTO leaf_alloc (biz_tag, max_id, step, description, update_time) \
                     VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP) ON CONFLICT DO NOTHING",
                );
                let done = query.bind(tag).bind(*next).bind(*step).bind(description).execute(connection).await?;
                Ok(done.rows_affected() == 1)
            })
        });
        created.await
    }

    async fn tags(&self) -> Result<Vec<String>, Error> {
        let tags = self.pool.run((), |connection, ()| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT biz_tag FROM leaf_alloc ORDER BY biz_tag");
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
                let query = sqlx::query_as(
                    "UPDATE leaf_alloc SET max_id = max_id + $2, update_time = CURRENT_TIMESTAMP \
                     WHERE biz_tag = $1 AND max_id BETWEEN 0 AND 9223372036854775807 - $2 RETURNING max_id",
                );
                let rows: Vec<(i64,)> = query.bind(tag).bind(*more).fetch_all(connection).await?;
                Ok(rows.into_iter().next())
            })
        });
        match fetched.await? {
            Some((end,)) => sql::unsigned(self.name(), tag, end).map(Some),
            // There is none, or it is full, or it is negative, which reading it says.
            None => match self.tag(tag).await? {
                Some(_) => Err(full(self.name(), tag)),
                None => Ok(None),
            },
        }
    }

    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error> {
        let (Some(end), Some(start)) = (sql::signed(end), sql::signed(start)) else { return Ok(false) };
        let lowered = self.pool.run((tag.to_owned(), end, start), |connection, (tag, end, start)| {
            Box::pin(async move {
                let query = sqlx::query(
                    "UPDATE leaf_alloc SET max_id = $3, update_time = CURRENT_TIMESTAMP WHERE biz_tag = $1 AND max_id = $2",
                );
                let done = query.bind(tag).bind(*end).bind(*start).execute(connection).await?;
                Ok(done.rows_affected() == 1)
            })
        });
        lowered.await
    }
}
