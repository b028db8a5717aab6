// Leases over every kind of store, on real servers, with real processes that are killed, stopped and started.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { layouts, Snowflake } from "snowmint";
import { fresh } from "./asserting.mjs";
import { endpoint } from "./dynamo.mjs";
import { givenNode } from "./given-node.mjs";
import { leases } from "./leases.mjs";
import { shared, start } from "./servers.mjs";
import { atEnd, database, LEASED, MemoryStore, SqliteStore, sqliteAt, storeAt } from "./stores.mjs";
import { answerOf, FAKETIME, folder, hasProcesses, hold, idsOf, increasing, refusal, until } from "./support.mjs";

const ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";
/** How often holders are killed, every other time with their server. */
const KILLS = Number(process.env.SNOWMINT_KILLS ?? 2);
/** How many processes start at once. */
const PROCESSES = Number(process.env.SNOWMINT_PROCESSES ?? 3);
const noFaketime = { skip: !FAKETIME && "libfaketime is not installed" };
/** One client of each library; the verbs are tested with the others. */
const KINDS = ["pg", "mysql2/promise", "ioredis, RESP3", "redis, RESP3", "etcd", "http"];

/** An empty database for each kind on the shared server of its engine; the shared service has namespaces only. */
const databases = new Map();
function databaseOf(kind) {
  const { engine } = LEASED[kind];
  if (!databases.has(kind)) databases.set(kind, shared(engine, { newDatabase: !["etcd", "service"].includes(engine) }));
  return databases.get(kind);
}

/** A place: its URL, and a function that makes a store of a separate client there. */
const placeOf = (kind) => async (t) => {
  const { url } = await databaseOf(kind);
  return { kind, url, store: () => storeAt(t, kind, url) };
};
/** A place on a server that a test kills or stops. */
async function ownPlace(t, kind) {
  const server = await start(LEASED[kind].engine);
  atEnd(t, () => server.stop());
  return { kind, url: server.url, server, store: () => storeAt(t, kind, server.url) };
}
const sqlite = async (t) => {
  const url = join(folder(t), "ids.db");
  return { kind: "better-sqlite3", url, store: async () => sqliteAt(t, url) };
};
const memory = async () => {
  const store = new MemoryStore();
  // A store of the same records is another object.
  const verbs = ["read", "write", "list", "add", "clockMs", "toString"];
  const other = () => Object.fromEntries(verbs.map((verb) => [verb, store[verb].bind(store)]));
  return { kind: "memory", store: async () => other() };
};
const dynamodb = async (t) => {
  const url = await endpoint();
  return { kind: "dynamodb", url, store: () => storeAt(t, "dynamodb", url) };
};
const SHARED = {
  "better-sqlite3": sqlite,
  dynamodb,
  ...Object.fromEntries(KINDS.map((kind) => [kind, placeOf(kind)])),
};

const lease = (store, options) => Snowflake.lease({ store, windowMs: 1000, ...options });

/** A process that leases and mints. */
const holder = (t, { kind, url }, namespace, ledger, options = {}, variables = {}) =>
  hold(t, "leasing.mjs", variables, [kind, url, namespace, ledger, JSON.stringify(options)]);

