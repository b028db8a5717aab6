WITH logged AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'snowmint', '') AS lsn)
SELECT nextval('"{sequence}"'::regclass) FROM logged, generate_series(1, {count}) WHERE logged.lsn IS NOT NULL
