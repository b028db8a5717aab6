SELECT version, value, pg_logical_emit_message(true, 'snowmint', 'read')::text FROM snowmint.records WHERE name = $1
