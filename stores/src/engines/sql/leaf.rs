//! Leaf's table of segments, which servers of Leaf may use at the same time.

use std::sync::atomic::Ordering;

use async_trait::async_trait;

use super::SqlStore;
use super::dialect::Dialect;
use super::query::{Value, signed, unsigned};
use super::schema;
use crate::error::Error;
use crate::store::counter::full;
use crate::store::{RecordStore as _, SegmentTable, Tag};

/// The highest `step`, as the column is an `int`.
const MAX_STEP: i64 = 0x7fff_ffff;

impl<D: Dialect> SqlStore<D> {
    /// Returns whether the table is there. Without a tag it need not be.
    async fn has_leaf(&self) -> Result<bool, Error> {
        if !self.has_leaf.load(Ordering::Acquire) {
            let missing =
                self.pool.run((), |connection, ()| Box::pin(schema::missing::<D>(connection, &D::LEAF.tables))).await?;
            if missing.is_some() {
                return Ok(false);
            }
            self.has_leaf.store(true, Ordering::Release);
        }
        Ok(true)
    }

    async fn make_leaf(&self) -> Result<(), Error> {
        if !self.has_leaf().await? {
            let step = (self.name().to_owned(), self.create);
            let made = self.pool.run(step, |connection, (name, create)| {
                Box::pin(schema::make::<D>(name, connection, &D::LEAF.tables, *create))
            });
            made.await?;
            self.has_leaf.store(true, Ordering::Release);
        }
        Ok(())
    }
}

#[async_trait]
impl<D: Dialect> SegmentTable for SqlStore<D> {
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error> {
        if !self.has_leaf().await? {
            return Ok(None);
        }
        let rows = self.select(D::LEAF.tag, vec![text(tag)]).await?;
        let Some((description, next, step)) = rows.into_iter().next() else { return Ok(None) };
        let column = |column, number| unsigned(self.name(), &format!("{column} of {tag:?} in leaf_alloc"), number);
        Ok(Some(Tag { next: column("max_id", next)?, step: column("step", step)?, description }))
    }

    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error> {
        let column = |column: &str, number: u64, most: i64, end: &str| {
            signed(number).filter(|number| *number <= most).map(Value::Number).ok_or_else(|| {
                Error::unavailable(
                    self.name(),
                    format_args!("{column} of {tag:?} is at most {end} in leaf_alloc, not {number}"),
                )
            })
        };
        let next = column("max_id", row.next, i64::MAX, "2^63-1")?;
        let step = column("step", row.step, MAX_STEP, "2^31-1")?;
        let values = vec![text(tag), next, step, text(&row.description)];
        self.make_leaf().await?;
        self.change(D::LEAF.create, values, text(tag)).await
    }

    async fn tags(&self) -> Result<Vec<String>, Error> {
        if !self.has_leaf().await? {
            return Ok(Vec::new());
        }
        let rows = self.select(D::LEAF.tags, Vec::new()).await?;
        Ok(rows.into_iter().map(|(tag,)| tag).collect())
    }

    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error> {
        let Some(amount) = signed(amount).map(Value::Number) else { return Err(full(self.name(), tag)) };
        if !self.has_leaf().await? {
            return Ok(None);
        }
        match self.raise(D::LEAF.fetch, vec![amount, text(tag)], text(tag)).await? {
            Some(end) => Ok(Some(end)),
            // The row is missing, or its number is negative or at the end. Reading the row shows the reason.
            None => match self.tag(tag).await? {
                Some(_) => Err(full(self.name(), tag)),
                None => Ok(None),
            },
        }
    }

    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error> {
        let (Some(end), Some(start)) = (signed(end), signed(start)) else { return Ok(false) };
        if !self.has_leaf().await? {
            return Ok(false);
        }
        let values = vec![Value::Number(start), text(tag), Value::Number(end)];
        self.change(D::LEAF.lower, values, text(tag)).await
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
