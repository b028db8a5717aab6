SELECT t.name FROM (VALUES ('snowmint.records'), ('snowmint.counters'), ('leaf_alloc')) AS t(name)
WHERE to_regclass(t.name) IS NOT NULL
  OR EXISTS (SELECT FROM pg_class WHERE relname = t.name AND relkind IN ('r', 'p', 'v', 'f'))
