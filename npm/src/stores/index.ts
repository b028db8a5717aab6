// snowmint/stores: stores of leases, over the databases that an application already uses.
export type {
  Grant,
  LeaseTerms,
  Lessor,
  Listed,
  SegmentTable,
  ServerSettings,
  Store,
  Tag,
  Versioned,
} from "../lease/store.js";
export { type DynamoDbClient, DynamoDbStore, type DynamoDbStoreOptions } from "./dynamodb.js";
export { EtcdStore, type EtcdStoreOptions } from "./etcd.js";
export { HttpStore, type HttpStoreOptions } from "./http.js";
export { MemoryStore } from "./memory.js";
export { type MysqlPool, MysqlStore } from "./mysql.js";
export { type PgPool, PgStore } from "./postgres.js";
export { type IoredisClient, type NodeRedisClient, RedisStore, type RedisStoreOptions } from "./redis.js";
export type { StoreOptions } from "./shared/options.js";
export { type SqliteDatabase, SqliteStore } from "./sqlite.js";