// Most of them wait: for windows of real clocks, and for processes.
describe("stores", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries({ memory, ...SHARED }))
    describe(kind, { concurrency: 1 }, () => {
      leases(test, place, { hasClock: KINDS.includes(kind) && kind !== "etcd" });
    });

  for (const [kind, place] of Object.entries(SHARED).filter(([kind]) => hasProcesses(kind)))
    describe(`${kind}, processes`, { concurrency: 1 }, () => {
      test("processes that start at once have nodes of their own and repeat nothing", async (t) => {
        const at = await place(t);
        const [namespace, path] = [fresh(), folder(t)];
        const ledgers = Array.from({ length: PROCESSES }, (_, number) => join(path, `${number}`));
        const holders = ledgers.map((ledger) => holder(t, at, namespace, ledger));
        const nodes = await Promise.all(holders.map(async (child) => (await answerOf(child)).node));
        assert.equal(new Set(nodes).size, PROCESSES);
        await until(() => idsOf(...ledgers).flat().length > 100 * PROCESSES, "100 IDs each");
        for (const child of holders) child.kill("SIGKILL");
        await Promise.all(holders.map(({ gone }) => gone));
        const ids = idsOf(...ledgers).flat();
        assert.equal(new Set(ids).size, ids.length);
      });

      test("a holder that is stopped and wakes after its node was given away mints nothing more", async (t) => {
        const at = await place(t);
        const [namespace, path] = [fresh(), folder(t)];
        const ledgers = [join(path, "first"), join(path, "second")];
        const options = { layout: ONE_NODE, windowMs: 1000 };
        const someOf = (ledger) => until(() => idsOf(ledger).flat().length > 10, "some IDs");
        const first = holder(t, at, namespace, ledgers[0], options);
        assert.equal((await answerOf(first)).node, 0);
        await someOf(ledgers[0]);
        first.send("stop");
        const second = holder(t, at, namespace, ledgers[1], options);
        assert.equal((await answerOf(second)).node, 0);
        await someOf(ledgers[1]);
        first.kill("SIGCONT");
        // It finds its node in other hands, and says so.
        assert.equal((await first.gone).code, 1);
        second.kill("SIGKILL");
        await second.gone;
        const [early, late] = idsOf(...ledgers);
        assert.ok(early.at(-1) < late[0]);
      });

      test("kills of holders and of the server repeat nothing", async (t) => {
        const at = KINDS.includes(kind) ? await ownPlace(t, kind) : await place(t);
        const [namespace, path] = [fresh(), folder(t)];
        const ledgers = [];
        for (let round = 0; round < KILLS; round++) {
          const mine = [0, 1].map((number) => join(path, `${round}-${number}`));
          ledgers.push(...mine);
          const holders = mine.map((ledger) => holder(t, at, namespace, ledger, { windowMs: 1000 }));
          await Promise.all(holders.map(answerOf));
          // In the middle of whatever they do.
          await sleep(100 + Math.random() * 200);
          if (at.server && round % 2) await at.server.kill();
          for (const child of holders) child.kill("SIGKILL");
          await Promise.all(holders.map(({ gone }) => gone));
          if (at.server && round % 2) await at.server.restart();
        }
        const ids = idsOf(...ledgers).flat();
        assert.ok(ids.length > 100 * KILLS, `${ids.length}`);
        assert.equal(new Set(ids).size, ids.length);
      });
    });

  const slotsOf = async (t) => ({ kind: "slots", url: folder(t) });
  for (const [kind, place] of Object.entries({ slots: slotsOf, ...SHARED }).filter(([kind]) => hasProcesses(kind)))
    test(`${kind}: a named node repeats nothing over a pause, a kill and a clock set back`, noFaketime, async (t) => {
      const at = await place(t);
      const namespace = fresh();
      const start = (ledger, options, variables) => holder(t, at, namespace, ledger, options, variables);
      const pause = (child) => child.send("stop");
      await givenNode(t, start, { pause, ownClock: kind !== "http", locked: kind === "slots" });
    });

  for (const kind of KINDS)
    describe(`${kind}, trouble`, { concurrency: 1 }, () => {
      test("while the server hangs IDs go on to the window's end, and after that it is found again", async (t) => {
        const { server, store } = await ownPlace(t, kind);
        const gen = await lease(await store(), { namespace: fresh(), windowMs: 1500 });
        const ids = [];
        // On a busy machine a window may be over before it is used.
        const mint = async () => {
          const id = await gen.nextIdAsync().catch(() => undefined);
          return id !== undefined && ids.push(id);
        };
        await until(mint, "an ID");
        await server.pause();
        try {
          const { end } = gen.window;
          await until(() => {
            try {
              ids.push(gen.nextId());
            } catch (error) {
              assert.equal(error.code, "WINDOW_CLOSED");
              return true;
            }
          }, "the end of the window");
          assert.ok(Date.now() >= end - 5, "not before the window's end");
          const since = performance.now();
          await assert.rejects(gen.nextIdAsync(), { code: "WINDOW_CLOSED" });
          assert.ok(performance.now() - since < 60_000);
        } finally {
          await server.resume();
        }
        await until(() => gen.status().renewalFailures === 0 && gen.window.end > Date.now(), "a renewal");
        await until(mint, "an ID after the renewal");
        increasing(ids);
        assert.equal(gen.status().lost, null);
        await gen.close();
      });
    });
});

