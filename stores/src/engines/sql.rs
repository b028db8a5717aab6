//! What the SQL engines share.

mod backoff;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod identifier;
mod pool;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod source;

use snowmint_core::segment::LAST;

#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) use self::identifier::Identifier;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) use self::pool::unavailable;
pub(super) use self::pool::{Engine, Failure, Pool};
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) use self::source::{cycles, run_out, server_name, within_room};
use crate::error::Error;
use crate::store::Tag;

/// A number of ours as SQL's `BIGINT`; `None` beyond 2^63-1.
pub(super) fn signed(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// A number of SQL's, which must not be negative.
pub(super) fn unsigned(store: &str, what: &str, number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::unavailable(store, format_args!("{what} is {number}, not 0 or more")))
}

/// What a counter that is not there yet becomes: `start + delta`, if it can be that.
pub(super) fn first_sum(start: u64, delta: u64) -> Option<i64> {
    start.checked_add(delta).filter(|sum| *sum <= LAST).and_then(signed)
}

/// The text right after all those that begin with `prefix`, which is ASCII.
pub(super) fn end_of(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    let last = end.pop().unwrap_or('\u{7e}');
    end.push(char::from_u32(u32::from(last) + 1).unwrap_or('\u{7f}'));
    end
}

/// `StoreUnavailable`: a table is not there, and is not to be made.
pub(super) fn no_table(store: &str, table: &str, module: &str) -> Error {
    Error::unavailable(
        store,
        format_args!("there is no table {table}, and create=false: make it with snowmint::stores::{module}::SCHEMA"),
    )
}

/// `StoreUnavailable`: a table cannot be made.
pub(super) fn not_made(store: &str, table: &str, module: &str, why: &sqlx::Error) -> Error {
    Error::unavailable(
        store,
        format_args!(
            "there is no table {table}, and it cannot be made ({why}): have it made with \
             snowmint::stores::{module}::SCHEMA"
        ),
    )
}

/// `StoreUnavailable`: a table was there when the store was connected. It is not made again, as numbers would begin again.
pub(super) fn gone(store: &str, table: &str) -> Error {
    Error::unavailable(store, format_args!("the table {table} is gone since the store was connected"))
}

/// A row of Leaf's table as it was read.
pub(super) fn tag(store: &str, tag: &str, next: i64, step: i64, description: String) -> Result<Tag, Error> {
    let column = |column: &str, number| unsigned(store, &format!("{column} of {tag:?} in leaf_alloc"), number);
    Ok(Tag { next: column("max_id", next)?, step: column("step", step)?, description })
}

/// A row of Leaf's table to be written: `max_id` and `step`.
pub(super) fn tag_row(store: &str, tag: &str, row: &Tag) -> Result<(i64, i32), Error> {
    let beyond = |column: &str, number: u64, end: &str| {
        Error::unavailable(store, format_args!("{column} of {tag:?} is at most {end} in leaf_alloc, not {number}"))
    };
    let next = signed(row.next).ok_or_else(|| beyond("max_id", row.next, "2^63-1"))?;
    let step = i32::try_from(row.step).map_err(|_| beyond("step", row.step, "2^31-1"))?;
    Ok((next, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_letter_after_its_last() {
        assert_eq!(end_of("leases/a_%/"), "leases/a_%0");
        assert_eq!(first_sum(LAST, 0), Some(i64::MAX));
        assert_eq!(first_sum(LAST, 1), None);
        assert_eq!(first_sum(u64::MAX, 1), None);
    }
}
