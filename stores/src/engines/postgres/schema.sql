CREATE TABLE IF NOT EXISTS snowmint_records (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  version bigint NOT NULL,
  value bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS snowmint_counters (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  value bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY,
  max_id bigint NOT NULL DEFAULT 1,
  step int NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
);
