SELECT version, value, pg_logical_emit_message(true, 'snowmint', 'read')::text FROM snowmint_records WHERE name = $1
