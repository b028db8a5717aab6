DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE relname IN ('snowmint_records', 'snowmint_counters') AND relkind IN ('r', 'p')) THEN
    RAISE invalid_schema_name USING MESSAGE = 'snowmint_records and snowmint_counters are tables of an earlier version: ' ||
      'stop all programs that use them, run CREATE SCHEMA snowmint, then for both tables ' ||
      'ALTER TABLE snowmint_records SET SCHEMA snowmint and ALTER TABLE snowmint.snowmint_records RENAME TO records, ' ||
      'and the same with snowmint_counters, which becomes counters';
  END IF;
  IF to_regnamespace('snowmint') IS NULL THEN
    CREATE SCHEMA snowmint;
  END IF;
END
$$;

CREATE TABLE IF NOT EXISTS snowmint.records (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  version bigint NOT NULL,
  value bytea NOT NULL
);

CREATE TABLE IF NOT EXISTS snowmint.counters (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  value bigint NOT NULL
);
