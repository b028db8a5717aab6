import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { layouts, Snowflake } from "snowmint";
import { PgStore } from "snowmint/stores";

const url = `http://127.0.0.1:${process.env.PORT}/orders`;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const nodes = new Set();
// A group of its own: systemd sends a signal to the primary and the workers at once.
const server = spawn(process.execPath, ["server.js"], { stdio: "inherit", detached: true });
after(async () => {
  server.kill("SIGKILL");
  await pool.end();
});

async function create(item) {
  const body = JSON.stringify({ item });
  // A new connection for each request, so that the primary spreads the requests over its workers.
  const headers = { "content-type": "application/json", connection: "close" };
  const response = await fetch(url, { method: "POST", headers, body });
  assert.equal(response.status, 201);
  return response.json();
}

/** Creates orders until each of the three workers has answered. */
async function createWithAllWorkers() {
  const deadline = Date.now() + 60_000;
  const orders = [];
  while (nodes.size < 3) {
    assert.ok(Date.now() < deadline, `only nodes ${[...nodes]} have answered`);
    try {
      const order = await create("early");
      orders.push(order);
      nodes.add(layouts.SNOWMINT.decode(order.id).node);
    } catch (error) {
      if (error.cause?.code !== "ECONNREFUSED") throw error;
      await setTimeout(50);
    }
  }
  return orders;
}

test("three workers insert orders with different IDs", { timeout: 120_000 }, async () => {
  const orders = await createWithAllWorkers();
  orders.push(...(await Promise.all(Array.from({ length: 300 }, (_, i) => create(`item ${i}`)))));

  const ids = orders.map((order) => order.id);
  assert.ok(ids.every((id) => typeof id === "string"));
  assert.equal(new Set(ids).size, ids.length);

  const { rows } = await pool.query("SELECT id::text, pg_typeof(id)::text AS type FROM orders");
  assert.deepEqual(new Set(rows.map((row) => row.id)), new Set(ids));
  assert.ok(rows.every((row) => row.type === "bigint"));

  const last = orders.at(-1);
  assert.deepEqual(await (await fetch(`${url}/${last.id}`)).json(), last);
  assert.equal((await fetch(`${url}/1`)).status, 404);
});

test("workers that end give their nodes back", { timeout: 60_000 }, async () => {
  process.kill(-server.pid, "SIGTERM");
  const [code] = await once(server, "exit");
  assert.equal(code, 0);
  // Their windows last up to 30 s more. Only a node that was given back is free before its end.
  const generator = await Snowflake.lease({ store: new PgStore(pool), namespace: "orders" });
  assert.ok(nodes.has(generator.node), `node ${generator.node} is new`);
  await generator.close();
});
