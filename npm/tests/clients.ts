// The stores take the clients that applications already have. Checked by the compiler with their own types, never
// run.
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import Database from "better-sqlite3";
import { Redis as Ioredis } from "ioredis";
import { Redis as Ioredis5 } from "ioredis-5";
import mysql from "mysql2";
import mysqlPromise from "mysql2/promise";
import pg from "pg";
import { createClient, createClientPool, createCluster } from "redis";
import { createClient as createClient4 } from "redis-4";
import { DynamoDbStore, HttpStore, MysqlStore, PgStore, RedisStore, SqliteStore } from "snowmint/stores";

new PgStore(new pg.Pool());
new MysqlStore(mysql.createPool("mysql://db"));
new MysqlStore(mysqlPromise.createPool("mysql://db"));
new RedisStore(new Ioredis());
new RedisStore(new Ioredis5());
new RedisStore(createClient());
new RedisStore(createClient({ RESP: 2 }));
new RedisStore(createClientPool());
new RedisStore(createClient4());
new DynamoDbStore(new DynamoDB({ region: "eu-west-1" }), { table: "ids" });
new SqliteStore(new Database("ids.db"));
new HttpStore(new URL("https://ids.example"), { fetch });
new HttpStore("https://ids.example", { fetch: (url, init) => fetch(url, { ...init, redirect: "error" }) });
// @ts-expect-error a transaction needs a separate connection
new PgStore(new pg.Client());
// @ts-expect-error the same
new MysqlStore(mysql.createConnection("mysql://db"));
// A cluster has the same methods; it is refused when the store is made.
new RedisStore(createCluster({ rootNodes: [] }));
