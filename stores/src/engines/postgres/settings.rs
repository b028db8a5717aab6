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

/// The settings of the server, and the tables that a crash empties.
///
/// `asynchronous_standby` is a standby that could be promoted without our last commits. A role that may not see standbys
/// gets a sentence. Subscribers of logical replication and backup tools are never promoted.
pub(super) const QUERY: &str = "\
    SELECT name, current_setting(name) FROM (VALUES ('fsync'), ('full_page_writes'), ('synchronous_commit')) AS s(name) \
    UNION ALL SELECT 'pg_is_in_recovery()', pg_is_in_recovery()::text \
    UNION ALL SELECT 'asynchronous_standby', \
    coalesce((SELECT coalesce(r.application_name, 'one that only members of pg_monitor see') \
      FROM pg_stat_replication r WHERE current_setting('synchronous_standby_names') = '' \
      AND (r.state IS NULL OR r.sync_state = 'async' AND r.state IN ('catchup', 'streaming') \
      AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal')) \
      AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical') \
      LIMIT 1), '') \
    UNION ALL SELECT 'table ' || t.name, c.relpersistence::text \
    FROM (VALUES ('snowmint_records'), ('snowmint_counters'), ('leaf_alloc')) AS t(name) \
    JOIN pg_class c ON c.oid = to_regclass(t.name) WHERE c.relpersistence <> 'p'";

/// `UnsafeStore`: a crash empties this table or sequence.
pub(super) fn unlogged(store: &str, kind: &str, name: &str, persistence: &str) -> Error {
    let found = format!("the {kind} {name} is {}", if persistence == "t" { "temporary" } else { "unlogged" });
    let cure = if persistence == "t" {
        format!("drop it and make a permanent {kind}")
    } else {
        format!("ALTER {} {name} SET LOGGED", kind.to_uppercase())
    };
    Error::unsafe_store(store, format_args!("{found} (relpersistence={persistence})"), &cure)
}
