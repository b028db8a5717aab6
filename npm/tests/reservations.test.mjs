// Reservations: processes start and mint while the store does not answer. tests/stores/reservations.rs has the rest.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Snowflake } from "snowmint";
import { HttpStore, MemoryStore } from "snowmint/stores";
import * as browser from "./node_modules/snowmint/dist/browser.mjs";
import { start } from "./servers.mjs";
import { answerOf, atEnd, folder, hold, slots, until } from "./support.mjs";

/** A process that leases over a store, reports its node, and writes IDs to a file until it is killed. */
const MINTER = `
  import { appendFileSync } from "node:fs";
  import { Snowflake } from "snowmint";
  const gen = await Snowflake.lease({ store: process.env.STORE, reserve: "24h", windowMs: 1000 });
  process.send(gen.node);
  setInterval(() => appendFileSync(process.env.LEDGER, gen.nextIds(10).join("\\n") + "\\n"), 1);
`;

test("processes start again while postgres is dead", async (t) => {
  slots(t);
  const ledger = join(folder(t), "ledger");
  writeFileSync(ledger, "");
  const server = await start("postgres");
  atEnd(t, () => server.stop());
  const run = async () => {
    const child = hold(t, MINTER, { STORE: server.url, LEDGER: ledger });
    return { child, node: await answerOf(child) };
  };
  const grows = async () => {
    const { size } = statSync(ledger);
    await until(() => statSync(ledger).size > size + 1000, "they mint");
  };
  const running = [await run(), await run()];
  const nodes = running.map(({ node }) => node);
  assert.notEqual(nodes[0], nodes[1]);
  await grows();
  await server.kill();
  for (let round = 0; round < 3; round++) {
    const { child } = running.shift();
    child.kill("SIGKILL");
    await child.gone;
    running.push(await run());
    await grows();
  }
  assert.deepEqual(running.map(({ node }) => node).sort(), nodes.sort());
  for (const { child } of running) {
    child.kill("SIGKILL");
    await child.gone;
  }
  // A killed process may have written a part of its last line.
  const ids = readFileSync(ledger, "utf8")
    .split("\n")
    .filter((id) => id.length >= 18);
  assert.ok(ids.length > 1000);
  assert.equal(new Set(ids).size, ids.length);
});

/** A store that a test makes unreachable. */
class Away extends MemoryStore {
  isThere = true;

  async read(key) {
    if (!this.isThere) throw new Error("it is not there");
    return super.read(key);
  }

  async write(...record) {
    if (!this.isThere) throw new Error("it is not there");
    return super.write(...record);
  }
}

test("status and the next generator have what the store has reserved", async (t) => {
  slots(t);
  const store = new Away();
  const first = await Snowflake.lease({ store, reserve: "24h" });
  const { window, reserved, node } = first.status();
  assert.ok(reserved.end - window.end > 80_000_000);
  await first.close();
  store.isThere = false;
  const again = await Snowflake.lease({ store, reserve: "24h" });
  assert.equal(again.node, node);
  assert.ok(again.nextId() > 0n);
  await until(() => again.status().renewalFailures, "a failed renewal");
  assert.match(again.status().renewalError, /it is not there/);
  const another = Snowflake.lease({ store, reserve: "24h", namespace: "another" });
  await assert.rejects(another, { code: "STORE_UNAVAILABLE", message: /it is not there/ });
  await again.close();
});

test("reservations that cannot be are refused", async (t) => {
  slots(t);
  const store = new MemoryStore();
  const cases = [
    [{}, /reserve needs a store of records/],
    [{ node: 5 }, /reserve needs a store of records/],
    [{ store: new HttpStore("http://127.0.0.1:9") }, /a service grants nodes by its own clock/],
    [{ store, reserve: "24 hours" }, /such as 24h: 1m to 7d/],
    [{ store, reserve: "30s" }, /such as 24h: 1m to 7d/],
    [{ store, reserve: "1m", windowMs: 20_000 }, /at least four windows/],
  ];
  for (const [options, message] of cases)
    await assert.rejects(Snowflake.lease({ reserve: "24h", ...options }), { code: "INVALID_STORE", message: message });
  await assert.rejects(Snowflake.lease({ store, reserve: 24 }), TypeError);
  await assert.rejects(Snowflake.lease({ store: {}, reserve: "24h" }), /store has no read/);
  await assert.rejects(browser.Snowflake.lease({ store, reserve: "24h" }), {
    code: "INVALID_STORE",
    message: /reserve needs a directory on a machine/,
  });
});

test("the environment gives the length", async (t) => {
  slots(t);
  atEnd(t, () => delete process.env.SNOWMINT_RESERVE);
  process.env.SNOWMINT_RESERVE = "2h";
  const gen = await Snowflake.lease({ store: new MemoryStore() });
  assert.ok(gen.status().reserved);
  await gen.close();
  process.env.SNOWMINT_RESERVE = "soon";
  await assert.rejects(Snowflake.lease({ store: new MemoryStore() }), {
    code: "INVALID_STORE",
    message: /SNOWMINT_RESERVE is "soon": reserve is a number/,
  });
});

test("many claims at once over a store of this thread leave threads of libuv's pool to its client", async (t) => {
  slots(t);
  const { lookup } = await import("node:dns/promises");
  class Slow extends MemoryStore {
    async read(key) {
      // As the client of a database does to connect.
      await lookup("localhost");
      return super.read(key);
    }
  }
  const store = new Slow();
  const names = Array.from({ length: 12 }, (_, number) => `n${number}`);
  const all = await Promise.all(names.map((namespace) => Snowflake.lease({ store, reserve: "1h", namespace })));
  assert.deepEqual(new Set(all.map(({ node }) => node)), new Set([0]));
  await Promise.all(all.map((gen) => gen.close()));
});
