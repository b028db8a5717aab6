DO $$
BEGIN
  IF to_regclass('snowmint_records') IS NOT NULL AND to_regclass('snowmint.records') IS NULL THEN
    RAISE invalid_schema_name USING MESSAGE = 'snowmint_records and snowmint_counters are tables of an earlier version: ' ||
      'stop all programs that use them, run CREATE SCHEMA snowmint, then for both tables ' ||
      'ALTER TABLE snowmint_records SET SCHEMA snowmint and ALTER TABLE snowmint.snowmint_records RENAME TO records';
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