test("a namespace whose record is not a layout is refused, and left as it is", async () => {
  for (const value of ["", "no layout", "x".repeat(900)]) {
    const store = new MemoryStore();
    await store.write("layouts/orders", new TextEncoder().encode(value), 0);
    await assert.rejects(lease(store, { namespace: "orders" }), {
      code: "INVALID_STORE",
      message: /the record of namespace orders is not a layout/,
    });
    assert.equal((await store.read("layouts/orders")).version, 1);
  }
});

test("threads that lease from one store have nodes of their own, and 80,000 IDs are distinct", async (t) => {
  const { url } = await sqlite(t);
  const namespace = fresh();
  const script = `const { parentPort, workerData } = require("node:worker_threads");
    Promise.all([import(workerData.snowmint), import(workerData.stores)]).then(async ([{ Snowflake }, { Database, SqliteStore }]) => {
      const gen = await Snowflake.lease({ store: new SqliteStore(new Database(workerData.url)), namespace: "${namespace}", windowMs: 30_000 });
      const ids = BigUint64Array.from({ length: 20_000 }, () => gen.nextId());
      parentPort.postMessage({ node: gen.node, ids });
      // A thread that ends gives its node back, and others are still to lease.
      parentPort.on("message", () => {});
    });`;
  const workerData = { snowmint: import.meta.resolve("snowmint"), stores: import.meta.resolve("./stores.mjs"), url };
  const told = await Promise.all(
    Array.from({ length: 4 }, () => {
      const worker = new Worker(script, { eval: true, workerData });
      atEnd(t, () => worker.terminate());
      return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    }),
  );
  assert.equal(new Set(told.map(({ node }) => node)).size, 4);
  assert.equal(new Set(told.flatMap(({ ids }) => [...ids])).size, 80_000);
});

test("Node and Python lease from one namespace together, each seeing what the other holds", async (t) => {
  const python = new URL("../../.venv/bin/python", import.meta.url).pathname;
  const { url } = await databaseOf("redis, RESP3");
  const store = await storeAt(t, "redis, RESP3", url);
  const namespace = fresh();
  const gen = await lease(store, { namespace, windowMs: 10_000 });
  assert.equal(gen.node, 0);
  const program = `import sys
from snowmint import Snowflake
with Snowflake(store=sys.argv[1], namespace=sys.argv[2]) as generator:
    print(generator.node, generator.next_id())`;
  const { stdout } = await promisify(execFile)(python, ["-c", program, url, namespace]);
  const [node, id] = stdout.split(" ");
  assert.equal(node, "1");
  const next = await lease(await storeAt(t, "redis, RESP3", url), { namespace, windowMs: 30_000 });
  // The one that Python gave back.
  assert.equal(next.node, 1);
  assert.ok((await next.nextIdAsync()) > BigInt(id));
  await Promise.all([gen.close(), next.close()]);
});

// A store whose answers get lost, come late or make no sense.

