// Leases in a Durable Object, in workerd: the tests of every store, and a workerd that is killed, stopped and set back.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { folder } from "../tests/support.mjs";
import { blockOf, projectOf, version } from "./tools.mjs";
import { bundled, NEWEST, startWorkerd, workerOf } from "./workers.mjs";

const guide = blockOf("serverless.md", "DurableObjectStore");
const { home } = projectOf(
  {
    "guide.mjs": guide,
    "patient.mjs": `
      import { Snowflake } from "snowmint";
      import { DurableObjectStore, SnowmintObject as Quick } from "snowmint/stores/cloudflare";
      let slow = false;
      export class SnowmintObject extends Quick {
        async write(...args) {
          while (slow) await new Promise((resolve) => setTimeout(resolve, 20));
          return super.write(...args);
        }
      }
      let store;
      const leases = {};
      export default { async fetch(request, env) {
        const [, name, giveUpMs] = new URL(request.url).pathname.split("/");
        if (name === "slow") return Response.json((slow = giveUpMs === "true"));
        store ??= new DurableObjectStore(env.SNOWMINT, { timeoutMs: 1000 });
        const mint = async () => {
          leases[name] ??= await Snowflake.lease({ store, namespace: name, windowMs: 1000, maxAheadMs: 0 });
          return { id: String(await leases[name].nextIdAsync()), node: leases[name].node };
        };
        const giveUp = new Promise((resolve) => setTimeout(() => resolve("gave up"), giveUpMs));
        return Response.json(await Promise.race([mint(), giveUp]).catch(({ name, code }) => ({ name, code })));
      } };`,
  },
  { addon: false },
);
for (const [name, from] of [
  ["object-worker.mjs", import.meta.dirname],
  ["suites.mjs", import.meta.dirname],
  ["asserting.mjs", join(import.meta.dirname, "../tests")],
  ["leases.mjs", join(import.meta.dirname, "../tests")],
  ["verbs.mjs", join(import.meta.dirname, "../tests")],
])
  copyFileSync(join(from, name), join(home, name));

const KILLS = Number(process.env.SNOWMINT_KILLS ?? 4);
const OBJECTS = `compatibilityFlags = ["nodejs_compat"], durableObjectNamespaces = [
  (className = "SnowmintObject", uniqueKey = "snowmint", enableSql = SQL)]`;
const bindingOf = (more) =>
  `bindings = [(name = "SNOWMINT", durableObjectNamespace = (className = "SnowmintObject"${more}))]`;
let files;
before(async () => {
  files = await bundled(home, "object-worker.mjs", "objects");
});

/** The worker that has the object, whose records are in memory, or in the service `disk`. */
const owner = ({ date = NEWEST, sql = true, storage = "inMemory = void" } = {}) =>
  workerOf(
    "objects",
    files,
    date,
    `, ${OBJECTS.replace("SQL", sql)}, durableObjectStorage = (${storage}), ${bindingOf("")}`,
  );
/** Another worker, whose isolate leases from the object of the worker `main`. */
const guest = () =>
  workerOf(
    "objects",
    files,
    NEWEST,
    `, compatibilityFlags = ["nodejs_compat"], ${bindingOf(', serviceName = "main"')}`,
  );

const WORKERS = ["main", "second", "third"];

/** Starts workerd with three workers over one object on a disk. */
async function threeWorkers(t, path) {
  const disk = join(path, "objects");
  mkdirSync(disk, { recursive: true });
  const server = await startWorkerd(
    home,
    { main: owner({ storage: 'localDisk = "disk"' }), second: guest(), third: guest() },
    { services: [`(name = "disk", disk = (path = "${disk}", writable = true))`] },
  );
  t.after(() => server.stop());
  return server;
}

for (const [kind, sql] of [
  ["SQLite", true],
  ["key-value", false],
])
  test(`a Durable Object of workerd ${version("workerd")} passes the tests of every store: ${kind}`, async (t) => {
    const server = await startWorkerd(home, { main: owner({ sql }) });
    t.after(() => server.stop());
    const results = await server.ask("main", "suites", 120_000);
    assert.ok(results.length >= 13, `${results.length}`);
    for (const { name, error } of results) await t.test(name, () => assert.ok(!error, error));
  });

test("the worker of the guide serves IDs", async (t) => {
  const object = `${OBJECTS.replace("SQL", true)}, durableObjectStorage = (inMemory = void), ${bindingOf("")}`;
  const worker = workerOf("guide", await bundled(home, "guide.mjs", "guide"), NEWEST, `, ${object}`);
  const server = await startWorkerd(home, { main: worker });
  t.after(() => server.stop());
  const ids = [];
  for (let call = 0; call < 10; call++) ids.push(await server.ask("main"));
  assert.ok(ids.every((id) => id > 1e17) && ids[9] > ids[0], `${ids}`);
});

