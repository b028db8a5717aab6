import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { layouts } from "snowmint";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const servers = [];
after(async () => {
  for (const server of servers) server.kill("SIGKILL");
  await pool.end();
});

/** Starts the program, and waits until it inserts its first order. */
async function start(port) {
  const env = { ...process.env, PORT: String(port) };
  const server = spawn(process.execPath, ["server.js"], { env, stdio: ["ignore", "ignore", "inherit"] });
  servers.push(server);
  const url = `http://127.0.0.1:${port}/orders`;
  for (const deadline = Date.now() + 60_000; ; await setTimeout(50)) {
    assert.ok(Date.now() < deadline && server.exitCode === null, "the server does not start");
    try {
      const first = await create(url, "first");
      return { server, url, first, node: layouts.SNOWMINT.decode(first.id).node };
    } catch (error) {
      if (error.cause?.code !== "ECONNREFUSED") throw error;
    }
  }
}

async function create(url, item) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ item }) });
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

test("two servers insert orders, and a closed server gives its node back", { timeout: 180_000 }, async () => {
  const one = await start(process.env.PORT);
  const two = await start(await freePort());
  assert.notEqual(one.node, two.node);

  const items = Array.from({ length: 200 }, (_, i) => `item ${i}`);
  const orders = await Promise.all([one, two].flatMap(({ url }) => items.map((item) => create(url, item))));
  orders.push(one.first, two.first);
  const ids = orders.map((order) => order.id);
  assert.ok(ids.every((id) => typeof id === "string"));
  assert.equal(new Set(ids).size, 402);
  const { rows } = await pool.query("SELECT id::text, pg_typeof(id)::text AS type FROM orders");
  assert.deepEqual(new Set(rows.map((row) => row.id)), new Set(ids));
  assert.ok(rows.every((row) => row.type === "bigint"));

  one.server.kill("SIGTERM");
  const [code] = await once(one.server, "exit");
  assert.equal(code, 0);
  // The window of the closed server lasts up to 30 s more. Only a node that was given back is free before its end.
  const three = await start(process.env.PORT);
  assert.equal(three.node, one.node);
  assert.ok(BigInt(three.first.id) > BigInt(one.first.id));
});