/** A store over records in memory; `fate` decides the result of each write. */
function faulty(fate = () => "fine") {
  const store = new MemoryStore();
  return {
    read: (key) => store.read(key),
    list: (prefix) => store.list(prefix),
    clockMs: async () => null,
    toString: () => "a store",
    async write(key, value, expected) {
      const becomes = key.startsWith("leases/") ? fate() : "fine";
      if (becomes === "refused") throw new Error("no connection");
      const written = await store.write(key, value, expected);
      if (becomes === "unheard") throw new Error("the answer was lost");
      return written;
    },
  };
}

/** Answers the calls of a moment together, as a client does that reads several answers at once. */
function together(store) {
  let waiting = [];
  const answerAll = async () => {
    const calls = waiting;
    waiting = [];
    const answers = [];
    for (const { verb, args } of calls) answers.push(await store[verb](...args));
    for (const [at, { resolve }] of calls.entries()) resolve(answers[at]);
  };
  const call = (verb, args) =>
    new Promise((resolve) => {
      if (!waiting.length) setTimeout(answerAll, 20);
      waiting.push({ verb, args, resolve });
    });
  const verbs = ["read", "write", "list", "clockMs"].map((verb) => [verb, (...args) => call(verb, args)]);
  return Object.fromEntries(verbs);
}

test("leases whose answers arrive together keep their own nodes, windows and layouts", async () => {
  const memory = new MemoryStore();
  const store = together(memory);
  const wanted = [3, 7, 12, 40].map((node, at) => ({
    namespace: `at-once-${node}`,
    layout: `time:4${at},node:10,sequence:${12 - at};epoch=2025-01-01T00:00:00Z`,
    node,
    windowMs: 1000 + 400 * at,
  }));
  const check = async (gen, { namespace, layout, node, windowMs }) => {
    assert.equal(gen.node, node);
    assert.equal(gen.status().lost, null);
    const { value } = await memory.read(`layouts/${namespace}`);
    const text = new TextDecoder().decode(value);
    assert.ok(text.startsWith(layout.split(";")[0]), `${text} is not ${layout}`);
    // The window of a generator is the window that its record has.
    const record = await memory.read(`leases/${namespace}/${node}`);
    const end = Number(new DataView(record.value.buffer, record.value.byteOffset).getBigInt64(32, true));
    assert.ok(
      gen.window.end <= end && gen.window.end - Date.now() <= windowMs,
      `${gen.window.end}, in the store ${end}`,
    );
    assert.equal(gen.layout.decode(await gen.nextIdAsync()).node, node);
  };
  // With a clock of the caller the store's clock is not read in between.
  for (const clock of [undefined, () => Date.now()]) {
    const gens = await Promise.all(
      wanted.map((each) => lease(store, { ...each, clock, maxAheadMs: 0, maxWaitMs: 20_000 })),
    );
    const ends = gens.map((gen) => gen.window.end);
    for (const [at, gen] of gens.entries()) await check(gen, wanted[at]);
    const renewed = () => gens.every((gen, at) => gen.window.end > ends[at] + 1000);
    await until(renewed, "renewals").catch((error) => {
      throw new Error(gens.map((gen) => JSON.stringify(gen.status())).join("\n"), { cause: error });
    });
    for (const [at, gen] of gens.entries()) await check(gen, wanted[at]);
    await Promise.all(gens.map((gen) => gen.close()));
  }
});

test("a claim whose answer is lost grants nothing until a read shows it", async () => {
  const fates = ["unheard"];
  const gen = await lease(
    faulty(() => fates.shift() ?? "fine"),
    { namespace: "a" },
  );
  assert.equal(gen.node, 0);
  const refused = ["refused"];
  const other = await lease(
    faulty(() => refused.shift() ?? "fine"),
    { namespace: "a" },
  );
  assert.equal(other.node, 0);
  await Promise.all([gen.close(), other.close()]);
});

