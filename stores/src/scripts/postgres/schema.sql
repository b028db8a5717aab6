CREATE TABLE IF NOT EXISTS snowmint_records (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  version bigint NOT NULL,
  value bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS snowmint_counters (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  value bigint NOT NULL
);
