// The kinds of stores over a server, in every flavour of their clients. A client is loaded when it is first used, so that
// a process with one client starts in half the time.
import { DynamoDbStore, EtcdStore, HttpStore, MysqlStore, PgStore, RedisStore } from "snowmint/stores";

// Each of these makes a client of the server at a URL, and a function that closes it.
// How the application parses values must not matter to the stores.
const types = { getTypeParser: () => () => "none" };
const pgPool = (options) => async (url) => {
  const { default: pg } = await import("pg");
  return [new pg.Pool({ connectionString: url, ...options }), (pool) => pool.end()];
};
const mysqlPool = async (url) => {
  const { default: mysql } = await import("mysql2");
  const options = { namedPlaceholders: true, typeCast: () => "none", supportBigNumbers: true };
  return [mysql.createPool({ uri: url, ...options }), (pool) => pool.promise().end()];
};
const mysqlPromisePool = async (url) => {
  const { default: mysql } = await import("mysql2/promise");
  return [mysql.createPool(url), (pool) => pool.end()];
};
const ioredis =
  (options, load = () => import("ioredis")) =>
  async (url) => {
    const { default: Ioredis } = await load();
    return [new Ioredis(url, options), (client) => client.disconnect()];
  };
const nodeRedis =
  (options, load = () => import("redis")) =>
  async (url) => {
    const { createClient } = await load();
    const client = await createClient({ url, ...options }).connect();
    return [client, (client) => client.destroy?.() ?? client.disconnect()];
  };
const nodeRedisPool = async (url) => {
  const { createClientPool } = await import("redis");
  return [await createClientPool({ url }).connect(), (pool) => pool.destroy()];
};

/** A client of a table, with any credentials. */
export async function dynamoDb(endpoint, options) {
  const { DynamoDB } = await import("@aws-sdk/client-dynamodb");
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return [new DynamoDB({ region: "eu-west-1", endpoint, credentials, ...options }), (client) => client.destroy()];
}

/** The engine, the store and the client of each kind. */
export const SERVED = {
  pg: { engine: "postgres", Store: PgStore, connect: pgPool({ types }) },
  "pg, binary": { engine: "postgres", Store: PgStore, connect: pgPool({ types, binary: true }) },
  mysql2: { engine: "mariadb", Store: MysqlStore, connect: mysqlPool },
  "mysql2/promise": { engine: "mariadb", Store: MysqlStore, connect: mysqlPromisePool },
  "ioredis, RESP3": { engine: "redis", Store: RedisStore, connect: ioredis({ protocol: 3 }) },
  "ioredis, RESP3 as maps": {
    engine: "redis",
    Store: RedisStore,
    connect: ioredis({ protocol: 3, replyMapping: "resp3", stringNumbers: true }),
  },
  "ioredis, RESP2": {
    engine: "redis",
    Store: RedisStore,
    connect: ioredis({ protocol: 2, enableAutoPipelining: true }),
  },
  "ioredis 5": { engine: "redis", Store: RedisStore, connect: ioredis({}, () => import("ioredis-5")) },
  "redis, RESP3": { engine: "redis", Store: RedisStore, connect: nodeRedis({ RESP: 3 }) },
  "redis, RESP2": { engine: "redis", Store: RedisStore, connect: nodeRedis({ RESP: 2 }) },
  "redis, a pool": { engine: "redis", Store: RedisStore, connect: nodeRedisPool },
  "redis 4": { engine: "redis", Store: RedisStore, connect: nodeRedis({}, () => import("redis-4")) },
};

/**
 * The kinds that grant leases: etcd too, which has neither a clock nor settings, the service, which has no verbs, and DynamoDB,
 * which a test serves itself.
 */
export const LEASED = {
  ...SERVED,
  etcd: { engine: "etcd", Store: EtcdStore, connect: async (url) => [url, () => {}] },
  dynamodb: { Store: DynamoDbStore, connect: dynamoDb },
  http: { engine: "service", Store: HttpStore, connect: async (url) => [url, () => {}] },
};