test("a claim without any answer rejects with what the store said", async () => {
  const away = (answer) => async (key) => {
    if (key.startsWith("layouts/")) return answer;
    throw new Error("no connection");
  };
  const store = { ...faulty(), read: away(null), write: away(1), list: async () => [] };
  await assert.rejects(lease(store, { namespace: "a" }), {
    name: "SnowmintError",
    code: "STORE_UNAVAILABLE",
    message: "a store: no connection",
  });
});

test("a node without a record begins at the floor that a fence has written", async () => {
  const store = faulty();
  const write = async (key, text) => {
    const found = await store.read(key);
    const before = found ? new TextDecoder().decode(found.value) : "";
    await store.write(key, new TextEncoder().encode(before + text), found?.version ?? 0);
  };
  const floor = Date.now() + 5000;
  await write("fence/floor", `until=${floor} skip=0`);
  // The namespace is made before this fence, and has node 0.
  await store.write("layouts/old", new TextEncoder().encode(String(layouts.SNOWMINT)), 0);
  const held = await lease(store, { namespace: "old" });
  await write("layouts/old", ` floor=${floor}`);
  // Another object, which shares no lease.
  const other = { ...store };
  const refused = { code: "NODES_EXHAUSTED" };
  for (const namespace of ["old", "new"]) await assert.rejects(lease(other, { namespace, maxWaitMs: 0 }), refused);
  for (const namespace of ["old", "new"]) {
    const gen = await lease(other, { namespace, maxWaitMs: 20_000 });
    assert.equal(gen.node, namespace === "old" ? 1 : 0);
    assert.ok(gen.layout.decode(await gen.nextIdAsync()).timestampMs >= floor);
    await gen.close();
  }
  await held.close();
});

