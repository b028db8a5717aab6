// snowmint/sql: the texts equal the texts of the other languages, and work on real servers.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import mysql from "mysql2/promise";
import pg from "pg";
import { Layout, layouts, prefix, SnowmintError, ulid } from "snowmint";
import { decodeSql, mariadbFunction, postgresFunction, postgresWideFunction } from "snowmint/sql";
import { shared } from "./servers.mjs";
import { exitOf, folder } from "./support.mjs";

const here = new URL(".", import.meta.url).pathname;
const dist = join(here, "./node_modules/snowmint/dist");

test("IDs minted in PostgreSQL are those of the node, and taken apart there as here", async (t) => {
  const { url } = await shared("postgres", { newDatabase: true });
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  pool.on("error", () => {});
  t.after(() => pool.end());
  for (const [layout, node, names] of [
    [layouts.SNOWMINT, 5, ["app", "next_id"]],
    ["time:41,shard:13,sequence:10;epoch=631152000000", 8191n, ['a"b', "号; -- \\ $snowmint0$"]],
    ["twitter", { datacenter: 11, worker: 26 }, ["app", "next_id"]],
  ]) {
    const known =
      typeof layout === "string" ? (layout.includes(":") ? Layout.parse(layout) : Layout.preset(layout)) : layout;
    const [schema, name] = names.map(pg.escapeIdentifier);
    await pool.query(`DROP TABLE IF EXISTS minted; CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await pool.query(postgresFunction(layout, ...names, node, { maxWaitMs: 60_000, sequenceStart: "carry" }));
    await pool.query(`CREATE TABLE minted (id bigint PRIMARY KEY DEFAULT ${schema}.${name}(), n int)`);
    await Promise.all(
      Array.from({ length: 8 }, () => pool.query("INSERT INTO minted (n) SELECT generate_series(1, 500)")),
    );
    const id = decodeSql(layout, "postgres", "minted.id");
    const columns = [id.timestamp, id.timestampMs, id.tick, id.node, id.sequence, ...Object.values(id.fields)];
    const { rows } = await pool.query({ text: `SELECT id, ${columns.join(", ")} FROM minted`, rowMode: "array" });
    assert.equal(rows.length, 4000);
    for (const [number, timestamp, timestampMs, tick, nodeOf, sequence, ...fields] of rows) {
      const parts = known.decode(number);
      assert.deepEqual(timestamp, parts.timestamp);
      assert.deepEqual([timestampMs, nodeOf, sequence], [parts.timestampMs, parts.node, parts.sequence].map(String));
      assert.equal(tick, String(parts.tick));
      assert.deepEqual(fields, Object.values(parts.fields).map(String));
      assert.deepEqual(Object.keys(id.fields), Object.keys(parts.fields));
      assert.equal(parts.node, typeof node === "object" ? 378 : Number(node));
    }
    const all = await pool.query(`SELECT count(*) FROM minted WHERE ${id.between(Date.now() - 600_000, new Date())}`);
    assert.equal(all.rows[0].count, "4000");
    const none = await pool.query(
      `SELECT count(*) FROM minted WHERE ${id.between(Date.now() + 1000, Date.now() + 2000)}`,
    );
    assert.equal(none.rows[0].count, "0");
  }
});

test("IDs minted in MariaDB are those of the node, unique over connections that roll back", async (t) => {
  const { url, port } = await shared("mariadb", { newDatabase: true });
  const database = url.slice(url.lastIndexOf("/") + 1);
  const pool = mysql.createPool({
    host: "127.0.0.1",
    port,
    user: "root",
    database,
    connectionLimit: 8,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
  t.after(() => pool.end());
  for (const statement of mariadbFunction(layouts.TWITTER, database, "next`id", { datacenter: 11, worker: 26 })) {
    await pool.query(statement);
  }
  const found = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const connection = await pool.getConnection();
      const ids = [];
      for (let round = 0; round < 20; round++) {
        await connection.beginTransaction();
        const [rows] = await connection.query("SELECT `next``id`() AS id FROM seq_1_to_50");
        ids.push(...rows.map(({ id }) => BigInt(id)));
        await (round % 3 ? connection.rollback() : connection.commit());
      }
      connection.release();
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => (a < b ? -1 : 1)),
      );
      return ids;
    }),
  );
  const ids = found.flat();
  assert.equal(new Set(ids).size, 8000);
  for (const id of ids) assert.equal(layouts.TWITTER.decode(id).node, 378);
});

