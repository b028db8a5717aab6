SELECT name, current_setting(name)
FROM (VALUES ('fsync'), ('full_page_writes'), ('synchronous_commit')) AS s(name)
UNION ALL SELECT 'pg_is_in_recovery()', pg_is_in_recovery()::text
UNION ALL SELECT 'asynchronous_standby', coalesce((
  SELECT coalesce(r.application_name, 'one that only members of pg_monitor see')
  FROM (SELECT w.pid, w.state, w.sync_state, a.application_name
    FROM pg_stat_get_wal_senders() w JOIN pg_stat_get_activity(w.pid) a ON true) r
  WHERE current_setting('synchronous_standby_names') = ''
  AND (r.state IS NULL OR r.sync_state = 'async' AND r.state IN ('catchup', 'streaming')
    AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal'))
  AND NOT EXISTS (SELECT FROM pg_get_replication_slots() s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
  LIMIT 1), '')
UNION ALL SELECT 'table ' || t.name, CASE c.relpersistence WHEN 't' THEN 'temporary' ELSE 'unlogged' END
FROM (VALUES ('snowmint.records'), ('snowmint.counters'), ('leaf_alloc')) AS t(name)
JOIN pg_class c ON c.oid = to_regclass(t.name)
WHERE c.relpersistence <> 'p'