test("vanished records close their holder, and stop claims until a fence", async () => {
  const store = faulty();
  const gone = new Set();
  const without = {
    ...store,
    read: async (key) => (gone.has(key) ? null : store.read(key)),
    write: async (key, value, expected) => (gone.has(key) ? null : store.write(key, value, expected)),
    list: async (prefix) => (await store.list(prefix)).filter(({ name }) => !gone.has(prefix + name)),
  };
  const options = { namespace: "a", maxWaitMs: 20_000 };
  const [first, second] = [await lease(without, options), await lease({ ...without }, options)];
  assert.deepEqual([first.node, second.node], [0, 1]);
  gone.add("leases/a/1");
  await until(() => second.status().lost !== null, "the holder is closed");
  assert.match(second.status().lost, /the node's record has vanished from the store/);
  await assert.rejects(lease({ ...without }, { namespace: "a" }), {
    code: "STORE_UNAVAILABLE",
    message: /2 nodes had a record, and only 1 have one now.*snowmint fence/,
  });
  await first.nextIdAsync();
  await first.close();
});

test("a claim of a store that reads and does not write rejects with what the store said", async (t) => {
  let [fate, writes] = ["fine", 0];
  const store = faulty(() => {
    writes++;
    return fate;
  });
  // From here on the namespace has a layout.
  await (await lease(store, { namespace: "a" })).close();
  fate = "refused";
  for (const [maxWaitMs, most] of [
    [60_000, 3],
    [0, 1],
  ]) {
    writes = 0;
    await assert.rejects(lease(store, { namespace: "a", maxWaitMs }), {
      code: "STORE_UNAVAILABLE",
      message: "a store: no connection",
    });
    assert.equal(writes, most);
  }

  const path = join(folder(t), "ids.db");
  await (await lease(sqliteAt(t, path), { namespace: "a" })).close();
  const readonly = new SqliteStore(database(t, path, { readonly: true }));
  await assert.rejects(lease(readonly, { namespace: "a" }), {
    code: "INVALID_STORE",
    message: /readonly database/,
  });
  const locked = sqliteAt(t, path, { timeoutMs: 100 });
  const locker = database(t, path);
  locker.exec("BEGIN IMMEDIATE");
  await assert.rejects(lease(locked, { namespace: "a", maxWaitMs: 100 }), {
    code: "STORE_UNAVAILABLE",
    message: /database is locked/,
  });
  locker.exec("ROLLBACK");
  await (await lease(locked, { namespace: "a" })).close();
});

test("renewals that are not answered are repeated, counted, and mended by the next", async () => {
  let fate = "fine";
  // A clock that waits for the test: on a busy machine the window would end before the failures are counted.
  let now = Date.now();
  const gen = await lease(
    faulty(() => fate),
    { namespace: "a", windowMs: 2000, clock: () => now },
  );
  for (const trouble of ["unheard", "refused"]) {
    const { end } = gen.window;
    fate = trouble;
    await until(() => gen.status().renewalFailures > 1, "two failures");
    gen.nextId();
    fate = "fine";
    now += 500;
    await until(() => gen.status().renewalFailures === 0, "a renewal");
    assert.ok(gen.window.end > end);
  }
  await gen.close();
});

test("answers that make no sense are no grants", async () => {
  const nonsense = [0, -1, 1.5, "1", true, undefined, {}, Number.NaN, 2 ** 53, 1n];
  for (const answer of nonsense) {
    const store = { ...faulty(), write: async () => answer };
    await assert.rejects(lease(store, { namespace: "a" }), { code: "STORE_UNAVAILABLE" }, String(answer));
  }
  const records = [{}, [], 5, { value: "text", version: 1 }, { value: new Uint8Array(), version: 0 }];
  for (const record of records) {
    for (const verbs of [{ read: async () => record }, { list: async () => [record] }]) {
      await assert.rejects(lease({ ...faulty(), ...verbs }, { namespace: "a" }), { code: "STORE_UNAVAILABLE" });
    }
  }
  for (const ms of ["now", Number.NaN, undefined])
    await assert.rejects(lease({ ...faulty(), clockMs: async () => ms }, { namespace: "a" }), {
      code: "STORE_UNAVAILABLE",
    });
});

test("records that are none are passed over and told, and one of a later version is an error", async () => {
  const store = faulty();
  await store.write("leases/a/0", new Uint8Array(1024), 0);
  await store.write("leases/a/x", new Uint8Array(3), 0);
  for (const name of ["4294967296", "0x1", "01", ""]) await store.write(`leases/a/${name}`, new Uint8Array(3), 0);
  const gen = await lease(store, { namespace: "a" });
  assert.equal(gen.node, 1);
  assert.deepEqual(gen.status().skipped, ["a store: leases/a/0"]);
  const { value } = await store.read("leases/a/1");
  value[8] = 9;
  await store.write("leases/b/0", value, 0);
  await assert.rejects(lease(store, { namespace: "b" }), { code: "STORE_UNAVAILABLE", message: /version 9/ });
  await gen.close();
});

test("a window far beyond the store's clock is refused, as this clock or that of the last holder is wrong", async () => {
  const slow = { ...faulty(), clockMs: async () => Date.now() - 2 * 3_600_000 };
  await assert.rejects(lease(slow, { namespace: "a" }), { code: "STORE_UNAVAILABLE", message: /hour.*store's clock/ });
  const near = { ...faulty(), clockMs: async () => Date.now() - 60_000 };
  const gen = await lease(near, { namespace: "a" });
  assert.ok(Math.abs(gen.status().skewMs - 60_000) < 30_000);
  await gen.close();
});

test("whatever callers' clocks say, leases of one node after another repeat nothing", async () => {
  const store = faulty();
  const layout = "time:41,node:1,sequence:3;epoch=2025-01-01T00:00:00Z;tick=10ms";
  const start = Date.UTC(2026, 0, 1);
  const seen = new Set();
  // The same script each time.
  let seed = 42;
  const below = (end) => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) % end;
  };
  for (let round = 0; round < 500; round++) {
    let now = start + round * 500 + below(20_000);
    const clock = () => (now += below(30) - 10);
    let gen;
    try {
      gen = await lease(store, { namespace: "clocks", layout, clock, maxWaitMs: 0 });
    } catch (error) {
      assert.equal(error.code, "NODES_EXHAUSTED");
      continue;
    }
    for (let call = below(60); call > 0; call--) {
      try {
        const id = gen.tryNextId();
        assert.ok(!seen.has(id), `${id} twice`);
        seen.add(id);
      } catch (error) {
        assert.ok(["EXHAUSTED", "CLOCK_BACKWARDS", "WINDOW_CLOSED", "BEFORE_EPOCH"].includes(error.code), error.code);
      }
    }
    if (below(3)) await gen.close();
  }
  assert.ok(seen.size > 500, `${seen.size}`);
});

test("who takes a record away is noticed: onLost is told once, and every call says why", async () => {
  const store = new MemoryStore();
  const errors = [];
  const gen = await lease(store, { namespace: "a", onLost: (error) => errors.push(error) });
  const record = await store.read("leases/a/0");
  const other = record.value.slice();
  other[40] ^= 1;
  await store.write("leases/a/0", other, record.version);
  await until(() => errors.length > 0, "onLost");
  assert.match(errors[0].message, /lease of node 0 was lost.*another holder has the node/);
  for (const call of ["nextId", "tryNextId", "nextIds"])
    assert.equal(refusal("WINDOW_CLOSED", () => gen[call](5)).message, errors[0].message);
  await assert.rejects(gen.nextIdAsync(), { code: "WINDOW_CLOSED", message: errors[0].message });
  await gen.close();
  const next = await lease(store, { namespace: "a", windowMs: 30_000 });
  assert.ok((await next.nextIdAsync()) > 0n);
  await next.close();
  await sleep(50);
  assert.equal(errors.length, 1);
});

test("a node that is vouched for while it is being claimed is given back, and another one taken", async () => {
  const layout = "unused:1,time:43,node:8,sequence:12;epoch=1735689500000;tick=1ms";
  const store = faulty();
  const { write } = store;
  let vouched;
  store.write = (...words) => {
    if (words[0] === "leases/a/0") vouched ??= new Snowflake({ layout, node: 0 });
    return write(...words);
  };
  const gen = await lease(store, { namespace: "a", layout, windowMs: 30_000 });
  assert.equal(gen.node, 1);
  assert.notEqual(await gen.nextIdAsync(), vouched.nextId());
  const { value } = await store.read("leases/a/0");
  assert.equal(value[12], 1, "given back");
  await gen.close();
});

test("a window and what is minted ahead are an hour at most, so that nobody waits longer for a node", async () => {
  let writes = 0;
  const store = faulty(() => {
    writes++;
    return "fine";
  });
  const gen = await lease(store, { namespace: "a", windowMs: 3_599_000, maxAheadMs: 1000 });
  assert.equal(gen.window.end - gen.window.start, 3_600_000);
  const wrong = [
    { windowMs: 3_600_001 },
    { windowMs: 1e12 },
    { windowMs: 2 ** 63 },
    { windowMs: 1000, maxAheadMs: 3_599_001 },
    { maxAheadMs: 2 ** 63 },
  ];
  const error = {
    code: "INVALID_LAYOUT",
    message: /^windowMs must be at least 1000 for this layout, and at most 3600000 with maxAheadMs added, not \d+$/,
  };
  for (const options of wrong) {
    // This holds for generators that share a lease too.
    for (const namespace of ["a", "b"]) await assert.rejects(lease(store, { namespace, ...options }), error);
  }
  assert.equal(writes, 1);
  await gen.close();
  // Nobody waits for a node that is vouched for.
  assert.ok(new Snowflake({ node: 7, maxAheadMs: 2 ** 63 }).nextId() > 0n);
});

test("a store that never answers holds nobody up but who waits for it", { timeout: 60_000 }, async () => {
  let hangs = false;
  const store = faulty();
  const { write } = store;
  store.write = (...words) => (hangs ? new Promise(() => {}) : write(...words));
  const gen = await lease(store, { namespace: "a", windowMs: 1000 });
  hangs = true;
  await sleep(1100);
  // A call that blocks the thread would wait in vain for 1 s, and 100 of them for longer than the test may take.
  for (let call = 0; call < 100; call++) refusal("WINDOW_CLOSED", () => gen.nextId());
  await assert.rejects(gen.nextIdAsync(), { code: "WINDOW_CLOSED" });
});

test("a blocked event loop ends a window, and nextIdAsync renews first", async () => {
  const gen = await lease(new MemoryStore(), { windowMs: 1000, maxWaitMs: 20_000 });
  const before = await gen.nextIdAsync();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200);
  refusal("WINDOW_CLOSED", () => gen.nextId());
  assert.ok((await gen.nextIdAsync()) > before);
  await gen.close();
});

