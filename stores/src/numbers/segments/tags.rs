//! Functions on the tags of a store, without opening a tag.

use snowmint_core::Integer;
use snowmint_core::segment::TagRecord;

use super::Segments;
use crate::error::Error;
use crate::numbers::definition;
use crate::store::floor::skipped;
use crate::store::key::{key, name, refuse_new};
use crate::store::{CounterStore, Tag};

/// Returns the record of a tag. Refuses a first number or a step that no tag may have.
pub(super) fn record(row: &Tag) -> Result<TagRecord<'_>, Error> {
    Ok(TagRecord::new(Some(Integer::from(row.next)), Some(Integer::from(row.step)))?)
}

impl Segments {
    /// Makes a tag with a first number and a step. Returns `false` if the tag exists, and leaves it unchanged.
    ///
    /// After a fence the first number is higher by the numbers that the fence skips.
    ///
    /// # Errors
    /// `InvalidText` for a tag that [`names`](snowmint_core::names) does not allow; `InvalidId` for a first number beyond
    /// 2^63-2 and for a step that is not 1 to 2^31-1; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert!(Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?);
    /// assert!(!Segments::create(&*store, "orders", &Tag::new(5, 10)).await?, "it exists");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create(store: &dyn CounterStore, tag: &str, row: &Tag) -> Result<bool, Error> {
        let key = key("segments/", tag)?;
        refuse_new(&key)?;
        // A tag of this name may have been made after the backup.
        let next = record(row)?.skip(skipped(store).await?).next;
        let row = Tag { next, ..row.clone() };
        match store.segments() {
            Some(table) => table.create(tag, &row).await,
            None => definition::create(store, &key, definition::tag_text(&row).as_bytes()).await,
        }
    }

    /// Lists the tags of a store, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// assert_eq!(Segments::tags(&*store).await?, ["orders"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn tags(store: &dyn CounterStore) -> Result<Vec<String>, Error> {
        match store.segments() {
            Some(table) => table.tags().await,
            None => Ok(store.list("segments/").await?.iter().filter_map(|(part, _)| name(part)).collect()),
        }
    }
}
