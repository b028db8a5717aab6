import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { layouts } from "snowmint";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const started = [];
after(async () => {
  for (const server of started) server.kill("SIGKILL");
  await pool.end();
});

function next(words) {
  const program = ["node_modules/next/dist/bin/next", ...words];
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
  const child = spawn(process.execPath, program, { env, stdio: "inherit" });
  started.push(child);
  return child;
}

before(
  async () => {
    await pool.query("CREATE TABLE orders (id bigint PRIMARY KEY, item text NOT NULL)");
    const [code] = await once(next(["build"]), "exit");
    assert.equal(code, 0);
    const { rows } = await pool.query("SELECT to_regclass('snowmint.records') AS leases");
    assert.equal(rows[0].leases, null, "the build has leased a node");
  },
  { timeout: 300_000 },
);

/** Starts a server of the build, and waits until it inserts its first order. */
async function start(port) {
  const server = next(["start", "--port", String(port), "--hostname", "127.0.0.1"]);
  const url = `http://127.0.0.1:${port}/orders`;
  for (const deadline = Date.now() + 60_000; ; await setTimeout(50)) {
    assert.ok(Date.now() < deadline && server.exitCode === null, "the server does not start");
    try {
      return { url, first: await create(url, "first") };
    } catch (error) {
      if (error.cause?.code !== "ECONNREFUSED") throw error;
    }
  }
}

async function create(url, item) {
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ item }) });
  assert.equal(response.status, 201);
  return response.json();
}

async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  return port;
}

test("two servers of one build insert orders with different IDs", { timeout: 180_000 }, async () => {
  const one = await start(process.env.PORT);
  const two = await start(await freePort());
  const items = Array.from({ length: 200 }, (_, i) => `item ${i}`);
  const orders = await Promise.all([one, two].flatMap(({ url }) => items.map((item) => create(url, item))));
  orders.push(one.first, two.first);

  const ids = orders.map((order) => order.id);
  assert.ok(ids.every((id) => typeof id === "string"));
  assert.equal(new Set(ids).size, 402);
  // One lease for each process, however many requests came at once.
  assert.equal(new Set(ids.map((id) => layouts.SNOWMINT.decode(id).node)).size, 2);

  const { rows } = await pool.query("SELECT id::text, pg_typeof(id)::text AS type FROM orders");
  assert.deepEqual(new Set(rows.map((row) => row.id)), new Set(ids));
  assert.ok(rows.every((row) => row.type === "bigint"));
});