test("what is no store, or makes no sense with one, is refused", async () => {
  const store = new MemoryStore();
  const cases = [
    [{ store: { read() {} } }, { name: "TypeError", message: /no write.*snowmint\/stores/ }],
    [
      { store, node: 5, exclude: [5] },
      { code: "INVALID_NODE", message: /both asked for and excluded/ },
    ],
    [
      { store, namespace: "" },
      { code: "INVALID_NODE", message: /1 to 64/ },
    ],
    [{ store, namespace: "../a" }, { code: "INVALID_NODE" }],
    [{ store, namespace: 5 }, { name: "TypeError" }],
    [
      { store, windowMs: 999 },
      { code: "INVALID_LAYOUT", message: /at least 1000/ },
    ],
    [{ store, windowMs: -1 }, { code: "INVALID_ID" }],
    [{ store, exclude: [1024] }, { code: "INVALID_NODE" }],
    [{ store, onLost: "mail" }, { name: "TypeError" }],
    [{ store, layout: "baidu" }, { code: "TIME_OVERFLOW" }],
    [{ store, layout: "time:41,node:10,sequence:12;epoch=2100-01-01T00:00:00Z" }, { code: "BEFORE_EPOCH" }],
  ];
  for (const [options, error] of cases) await assert.rejects(Snowflake.lease(options), error, JSON.stringify(options));
  const gen = await Snowflake.lease({ store });
  assert.equal(gen.node, 0);
  assert.match(gen.status().namespace, /^@/);
  assert.equal(gen.layout.name, layouts.SNOWMINT.name);
  // Beside that one too, which is of no name.
  await assert.rejects(Snowflake.lease({ store, namespace: "" }), { code: "INVALID_NODE", message: /1 to 64/ });
  await gen.close();
});

const FORGED = "web\x1b[2J\nok    store       fine\u202e\x9b";
const ESCAPED = String.raw`web\u{1b}[2J\nok    store       fine\u{202e}\u{9b}`;

test("a label of another program is escaped", async (t) => {
  const path = join(folder(t), "ids.db");
  const store = sqliteAt(t, path, { allowUnsafe: true });
  const options = { store, namespace: "orders", node: 0, windowMs: 600_000 };
  const holder = await Snowflake.lease(options);
  atEnd(t, () => holder.close());
  const { value, version } = await store.read("leases/orders/0");
  // As a client without our checks writes it: the label is in these bytes of the record.
  const record = Uint8Array.from(value);
  record.fill(0, 56, 116).set(new TextEncoder().encode(FORGED), 56);
  assert.ok(await store.write("leases/orders/0", record, version));
  const other = sqliteAt(t, path, { allowUnsafe: true });
  const refused = await Snowflake.lease({ ...options, store: other, maxWaitMs: 0 }).catch((error) => error);
  assert.equal(refused.code, "NODES_EXHAUSTED");
  assert.ok(refused.message.endsWith(` (its holder is ${ESCAPED})`), refused.message);
});