test("UUIDs, ULIDs and TypeIDs minted in PostgreSQL are read here", async (t) => {
  const { url } = await shared("postgres", { newDatabase: true });
  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => {});
  t.after(() => pool.end());
  await pool.query("CREATE SCHEMA app");
  for (const kind of ["uuid7", "ulid", "typeid"]) await pool.query(postgresWideFunction(kind, "app", kind));
  const { rows } = await pool.query("SELECT app.uuid7() AS u, app.ulid() AS l, app.typeid('order') AS t");
  const [{ u, l, t: typeId }] = rows;
  assert.match(u, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok(Math.abs(Number.parseInt(u.replaceAll("-", "").slice(0, 12), 16) - Date.now()) < 60_000);
  assert.ok(Math.abs(ulid.timestampMs(l) - Date.now()) < 60_000);
  assert.match(prefix.decode("order", typeId, "uuid"), /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  await assert.rejects(pool.query("SELECT app.typeid('Order')"), {
    code: "SN005",
    message: /^INVALID_TEXT: "Order" is not/,
  });
});

test("the texts are those of core", () => {
  assert.equal(decodeSql("twitter", "postgres", "orders.id").node, '(("orders"."id" >> 12) & 1023)');
  assert.equal(
    decodeSql("twitter", "mariadb", "id").timestampMs,
    "(CAST(((`id` >> 22) & 2199023255551) AS SIGNED) + 1288834974657)",
  );
  const discord = decodeSql(layouts.DISCORD, "mariadb_signed", "id");
  assert.match(
    discord.between(layouts.DISCORD.signedUntil, layouts.DISCORD.signedUntil),
    /^\(`id` BETWEEN \(-9223372036854775807 - 1\) AND /,
  );
  const script = postgresFunction(layouts.INSTAGRAM, "app", "next_id", 5, { maxAheadMs: 70, maxWaitMs: 300 });
  assert.match(script, /^CREATE SEQUENCE IF NOT EXISTS "app"\."next_id_5_[0-9a-f]{8}" AS bigint/);
  assert.match(script, /reach := now_ms \+ 70;[\s\S]*IF waited_ms < 300 THEN/);
  assert.ok(script.endsWith("From 2046-06-27T17:00:49.497Z on IDs are negative in a signed bigint.';\n"));
  assert.match(postgresFunction("snowmint", "app", "next_id", 5), /SET lock_timeout = '2000ms'/);
  const id = decodeSql("twitter", "clickhouse", "id");
  assert.equal(id.node, "bitAnd(bitShiftRight(`id`, 12), 1023)");
  assert.match(decodeSql("twitter", "duckdb", "id").timestamp, /^epoch_ms\(/);
  const [table, drop, create] = mariadbFunction("snowmint", "app", "next_id", 5, { maxWaitMs: 300 });
  assert.match(table, /CREATE TABLE IF NOT EXISTS `app`\.`next_id_5_[0-9a-f]{8}`/);
  assert.equal(drop, "DROP FUNCTION IF EXISTS `app`.`next_id`");
  assert.match(create, /IF waited_ms < 300 THEN/);
});

test("what cannot be is refused", () => {
  const name = /an SQL name has 1 to \d\d bytes here, without NUL/;
  for (const [schema, called] of [
    ["", "f"],
    ["app", ""],
    ["a\0", "f"],
    ["a\0b", "f"],
    ["app", "f\0"],
    ["a".repeat(64), "f"],
    ["号".repeat(9999), "f"],
    ["app", "é".repeat(27)],
  ]) {
    assert.throws(() => postgresFunction("snowmint", schema, called, 5), { code: "INVALID_TEXT", message: name });
  }
  for (const column of ["", "t.", "a..b", "a\0", "a.".repeat(5000)]) {
    assert.throws(() => decodeSql("snowmint", "mariadb", column), { code: "INVALID_TEXT", message: name });
  }
  assert.throws(() => decodeSql("snowmint", "oracle", "id"), { code: "INVALID_TEXT" });
  assert.throws(() => decodeSql("snowmint", "postgres", "\ud800"), { code: "INVALID_TEXT" });
  assert.throws(() => decodeSql("nothing", "postgres", "id"), { code: "INVALID_LAYOUT" });
  assert.throws(() => postgresFunction("snowmint", "app", "f", 1024), {
    code: "INVALID_NODE",
    message: "node 1024 does not fit this layout: it takes 0 to 1023",
  });
  assert.throws(() => postgresFunction("twitter", "app", "f", { worker: 1 }), { code: "INVALID_NODE" });
  assert.throws(() => postgresFunction("snowmint", "app", "f", 1.5), { code: "INVALID_NODE" });
  assert.throws(() => decodeSql("snowmint", "postgres", "id").between(0, 1), { code: "BEFORE_EPOCH" });
  assert.throws(() => postgresFunction("snowmint", "app", "f", 1, { maxWaitMs: -1 }), { code: "INVALID_ID" });
  assert.throws(() => postgresFunction("snowmint", "app", "f", 1, { sequenceStart: "one" }), { code: "INVALID_TEXT" });
  assert.throws(() => postgresFunction("snowmint", 5, "f", 1), TypeError);
  assert.throws(() => mariadbFunction("snowmint", "a".repeat(65), "f", 1), { code: "INVALID_TEXT", message: name });
  assert.throws(() => mariadbFunction("snowmint", "app", "f", 1024), { code: "INVALID_NODE" });
  assert.throws(() => mariadbFunction("snowmint", "app", "f", 1, { maxAhead: 5 }), /mariadbFunction.*maxAheadMs/);
  assert.throws(() => postgresWideFunction("uuid7", "app", "f\0"), { code: "INVALID_TEXT", message: name });
  assert.throws(() => postgresWideFunction("uuid4", "app", "f"), {
    code: "INVALID_TEXT",
    message: "no such kind of 128-bit ID: choose uuid7, ulid or typeid",
  });
});

test("it throws errors of the class that the package beside it has, by import and by require", async () => {
  const require = createRequire(import.meta.url);
  for (const [main, sql] of [
    [{ SnowmintError }, { decodeSql }],
    [require("snowmint"), require("snowmint/sql")],
    [
      await import("./node_modules/snowmint/dist/browser.mjs"),
      await import("./node_modules/snowmint/dist/sql.browser.mjs"),
    ],
    [require("./node_modules/snowmint/dist/browser.cjs"), require("./node_modules/snowmint/dist/sql.browser.cjs")],
  ]) {
    assert.throws(() => sql.decodeSql("snowmint", "postgres", ""), main.SnowmintError);
    assert.equal(sql.decodeSql("snowmint", "postgres", "id").sequence, '("id" & 4095)');
  }
});

test("loading it compiles nothing", async () => {
  for (const file of ["sql.node.mjs", "sql.node.cjs", "sql.browser.mjs", "sql.browser.cjs"]) {
    const { stdout, stderr } = await exitOf(`delete globalThis.WebAssembly;
      const loaded = await import("${dist}/${file}");
      try { (loaded.default ?? loaded).decodeSql("snowmint", "postgres", "id") } catch ({ code }) { console.log(code) }`);
    assert.equal(stdout, "WASM_FORBIDDEN\n", file + stderr);
  }
});

test("it works where wasm is imported as a module, as edge runtimes do", async (t) => {
  const wasmModule = ({ onResolve, onLoad }) => {
    onResolve({ filter: /\.wasm$/ }, ({ path: name }) => ({ path: join(dist, name), namespace: "module" }));
    onLoad({ filter: /./, namespace: "module" }, ({ path: file }) => ({
      contents: `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync("${file}"));`,
    }));
  };
  const outfile = join(folder(t), "edge.mjs");
  await build({
    stdin: { contents: `export * from "snowmint/sql";`, resolveDir: here },
    outfile,
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    external: ["node:fs"],
    plugins: [{ name: "wasm-module", setup: wasmModule }],
    logLevel: "error",
  });
  const edge = await import(pathToFileURL(outfile).href);
  assert.equal(edge.postgresFunction("leaf", "a", "b", 5), postgresFunction("leaf", "a", "b", 5));
});