test("wrong arguments, and a binding of another object, are refused", async (t) => {
  const other = `bindings = [(name = "SNOWMINT", durableObjectNamespace = (className = "SnowmintObject")),
    (name = "OTHER", durableObjectNamespace = (className = "Other"))]`;
  const objects = OBJECTS.replace("SQL)]", 'true), (className = "Other", uniqueKey = "other")]');
  const worker = workerOf("objects", files, NEWEST, `, ${objects}, durableObjectStorage = (inMemory = void), ${other}`);
  const server = await startWorkerd(home, { main: worker });
  t.after(() => server.stop());
  const told = await server.ask("main", "wrong");
  const needed = "TypeError: DurableObjectStore needs a binding of a Durable Object namespace, such as env.SNOWMINT";
  assert.deepEqual(told.splice(0, 2), [needed, needed]);
  assert.equal(told.shift(), "TypeError: name is a string of 1 character or more");
  assert.equal(told.shift(), 'TypeError: locationHint is a string, such as "weur"');
  assert.match(told.shift(), /^RangeError: timeoutMs/);
  assert.match(told.shift(), /^TypeError: DurableObjectStore has no option prefix/);
  assert.match(told.shift(), /^STORE_UNAVAILABLE: the Durable Object snowmint: .*read/);
});

test("a worker of an old compatibility date hears which date its object needs", async (t) => {
  const server = await startWorkerd(home, { main: owner({ date: "2024-03-01" }) });
  t.after(() => server.stop());
  const { code, message } = await server.ask("main", "mint/old");
  assert.equal(code, "STORE_UNAVAILABLE");
  assert.match(message, /compatibility date of 2024-04-03 or later/);
});

/** A ledger of the IDs that workers answered, which must increase for each node, as one process reads them one by one. */
class Ledger {
  #last = new Map();
  count = 0;

  note({ node, ids, code, message, error }, allowed = []) {
    assert.equal(error, undefined, error);
    if (code) assert.ok(allowed.includes(code), `${code}: ${message}`);
    for (const id of ids ?? []) {
      assert.ok(BigInt(id) > (this.#last.get(node) ?? 0n), `${id} of node ${node} after ${this.#last.get(node)}`);
      this.#last.set(node, BigInt(id));
      this.count++;
    }
    return node;
  }
}

test("three workers over one object repeat nothing while workerd is killed, and while it is stopped", async (t) => {
  const path = folder(t);
  const ledger = new Ledger();
  for (let round = 0; round < KILLS; round++) {
    const server = await threeWorkers(t, path);
    const mint = async (worker) => ledger.note(await server.ask(worker, "mint/orders"));
    const nodes = [];
    for (const worker of WORKERS) nodes.push(await mint(worker));
    assert.equal(new Set(nodes).size, 3, `${nodes}`);
    for (const end = Date.now() + 1200; Date.now() < end; ) for (const worker of WORKERS) await mint(worker);
    if (round % 2) {
      server.signal("SIGSTOP");
      // Longer than the window of 1 s.
      await sleep(1500);
      server.signal("SIGCONT");
      // The first call after it renews, and mints on with the same node.
      for (const [at, worker] of WORKERS.entries()) assert.equal(await mint(worker), nodes[at]);
    }
    await server.stop();
  }
  assert.ok(ledger.count > 1000, `${ledger.count}`);
});

test("a named node in an object repeats nothing over kills and a clock set back", async (t) => {
  const path = folder(t);
  const ledger = new Ledger();
  const asked = (options) => `mint/orders/${encodeURIComponent(JSON.stringify({ node: 5, ...options }))}`;
  const start = async () => {
    const server = await threeWorkers(t, path);
    const mint = (worker, options) => server.ask(worker, asked(options));
    return { server, mint };
  };
  const first = await start();
  assert.equal(ledger.note(await first.mint("main")), 5);
  const refused = await first.mint("second", { maxWaitMs: 50 });
  assert.equal(refused.code, "NODES_EXHAUSTED", JSON.stringify(refused));
  assert.match(refused.message, /node 5 is held until 20\d\d-.*its holder is /);
  assert.equal(ledger.note(await first.mint("main")), 5);
  await first.server.stop();

  // The isolates of the object and of a worker, an hour behind.
  const behind = await start();
  for (const worker of ["main", "second"]) {
    assert.ok((await behind.server.ask(worker, "clock/-3600000")) < Date.now() - 3_500_000);
    const early = await behind.mint(worker, { maxWaitMs: 1500 });
    assert.equal(early.code, "NODES_EXHAUSTED", JSON.stringify(early));
  }
  await behind.server.stop();

  const restarted = await start();
  assert.equal(ledger.note(await restarted.mint("third", { maxWaitMs: 10_000 })), 5);
  assert.equal(ledger.count, 33);
});

test("a worker goes on after requests that ended while its object was slow", async (t) => {
  const object = `${OBJECTS.replace("SQL", true)}, durableObjectStorage = (inMemory = void), ${bindingOf("")}`;
  const worker = workerOf("patient", await bundled(home, "patient.mjs", "patient"), NEWEST, `, ${object}`);
  const server = await startWorkerd(home, { main: worker });
  t.after(() => server.stop());
  const ask = (path) => server.ask("main", path);
  const ids = { renewed: [], claimed: [] };
  const mint = async (name) => {
    const told = await ask(`${name}/10000`);
    assert.equal(told.node, 0, JSON.stringify(told));
    ids[name].push(told.id);
  };
  await mint("renewed");
  await sleep(1100);
  await ask("slow/true");
  assert.deepEqual(await ask("renewed/10000"), { name: "SnowmintError", code: "WINDOW_CLOSED" });
  assert.equal(await ask("claimed/100"), "gave up");
  await ask("slow/false");
  // Both at once, twice.
  for (let round = 0; round < 2; round++) await Promise.all([mint("renewed"), mint("claimed"), mint("claimed")]);
  assert.deepEqual([new Set(ids.renewed).size, new Set(ids.claimed).size], [3, 4]);
});
