SELECT t.name FROM (VALUES ('snowmint.records'), ('snowmint.counters'), ('leaf_alloc')) AS t(name)
WHERE to_regclass(t.name) IS NOT NULL OR t.name = 'leaf_alloc' AND EXISTS (
  SELECT FROM pg_class WHERE relname = 'leaf_alloc' AND relkind IN ('r', 'p', 'v', 'f') AND relpersistence <> 't')
