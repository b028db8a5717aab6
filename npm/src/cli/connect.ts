// Connects to the store of a URL, by the client that the project has installed.
import { createRequire } from "node:module";
import { join } from "node:path";
import { SnowmintError } from "../index.js";
import { MysqlStore, PgStore, RedisStore, SqliteStore, type Store } from "../stores/index.js";

/** A store, and a function that closes its client. */
export interface Connected {
  store: Store;
  close(): unknown;
}

/** A store is looked at also where a claim would refuse it. */
const LOOKING = { allowUnsafe: true };

/** Connects to a store. Throws `STORE_UNAVAILABLE` for an unknown scheme, and where the client is not installed. */
export function connect(url: string): Connected {
  const [scheme] = url.split(":");
  switch (scheme) {
    case "postgres":
    case "postgresql": {
      const { Pool } = client(scheme, "pg");
      const pool = new Pool({ connectionString: url, max: 1 });
      return { store: new PgStore(pool, LOOKING), close: () => pool.end() };
    }
    case "mysql":
    case "mariadb": {
      const pool = client(scheme, "mysql2").createPool(url.replace(/^mariadb:/, "mysql:"));
      return { store: new MysqlStore(pool, LOOKING), close: () => pool.end() };
    }
    case "redis":
    case "rediss": {
      const Redis = client(scheme, "ioredis");
      const redis = new (Redis.default ?? Redis)(url, { maxRetriesPerRequest: 1 });
      return { store: new RedisStore(redis, LOOKING), close: () => redis.disconnect() };
    }
    case "sqlite": {
      const Database = client(scheme, "better-sqlite3");
      const db = new Database(url.slice("sqlite:".length).replace(/^\/\//, ""));
      return { store: new SqliteStore(db, LOOKING), close: () => db.close() };
    }
  }
  throw new SnowmintError(
    "STORE_UNAVAILABLE",
    `no such store: "${scheme}". Give file:DIRECTORY, postgres://HOST/DATABASE, mysql://HOST/DATABASE, redis://HOST, ` +
      "sqlite:PATH or http://HOST:PORT",
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the packages of the project, which this one does not know
function client(scheme: string, name: string): any {
  try {
    return createRequire(join(process.cwd(), "package.json"))(name);
  } catch {
    throw new SnowmintError(
      "STORE_UNAVAILABLE",
      `${scheme} needs the package ${name}, which is not installed in ${process.cwd()}: npm install ${name}`,
    );
  }
}
