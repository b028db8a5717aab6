// Stores for tests, and the libraries of their clients.
import { createRequire } from "node:module";
import { join } from "node:path";
import Database from "better-sqlite3";
import Ioredis from "ioredis";
import mysql from "mysql2";
import mysqlPromise from "mysql2/promise";
import pg from "pg";
import {
  DynamoDbStore,
  EtcdStore,
  HttpStore,
  MemoryStore,
  MysqlStore,
  PgStore,
  RedisStore,
  SqliteStore,
} from "snowmint/stores";
import { LEASED } from "./clients.mjs";
import { atEnd, folder } from "./support.mjs";

export { bytes, text } from "./asserting.mjs";
export { LEASED, SERVED } from "./clients.mjs";
export { atEnd } from "./support.mjs";

export const require = createRequire(import.meta.url);

/** A store over a separate client, which the end of the test closes. */
export async function storeAt(t, kind, url, options) {
  const { Store, connect } = LEASED[kind];
  const [client, close] = await connect(url);
  atEnd(t, () => close(client));
  // Machines with other work to do take their time.
  return new Store(client, { timeoutMs: 30_000, ...options });
}

/** A database file that is removed after the test. */
export function database(t, path = join(folder(t), "ids.db"), options = {}) {
  const db = new Database(path, options);
  atEnd(t, () => db.close());
  return db;
}

export const sqliteAt = (t, path, options) => new SqliteStore(database(t, path), options);
export {
  Database,
  DynamoDbStore,
  EtcdStore,
  HttpStore,
  Ioredis,
  MemoryStore,
  MysqlStore,
  mysql,
  mysqlPromise,
  PgStore,
  pg,
  RedisStore,
  SqliteStore,
};
