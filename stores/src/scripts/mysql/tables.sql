SELECT 'table snowmint_records', CAST(CONCAT('of engine ', COALESCE(engine, 'none')) AS CHAR) FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'snowmint_records' AND COALESCE(engine, 'none') <> 'InnoDB'
UNION ALL SELECT 'table snowmint_counters', CAST(CONCAT('of engine ', COALESCE(engine, 'none')) AS CHAR) FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'snowmint_counters' AND COALESCE(engine, 'none') <> 'InnoDB'
UNION ALL SELECT 'table snowmint_guards', CAST(CONCAT('of engine ', COALESCE(engine, 'none')) AS CHAR) FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'snowmint_guards' AND COALESCE(engine, 'none') <> 'InnoDB'
UNION ALL SELECT 'table leaf_alloc', CAST(CONCAT('of engine ', COALESCE(engine, 'none')) AS CHAR) FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'leaf_alloc' AND COALESCE(engine, 'none') <> 'InnoDB'
