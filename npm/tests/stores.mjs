// The stores that are tested: what each is over, in every flavour of its client.
import { createRequire } from "node:module";
import { join } from "node:path";
import Database from "better-sqlite3";
import Ioredis from "ioredis";
import Ioredis5 from "ioredis-5";
import mysql from "mysql2";
import mysqlPromise from "mysql2/promise";
import pg from "pg";
import { createClient, createClientPool } from "redis";
import { createClient as createClient4 } from "redis-4";
import { HttpStore, MemoryStore, MysqlStore, PgStore, RedisStore, SqliteStore } from "snowmint/stores";
import { startMariadb, startPostgres, startRedis, startService } from "./servers.mjs";
import { folder } from "./support.mjs";

export const require = createRequire(import.meta.url);

/** What makes a client of the server at a URL, and what closes it. */
// What the application makes of values is its own affair.
const types = { getTypeParser: () => () => "none" };
const pgPool = (options) => (url) => [new pg.Pool({ connectionString: url, ...options }), (pool) => pool.end()];
const mysqlPool = (url) => [
  mysql.createPool({ uri: url, namedPlaceholders: true, typeCast: () => "none", supportBigNumbers: true }),
  (pool) => pool.promise().end(),
];
const mysqlPromisePool = (url) => [mysqlPromise.createPool(url), (pool) => pool.end()];
const ioredis =
  (options, Client = Ioredis) =>
  (url) => [new Client(url, options), (client) => client.disconnect()];
const nodeRedis =
  (options, create = createClient) =>
  async (url) => [await create({ url, ...options }).connect(), (client) => client.destroy?.() ?? client.disconnect()];
const nodeRedisPool = async (url) => [await createClientPool({ url }).connect(), (pool) => pool.destroy()];

/** The kinds of stores over a server: how that is started, and the stores of its clients. */
export const SERVED = {
  pg: { start: startPostgres, Store: PgStore, connect: pgPool({ types }) },
  "pg, binary": { start: startPostgres, Store: PgStore, connect: pgPool({ types, binary: true }) },
  mysql2: { start: startMariadb, Store: MysqlStore, connect: mysqlPool },
  "mysql2/promise": { start: startMariadb, Store: MysqlStore, connect: mysqlPromisePool },
  "ioredis, RESP3": { start: startRedis, Store: RedisStore, connect: ioredis({ protocol: 3 }) },
  "ioredis, RESP3 as maps": {
    start: startRedis,
    Store: RedisStore,
    connect: ioredis({ protocol: 3, replyMapping: "resp3", stringNumbers: true }),
  },
  "ioredis, RESP2": {
    start: startRedis,
    Store: RedisStore,
    connect: ioredis({ protocol: 2, enableAutoPipelining: true }),
  },
  "ioredis 5": { start: startRedis, Store: RedisStore, connect: ioredis({}, Ioredis5) },
  "redis, RESP3": { start: startRedis, Store: RedisStore, connect: nodeRedis({ RESP: 3 }) },
  "redis, RESP2": { start: startRedis, Store: RedisStore, connect: nodeRedis({ RESP: 2 }) },
  "redis, a pool": { start: startRedis, Store: RedisStore, connect: nodeRedisPool },
  "redis 4": { start: startRedis, Store: RedisStore, connect: nodeRedis({}, createClient4) },
};

/** Those that leases can be had of: the service too, which has no verbs. */
export const LEASED = { ...SERVED, http: { start: startService, Store: HttpStore, connect: (url) => [url, () => {}] } };

const ends = new WeakMap();
/** Has something done at the end of a test, the last first: a client is closed before its server ends. */
export function atEnd(t, end) {
  const all = ends.get(t) ?? [];
  if (!ends.has(t)) {
    ends.set(t, all);
    t.after(async () => {
      while (all.length) await all.pop()();
    });
  }
  all.push(end);
}

/** A store over a client of its own, which is closed with the test. */
export async function storeAt(t, kind, url, options) {
  const { Store, connect } = LEASED[kind];
  const [client, close] = await connect(url);
  atEnd(t, () => close(client));
  // Machines with other work to do take their time.
  return new Store(client, { timeoutMs: 30_000, ...options });
}

/** A database file that goes away with the test. */
export function database(t, path = join(folder(t), "ids.db"), options = {}) {
  const db = new Database(path, options);
  atEnd(t, () => db.close());
  return db;
}

export const sqliteAt = (t, path, options) => new SqliteStore(database(t, path), options);
export const bytes = (text) => new TextEncoder().encode(text);
export const text = (value) => new TextDecoder().decode(value);
export {
  Database,
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
