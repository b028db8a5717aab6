import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import mysql from "mysql2/promise";
import pg from "pg";

const { DATABASE_URL, MYSQL_URL, MONGODB_URL } = process.env;
const run = promisify(execFile);
const postgres = new pg.Pool({ connectionString: DATABASE_URL });
const mariadb = mysql.createPool(MYSQL_URL);

before(async () => {
  for (const database of [postgres, mariadb])
    await database.query("CREATE TABLE orders (id bigint PRIMARY KEY, item text NOT NULL)");
  // `prisma generate` downloads the engine of migrations, unless this variable names a file. It does not run the engine.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  await run("npx", ["prisma", "generate"], { env });
});
after(async () => {
  await postgres.end();
  await mariadb.end();
});

/** Runs the program of an ORM. Returns the ID that it minted, wrote and read. */
async function insertAndRead(name, url) {
  const { stdout } = await run(process.execPath, [`${name}.mjs`], { env: { ...process.env, DATABASE_URL: url } });
  const { order, found } = JSON.parse(stdout);
  const id = order.id ?? order._id;
  assert.equal(typeof id, "string", name);
  assert.equal(found.id ?? found._id, id, name);
  return id;
}

/** Asserts that the rows have the IDs, that the IDs differ, and that a JavaScript number would round most of them. */
function assertRows(rows, names, ids) {
  assert.deepEqual(new Map(rows.map((row) => [row.item, row.id])), new Map(names.map((name, i) => [name, ids[i]])));
  assert.equal(new Set(ids).size, ids.length);
  const rounded = ids.filter((id) => BigInt(Number(id)) !== BigInt(id));
  assert.ok(rounded.length > ids.length / 2, `${ids}`);
}

test("PostgreSQL has the ID that each ORM minted and read", { timeout: 120_000 }, async () => {
  const names = ["prisma", "drizzle", "kysely", "typeorm", "sequelize", "mikro-orm"];
  const ids = await Promise.all(names.map((name) => insertAndRead(name, DATABASE_URL)));
  const { rows } = await postgres.query("SELECT item, id::text, pg_typeof(id)::text AS type FROM orders");
  assertRows(rows, names, ids);
  assert.ok(rows.every((row) => row.type === "bigint"));
});

test("MariaDB has the ID that each ORM minted and read", { timeout: 120_000 }, async () => {
  const names = ["drizzle-mysql", "kysely-mysql", "typeorm", "sequelize"];
  const ids = await Promise.all(names.map((name) => insertAndRead(name, MYSQL_URL)));
  const [rows] = await mariadb.query("SELECT item, CAST(id AS char) AS id FROM orders");
  assertRows(rows, names, ids);
});

test("Mongoose reads the ID that it minted", { skip: !MONGODB_URL && "MONGODB_URL is not set" }, async () => {
  await insertAndRead("mongoose");
});
