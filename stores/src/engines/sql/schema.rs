//! The tables: looked for, and made at the first connection, Leaf's table with its first tag.

use std::time::Duration;

use tokio::time::sleep;

use super::dialect::{Dialect, Failure, Tables, denial, of_client};
use super::query::{Change as _, Select as _};
use crate::error::Error;

/// How often to try while other processes make the tables at the same time.
const MAX_TRIES: u32 = 20;

/// Finds a table that is missing.
pub(super) async fn missing<D: Dialect>(
    connection: &mut D::Connection,
    tables: &Tables,
) -> Result<Option<&'static str>, Failure> {
    let rows: Vec<(String,)> = connection.select(tables.existing, &[]).await?;
    Ok(tables.names.iter().copied().find(|table| !rows.iter().any(|(name,)| name.eq_ignore_ascii_case(table))))
}

/// Makes the tables, unless all of them exist: a role may lack the right to.
pub(super) async fn make<D: Dialect>(
    store: &str,
    connection: &mut D::Connection,
    tables: &Tables,
    create: bool,
) -> Result<(), Failure> {
    let mut tries = 0;
    while let Some(table) = missing::<D>(connection, tables).await? {
        if !create {
            return Err(no_table(store, table, tables.constant).into());
        }
        let Err(error) = connection.script(tables.schema).await else { return Ok(()) };
        tries += 1;
        if tries == MAX_TRIES || !denial::<D>(&error).is_overtaken() {
            return Err(refused::<D>(store, table, tables, error).into());
        }
        sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

fn refused<D: Dialect>(store: &str, table: &str, tables: &Tables, error: sqlx::Error) -> Error {
    match D::advice(&error) {
        // The server says what to do.
        Some("") => of_client::<D>(store, error),
        _ => not_made(store, table, tables.constant, &error),
    }
}

/// `InvalidStore`: a table is missing, and `create=false` forbids to make it.
pub(in crate::engines) fn no_table(store: &str, table: &str, constant: &str) -> Error {
    Error::invalid_store(
        store,
        format_args!("there is no table {table}, and create=false: make it with snowmint::stores::{constant}"),
    )
}

/// `InvalidStore`: a table is missing, and the server refused to make it.
pub(in crate::engines) fn not_made(store: &str, table: &str, constant: &str, error: &sqlx::Error) -> Error {
    Error::invalid_store(
        store,
        format_args!(
            "there is no table {table}, and it cannot be made ({error}): have it made with snowmint::stores::{constant}"
        ),
    )
}

/// `InvalidStore`: a table has vanished. It is not made again, as its numbers would begin again.
pub(super) fn gone(store: &str, table: &str) -> Error {
    Error::invalid_store(store, format_args!("the table {table} is gone since the store was connected"))
}
