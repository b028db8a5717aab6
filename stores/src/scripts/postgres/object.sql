SELECT version(), (SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE relkind::text END FROM pg_class WHERE oid = to_regclass('"{sequence}"'))
