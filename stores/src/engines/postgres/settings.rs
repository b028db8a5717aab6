//! Settings that decide whether the server keeps confirmed writes.

use sqlx::postgres::PgConnection;

use crate::engines::sql::Failure;
use crate::error::Error;

/// Makes the commits of this connection safe, whatever the settings of server, database and role.
pub(super) async fn cure(connection: &mut PgConnection) -> Result<(), Failure> {
    // Only `remote_apply` waits for more than `on`. A time limit would turn the wait for a synchronous standby into a mere
    // warning.
    let query = sqlx::query_as(
        "SELECT set_config('synchronous_commit', \
           CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false), \
         set_config('statement_timeout', '0', false), \
         set_config('default_transaction_isolation', 'read committed', false)",
    );
    let _rows: Vec<(String, String, String)> = query.fetch_all(connection).await?;
    Ok(())
}

/// `UnsafeStore`: a crash empties this sequence.
pub(super) fn unlogged(store: &str, name: &str, persistence: &str) -> Error {
    let found = format!("the sequence {name} is {}", if persistence == "t" { "temporary" } else { "unlogged" });
    let cure = if persistence == "t" {
        "drop it and make a permanent sequence".to_owned()
    } else {
        format!("ALTER SEQUENCE {name} SET LOGGED")
    };
    Error::unsafe_store(store, format_args!("{found} (relpersistence={persistence})"), &cure)
}
