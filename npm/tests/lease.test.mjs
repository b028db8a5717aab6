// Leases: file slots of this machine, in real processes and threads. Each test has a separate directory of slots.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { transform } from "esbuild";
import { Snowflake, SnowmintError } from "snowmint";
import { MemoryStore } from "snowmint/stores";
import * as browser from "./node_modules/snowmint/dist/browser.mjs";
import {
  answerOf,
  atEnd,
  countLedgers,
  exitOf,
  FAKETIME,
  fakeClock,
  folder,
  hold,
  increasing,
  refusal,
  slots,
  until,
} from "./support.mjs";

const LEASE = 'import { Snowflake } from "snowmint"; const gen = await Snowflake.lease();';
const TELL = "process.send({ node: gen.node, id: gen.nextId() });";
/** A process that leases, prints its node and an ID, and continues until it is killed. */
const HOLDER = `${LEASE} ${TELL} setInterval(() => {}, 1000);`;
/** A process that leases, prints, and ends. */
const PASSER = `${LEASE} ${TELL} process.disconnect();`;

/** How often processes are killed at random. */
const KILLS = Number(process.env.SNOWMINT_KILLS ?? 3);

const slotOf = (directory, node) => join(directory, readdirSync(directory)[0], `${node}.slot`);

test("a lease mints IDs of its node within its window, and tells of itself", async (t) => {
  slots(t);
  const gen = await Snowflake.lease();
  const ids = [gen.nextId(), ...gen.nextIds(500), gen.tryNextId(), await gen.nextIdAsync()];
  increasing(ids);
  const { start, end } = gen.window;
  assert.ok(end - start >= 2900 && end - start < 10_000, `${end - start}`);
  for (const id of ids) {
    const { node, timestampMs } = gen.layout.decode(id);
    assert.equal(node, gen.node);
    assert.ok(start <= timestampMs && timestampMs < end);
  }
  const { namespace, window, ...status } = gen.status();
  assert.match(namespace, /^@/);
  assert.ok(window.start === start && window.end >= end);
  assert.deepEqual(status, {
    layout: String(gen.layout),
    node: 0,
    reserved: null,
    lost: null,
    skipped: [],
    renewalFailures: 0,
    renewalError: null,
    standbyRisk: null,
    skewMs: null,
    disorderMs: 1,
    maxAheadMs: 0,
    maxWaitMs: 100,
    sequenceStart: "zero",
    closed: false,
  });
  await gen.close();
});

test("a vouched node has no window, namespace or loss", () => {
  const gen = new Snowflake({ node: 900, sequenceStart: "carry" });
  assert.equal(gen.window, null);
  const { window, namespace, lost, skipped, sequenceStart } = gen.status();
  assert.deepEqual([window, namespace, lost, skipped, sequenceStart], [null, null, null, [], "carry"]);
});

test("the window moves on by renewal, idle and where JavaScript is busy", async (t) => {
  slots(t);
  const gen = await Snowflake.lease({ windowMs: 2000, maxWaitMs: 60_000 });
  const first = gen.window;
  await until(() => gen.window.end >= first.end + 1000, "a renewal while idle");
  const second = gen.window;
  assert.equal(second.start, first.start);
  // No timer of JavaScript comes in this loop.
  const ids = [];
  const isOver = () => gen.layout.decode(ids.at(-1)).timestampMs >= second.end;
  do ids.push(gen.nextId());
  while (!isOver());
  increasing(ids.filter((_, i) => i % 100 === 0));
  assert.ok(gen.layout.decode(ids.at(-1)).timestampMs < gen.window.end);
  await gen.close();
});

test("a window that is over is renewed within maxWaitMs, but tryNextId does not wait", {
  skip: !FAKETIME,
}, async (t) => {
  const directory = slots(t);
  const clock = fakeClock(t);
  const script = `import { renameSync, writeFileSync } from "node:fs"; ${LEASE.replace("()", "({ maxWaitMs: 60_000 })")}
    gen.nextId();
    let hours = 0;
    const later = () => {
      writeFileSync("${clock.file}.new", "+" + ++hours * 3600);
      renameSync("${clock.file}.new", "${clock.file}");
    };
    // The thread that renews may come in between.
    const refused = () => {
      for (let leaps = 0; leaps < 20; leaps++)
        try { later(); gen.tryNextId() } catch ({ code }) { return code }
    };
    const told = [refused(), typeof gen.nextId()];
    told.push(refused(), typeof await gen.nextIdAsync());
    told.push(refused(), gen.nextIds(5000).length);
    later();
    told.push(typeof gen.nextId());
    process.send(told);
    await gen.close();
    process.disconnect();`;
  const told = await answerOf(hold(t, script, { ...clock.env, SNOWMINT_STATE_DIR: directory }));
  const closed = "WINDOW_CLOSED";
  assert.deepEqual(told, [closed, "bigint", closed, "bigint", closed, 5000, "bigint"]);
});

test("a window that cannot be renewed is refused at the deadline", { skip: !FAKETIME }, async (t) => {
  const directory = slots(t);
  const clock = fakeClock(t);
  // The renewal finds the slot gone, and until then the window is over.
  const script = `import { renameSync, rmSync, writeFileSync } from "node:fs"; ${LEASE.replace("()", "({ maxWaitMs: 300 })")}
    gen.nextId();
    rmSync("${directory}", { recursive: true, maxRetries: 9 });
    writeFileSync("${clock.file}.new", "+3600");
    renameSync("${clock.file}.new", "${clock.file}");
    const since = performance.now();
    try { gen.nextId() } catch ({ code }) { process.send({ code, ms: performance.now() - since }) }
    process.disconnect();`;
  const { code, ms } = await answerOf(hold(t, script, { ...clock.env, SNOWMINT_STATE_DIR: directory }));
  assert.equal(code, "WINDOW_CLOSED");
  assert.ok(ms < 60_000, `${ms}`);
});

test("close ends a lease once, and later calls are WINDOW_CLOSED", async (t) => {
  slots(t);
  const gen = await Snowflake.lease();
  gen.nextId();
  await Promise.all([gen.close(), gen.close()]);
  await gen.close();
  assert.equal(gen.status().closed, true);
  assert.equal(gen.status().lost, null);
  assert.equal(gen.node, 0);
  for (const call of [() => gen.tryNextId(), () => gen.nextId(), () => gen.nextIds(1)]) refusal("WINDOW_CLOSED", call);
  await assert.rejects(gen.nextIdAsync(), { name: "SnowmintError", code: "WINDOW_CLOSED" });
});

test("the slot of a closed lease is free at once for another process, whose IDs are higher", async (t) => {
  slots(t);
  const gen = await Snowflake.lease({ maxWaitMs: 20_000 });
  const ids = gen.nextIds(10_000);
  const other = await answerOf(hold(t, PASSER));
  assert.equal(other.node, 1);
  await gen.close();
  const next = await answerOf(hold(t, PASSER));
  assert.equal(next.node, 0);
  assert.ok(next.id > ids.at(-1));
});

test("await using closes a lease", async (t) => {
  const directory = slots(t);
  const script = `import { Snowflake } from "snowmint";
    let kept;
    { await using gen = await Snowflake.lease(); kept = gen; gen.nextId(); }
    process.send(kept.status().closed);
    setInterval(() => {}, 1000);`;
  const { code } = await transform(script, { format: "esm", target: "es2022" });
  assert.equal(await answerOf(hold(t, code)), true);
  const gen = await Snowflake.lease();
  assert.equal(gen.node, 0, directory);
  await gen[Symbol.asyncDispose]();
  refusal("WINDOW_CLOSED", () => gen.nextId());
});

test("a host without Symbol.asyncDispose loads the package", async () => {
  const { code, stderr } = await exitOf(`const real = Symbol;
    globalThis.Symbol = Object.setPrototypeOf((name) => real(name), real);
    Object.defineProperty(Symbol, "asyncDispose", { value: undefined });
    for (const name of ["node", "browser"]) {
      const { Snowflake } = await import("./node_modules/snowmint/dist/" + name + ".mjs");
      const gen = new Snowflake({ node: 5 });
      gen.nextId();
      if (real.asyncDispose in gen) throw new Error("the symbol was there");
      await gen.close();
    }`);
  assert.equal(code, 0, stderr);
});

test("a node that is named is leased: another process hears whose it is", async (t) => {
  slots(t);
  const gen = await Snowflake.lease({ node: 901 });
  assert.deepEqual([gen.node, gen.window !== null], [901, true]);
  const script = `import { Snowflake } from "snowmint";
    const told = await Snowflake.lease({ node: 901, maxWaitMs: 100 }).catch(({ code, message }) => [code, message]);
    process.send(told);
    process.disconnect();`;
  const [code, message] = await answerOf(hold(t, script));
  assert.equal(code, "NODES_EXHAUSTED");
  assert.match(message, /node 901 is held by /);
  await gen.close();
});

test("a named node repeats nothing after a kill and a clock that was set back an hour", {
  skip: !FAKETIME,
}, async (t) => {
  const directory = slots(t);
  const clock = fakeClock(t);
  const script = `import { Snowflake } from "snowmint";
    const told = await Snowflake.lease({ node: 902, maxWaitMs: 8000 }).then(
      (gen) => Array.from(gen.nextIds(2000), String), ({ code }) => code);
    process.send(told);
    setInterval(() => {}, 1000);`;
  const told = async () => {
    const holder = hold(t, script, { ...clock.env, SNOWMINT_STATE_DIR: directory });
    const answer = await answerOf(holder);
    holder.kill("SIGKILL");
    return answer;
  };
  const first = await told();
  clock.set(-3600);
  assert.equal(await told(), "NODES_EXHAUSTED");
  clock.set(0);
  assert.equal(new Set([...first, ...(await told())]).size, 4000);
});

test("two leases of one process share a node, and the last one to close gives it back", async (t) => {
  slots(t);
  const [one, other] = await Promise.all([Snowflake.lease(), Snowflake.lease()]);
  assert.equal(one.node, other.node);
  increasing(Array.from({ length: 10_000 }, (_, i) => (i % 2 ? one : other).nextId()));
  await one.close();
  refusal("WINDOW_CLOSED", () => one.nextId());
  assert.equal((await answerOf(hold(t, PASSER))).node, 1);
  other.nextId();
  await other.close();
  assert.equal((await answerOf(hold(t, PASSER))).node, 0);
});

test("leases of other namespaces and layouts share nothing, and a namespace keeps its layout", async (t) => {
  slots(t);
  const gens = await Promise.all(
    [{}, { namespace: "orders" }, { layout: "twitter" }].map((options) =>
      Snowflake.lease({ ...options, maxWaitMs: 60_000 }),
    ),
  );
  assert.deepEqual(
    gens.map((gen) => gen.node),
    [0, 0, 0],
  );
  assert.equal(new Set(gens.map((gen) => gen.status().namespace)).size, 3);
  await assert.rejects(Snowflake.lease({ namespace: "orders", layout: "twitter" }), { code: "INVALID_LAYOUT" });
  await Promise.all(gens.map((gen) => gen.close()));
});

const PACKAGE = JSON.stringify(import.meta.resolve("snowmint"));
const THREAD = `const { parentPort } = require("node:worker_threads");
  import(${PACKAGE}).then(async ({ Snowflake }) => {
    const gen = await Snowflake.lease({ maxWaitMs: 30_000 });
    parentPort.on("message", async (message) => {
      if (message === "close") await gen.close();
      const single = () => BigUint64Array.from({ length: 20_000 }, () => gen.nextId());
      const told = { mint: () => gen.nextIds(50_000), some: single }[message] ?? (() => gen.node);
      parentPort.postMessage(told());
    });
    parentPort.postMessage(gen.node);
  });`;

/** A thread of this process that leases. */
function thread(t) {
  const worker = new Worker(THREAD, { eval: true });
  atEnd(t, () => worker.terminate());
  const next = () => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  const ask = (message) => {
    worker.postMessage(message);
    return next();
  };
  return { worker, first: next(), ask };
}

test("threads of one process share a node, and closing in one leaves the others", async (t) => {
  slots(t);
  const gen = await Snowflake.lease({ maxWaitMs: 30_000 });
  const threads = [thread(t), thread(t)];
  assert.deepEqual(await Promise.all(threads.map(({ first }) => first)), [gen.node, gen.node]);
  const minted = threads.map(({ ask }) => ask("mint"));
  const own = gen.nextIds(50_000);
  const batches = [own, ...(await Promise.all(minted))];
  for (const ids of batches) increasing(ids);
  assert.equal(new Set(batches.flatMap((ids) => [...ids])).size, 150_000);
  await threads[0].ask("close");
  await threads[1].worker.terminate();
  gen.nextId();
  assert.equal((await answerOf(hold(t, PASSER))).node, 1);
  await gen.close();
  assert.equal((await answerOf(hold(t, PASSER))).node, 0);
});

test("four threads that lease mint 20,000 IDs each, all distinct", async (t) => {
  slots(t);
  const threads = Array.from({ length: 4 }, () => thread(t));
  await Promise.all(threads.map(({ first }) => first));
  const batches = await Promise.all(threads.map(({ ask }) => ask("some")));
  for (const ids of batches) increasing(ids);
  assert.equal(new Set(batches.flatMap((ids) => [...ids])).size, 80_000);
});

test("a lease in a thread alone ends with the thread, and the process goes on", async (t) => {
  slots(t);
  // The main thread does not load the addon, so Node unloads it with the thread, unless it is linked to stay.
  const holder = hold(
    t,
    `import { readFileSync } from "node:fs"; import { Worker } from "node:worker_threads";
    const leasing = 'import("snowmint").then(async ({ Snowflake }) => {' +
      'const gen = await Snowflake.lease({ windowMs: 1000, maxWaitMs: 60_000 }); gen.nextId(); })';
    const unfinished = 'import("snowmint").then(({ Snowflake }) => { Snowflake.lease(); process.exit(); })';
    for (const code of [leasing, leasing, unfinished]) {
      const worker = new Worker(code, { eval: true });
      const exit = await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
      if (exit !== 0) throw new Error(String(exit));
      await new Promise((resolve) => setTimeout(resolve, 1200));
    }
    process.send(process.platform !== "linux" || readFileSync("/proc/self/maps", "utf8").includes("snowmint."));
    setInterval(() => {}, 1000);`,
  );
  assert.equal(await answerOf(holder), true);
  const gen = await Snowflake.lease();
  assert.equal(gen.node, 0);
  await gen.close();
});

test("a vouched node and a leased one are never the same in a process", async (t) => {
  const directory = slots(t);
  const { code, stdout } = await exitOf(
    `import { Snowflake } from "snowmint";
    const leased = await Snowflake.lease();
    try { new Snowflake({ node: leased.node }); } catch ({ code, message }) { console.log(code, message); }
    new Snowflake({ layout: "twitter", node: 0 });
    console.log((await Snowflake.lease({ layout: "twitter" })).node);`,
    { SNOWMINT_STATE_DIR: directory },
  );
  assert.match(stdout, /^INVALID_NODE node 0 is leased .*\n1\n$/);
  assert.equal(code, 0);
});

test("four workers of a cluster mint 20,000 IDs each, of four nodes and all distinct", async (t) => {
  slots(t);
  const primary = hold(t, "cluster.mjs");
  const told = await answerOf(primary);
  assert.equal(new Set(told.map(({ node }) => node)).size, 4);
  const ids = told.flatMap(({ ids }) => ids);
  assert.equal(ids.length, 80_000);
  assert.equal(new Set(ids).size, 80_000);
});

test("eight processes that start at once have eight nodes", async (t) => {
  slots(t);
  const told = await Promise.all(Array.from({ length: 8 }, () => answerOf(hold(t, HOLDER))));
  assert.equal(new Set(told.map(({ node }) => node)).size, 8);
  assert.equal(new Set(told.map(({ id }) => id)).size, 8);
});

test("the environment says where the node comes from, after the arguments", async (t) => {
  const [directory, other] = [slots(t), folder(t)];
  const script = `import { Snowflake } from "snowmint";
    const told = async (options) => {
      try {
        const gen = await Snowflake.lease(options);
        const { node, namespace } = gen.status();
        await gen.close();
        return [node, namespace];
      } catch ({ code, message }) { return [code, message] }
    };
    process.send([await told({ node: 7 }), await told({ namespace: "mails" }), await told({ store: "file:${other}/a" }), await told()]);
    process.disconnect();`;
  const tell = (env) => answerOf(hold(t, script, env));
  const own = "@snowmint";
  assert.deepEqual(await tell({}), [
    [7, own],
    [0, "mails"],
    [0, own],
    [0, own],
  ]);
  assert.deepEqual(readdirSync(directory).sort(), [own, "mails"].sort());
  assert.deepEqual(await tell({ SNOWMINT_NODE: "12" }), [
    [7, own],
    [12, "mails"],
    [12, own],
    [12, null],
  ]);
  const named = { SNOWMINT_STORE: `file:${other}/b`, SNOWMINT_NAMESPACE: "orders" };
  assert.deepEqual(await tell(named), [
    [7, "orders"],
    [0, "mails"],
    [0, "orders"],
    [0, "orders"],
  ]);
  assert.deepEqual(readdirSync(`${other}/b`).sort(), ["mails", "orders"]);
  assert.deepEqual(readdirSync(`${other}/a`).sort(), [own, "orders"].sort());
  const [code, message] = (await tell({ SNOWMINT_NODE: "many" })).at(-1);
  assert.equal(code, "INVALID_NODE");
  assert.match(message, /SNOWMINT_NODE is "many": a node is a number/);
  const [unknown] = (await tell({ SNOWMINT_STORE: "mongodb://somewhere" })).at(-1);
  assert.equal(unknown, "INVALID_STORE");
});

test("a malformed SNOWMINT_NODE is named by the constructor too", async () => {
  const script = `import { Snowflake } from "snowmint";
    try { new Snowflake() } catch ({ code, message }) { console.log(code, message) }`;
  const { stdout } = await exitOf(script, { SNOWMINT_NODE: "1024" });
  assert.match(stdout, /^INVALID_NODE SNOWMINT_NODE is "1024": node 1024 does not fit/);
});

test("without a node the constructor points to lease", () => {
  assert.match(refusal("INVALID_NODE", () => new Snowflake()).message, /await Snowflake\.lease\(\)/);
});

test("a thread has an environment of its own", async (t) => {
  slots(t);
  const code = `import(${PACKAGE}).then(async ({ Snowflake }) => {
    require("node:worker_threads").parentPort.postMessage((await Snowflake.lease()).status());
  })`;
  const env = { ...process.env, SNOWMINT_NAMESPACE: "thread" };
  const worker = new Worker(code, { eval: true, env });
  const status = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.equal(status.namespace, "thread");
});

test("Kubernetes without a shared directory is refused, with what to do", async (t) => {
  slots(t);
  delete process.env.SNOWMINT_STATE_DIR;
  process.env.KUBERNETES_SERVICE_HOST = "10.0.0.1";
  t.after(() => delete process.env.KUBERNETES_SERVICE_HOST);
  await assert.rejects(Snowflake.lease(), (error) => {
    assert.ok(error instanceof SnowmintError);
    assert.equal(error.code, "INVALID_NODE");
    for (const way of ["SNOWMINT_STORE", "SNOWMINT_STATE_DIR"]) assert.ok(error.message.includes(way));
    return true;
  });
  process.env.SNOWMINT_STATE_DIR = folder(t);
  await (await Snowflake.lease()).close();
});

test("where one person works, a private place gives a warning", (t) => {
  const { SNOWMINT_STATE_DIR: _, CI: __, ...env } = { ...process.env, NODE_OPTIONS: "" };
  const own = folder(t);
  chmodSync(own, 0o1777);
  const code = `import(${PACKAGE}).then(async ({ Snowflake }) => {
    console.log(String((await Snowflake.lease()).nextId()));
    await Snowflake.lease();
    process.exit();
  });`;
  // As in a container: only this process sees the directory.
  const script = 'mount --bind "$1" /var/tmp; exec "$2" -e "$3"';
  const words = ["--mount", "sh", "-ec", script, "sh", own, process.execPath, code];
  const run = (env) => spawnSync("unshare", words, { env, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  assert.match(run(env).stderr, /set SNOWMINT_STORE/);
  const { stdout, stderr } = run({ ...env, CI: "true" });
  assert.match(stdout, /^\d+\n$/, stderr);
  assert.equal(stderr.match(/SnowmintWarning/g)?.length, 1, stderr);
  assert.match(stderr, /accepted because CI is set/);
});

test("where all nodes are held, a lease is refused within maxWaitMs", async (t) => {
  slots(t);
  const layout = "time:41,sequence:12;epoch=1735689600000";
  const holder = hold(t, HOLDER.replace("lease()", `lease({ layout: "${layout}" })`));
  await answerOf(holder);
  const since = performance.now();
  await assert.rejects(Snowflake.lease({ layout }), { code: "NODES_EXHAUSTED" });
  assert.ok(performance.now() - since < 60_000);
  holder.kill("SIGKILL");
  await holder.gone;
  // A killed holder's window runs out by itself, and a lease waits for that.
  const gen = await Snowflake.lease({ layout, maxWaitMs: 60_000 });
  assert.equal(gen.node, 0);
  await gen.close();
});

test("a lease does not block JavaScript while it waits", async (t) => {
  slots(t);
  const layout = "time:41,sequence:12;epoch=1735689600000";
  const holder = hold(t, HOLDER.replace("lease()", `lease({ layout: "${layout}" })`));
  await answerOf(holder);
  holder.kill("SIGKILL");
  await holder.gone;
  let turns = 0;
  const turning = setInterval(() => turns++, 5);
  const gen = await Snowflake.lease({ layout, maxWaitMs: 60_000 });
  clearInterval(turning);
  assert.ok(turns > 20, `${turns}`);
  await gen.close();
});

test("a process killed at random repeats nothing, nor does its clock going to and fro", {
  skip: !FAKETIME,
}, async (t) => {
  slots(t);
  const clock = fakeClock(t);
  const ledgers = folder(t);
  const minter = (ledger) => `import { openSync, writeSync } from "node:fs"; import { Snowflake } from "snowmint";
    const gen = await Snowflake.lease({ windowMs: 1000, maxWaitMs: 200 });
    const ledger = openSync("${ledger}", "a");
    process.send(gen.node);
    const mint = () => {
      try { writeSync(ledger, gen.nextIds(200).join("\\n") + "\\n") } catch (error) {
        if (error.code !== "CLOCK_BACKWARDS" && error.code !== "EXHAUSTED" && error.code !== "WINDOW_CLOSED") throw error;
      }
      setTimeout(mint, 1);
    };
    mint();`;
  const nodes = [];
  // The rounds prove nothing while each process happens to get a different node, so go on until a node is used twice.
  for (let round = 0; round < KILLS || new Set(nodes).size === nodes.length; round++) {
    clock.set(Math.round((Math.random() - 0.5) * 20));
    const minters = [0, 1].map((i) => hold(t, minter(`${ledgers}/${round}-${i}`), { ...clock.env }));
    nodes.push(...(await Promise.all(minters.map(answerOf))));
    await sleep(Math.random() * 200);
    clock.set(Math.round((Math.random() - 0.5) * 20));
    await sleep(Math.random() * 300);
    for (const minter of minters) minter.kill("SIGKILL");
    await Promise.all(minters.map(({ gone }) => gone));
  }
  const { total, distinct, ledgers: count } = countLedgers(ledgers);
  t.diagnostic(`${total} IDs of ${count} processes on ${new Set(nodes).size} nodes`);
  assert.equal(distinct, total);
  assert.ok(total > 1000 * KILLS, `${total}`);
});

test("onLost is called once when another file takes the slot's place, and then WINDOW_CLOSED tells why", async (t) => {
  const directory = slots(t);
  const errors = [];
  const [gen, deaf] = [
    await Snowflake.lease({ windowMs: 1000, maxWaitMs: 60_000, onLost: (error) => errors.push(error) }),
    await Snowflake.lease({ windowMs: 1000, onLost: () => errors.push("of a closed generator") }),
  ];
  gen.nextId();
  await deaf.close();
  const slot = slotOf(directory, gen.node);
  copyFileSync(slot, `${slot}.copy`);
  renameSync(`${slot}.copy`, slot);
  await until(() => errors.length > 0, "onLost");
  await sleep(700);
  assert.equal(errors.length, 1);
  const [error] = errors;
  assert.ok(error instanceof SnowmintError);
  assert.equal(error.code, "WINDOW_CLOSED");
  assert.match(error.message, /slot of node 0 was lost/);
  const since = performance.now();
  assert.equal(refusal("WINDOW_CLOSED", () => gen.nextId()).message, error.message);
  assert.ok(performance.now() - since < 60_000, "it does not wait for a renewal");
  assert.equal(gen.status().lost, error.message);
  const next = await Snowflake.lease();
  assert.ok(next.nextId() > 0n);
  await next.close();
  await gen.close();
});

test("what onLost throws is an uncaught exception", async (t) => {
  const directory = slots(t);
  const { code, stderr } = await exitOf(
    `import { readdirSync, rmSync } from "node:fs"; import { Snowflake } from "snowmint";
    const gen = await Snowflake.lease({ windowMs: 1000, onLost() { throw new Error("boom") } });
    rmSync("${directory}", { recursive: true });
    setTimeout(() => console.log(gen.node), 30_000);`,
    { SNOWMINT_STATE_DIR: directory },
  );
  assert.equal(code, 1);
  assert.match(stderr, /boom/);
});

test("a process with an open lease exits by itself, and gives the slot back", async (t) => {
  const directory = slots(t);
  for (const end of ["", "process.exit();", 'process.on("exit", () => gen.nextId());']) {
    const { code, stdout } = await exitOf(
      `import { Snowflake } from "snowmint"; const gen = await Snowflake.lease({ windowMs: 10000, onLost() {} });
      console.log(gen.node, String(gen.nextIds(1000).at(-1))); ${end}`,
      { SNOWMINT_STATE_DIR: directory },
    );
    assert.equal(code, 0);
    const [node, last] = stdout.split(" ");
    assert.equal(node, "0");
    const gen = await Snowflake.lease();
    assert.equal(gen.node, 0, end);
    assert.ok(gen.nextId() > BigInt(last));
    await gen.close();
  }
});

test("a lease that is forgotten without being closed is given back by the garbage collector", async (t) => {
  const directory = slots(t);
  const forgetter = hold(
    t,
    `import { Snowflake } from "snowmint"; import { setFlagsFromString } from "node:v8"; import { runInNewContext } from "node:vm";
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc");
    await (async () => (await Snowflake.lease({ onLost() {} })).nextId())();
    setInterval(gc, 50);
    process.send("forgotten");`,
  );
  await answerOf(forgetter);
  await until(async () => {
    const gen = await Snowflake.lease({ store: `file:${directory}` });
    const { node } = gen;
    await gen.close();
    return node === 0;
  }, "the node of the forgotten lease");
});

test("without the addon a lease is refused, and told what to do, while a given node mints", async (t) => {
  slots(t);
  const script = `import { Snowflake } from "snowmint";
    try { await Snowflake.lease() } catch ({ name, code, message }) { console.log(name, code, message) }
    console.log(new Snowflake({ node: 5 }).node);
    process.env.SNOWMINT_NODE = "6";
    console.log((await Snowflake.lease()).node);`;
  const { code, stdout } = await exitOf(script, { SNOWMINT_NO_ADDON: "1" });
  assert.equal(code, 0);
  const told = /^SnowmintError INVALID_STORE .*addon for (\S+), .*optional dependencies.* use new Snowflake.*\n5\n6\n$/;
  assert.equal(told.exec(stdout)?.[1], `${process.platform}-${process.arch}`, stdout);
});

test("where there are no Web Locks a lease of a slot is refused, and a given node mints", async () => {
  const refused = { name: "SnowmintError", code: "INVALID_STORE", message: /Web Locks.*use new Snowflake/ };
  await assert.rejects(browser.Snowflake.lease(), refused);
  await assert.rejects(browser.Snowflake.lease({ node: 5 }), refused);
  assert.equal(new browser.Snowflake({ node: 5 }).node, 5);
});

test("options that make no sense reject, and take no slot", async (t) => {
  const directory = slots(t);
  const cases = [
    [{ store: {} }, { name: "TypeError", message: /no read/ }],
    ["orders", { name: "TypeError", message: /takes an object of options/ }],
    [{ store: 5 }, { name: "TypeError" }],
    [{ namespace: 5 }, { name: "TypeError" }],
    [{ onLost: "mail" }, { name: "TypeError" }],
    [{ clock: () => 0 }, { name: "TypeError", message: /system's clock/ }],
    [{ sequenceStart: "one" }, { code: "INVALID_TEXT" }],
    [{ windowMs: "5s" }, { code: "INVALID_ID", message: /^windowMs is a number of ms/ }],
    [{ windowMs: -1 }, { code: "INVALID_ID" }],
    [{ maxAheadMs: Number.NaN }, { code: "INVALID_ID" }],
    [{ windowMs: 999 }, { code: "INVALID_LAYOUT", message: /1000/ }],
    [{ windowMs: 3_600_001 }, { code: "INVALID_LAYOUT", message: /at most 3600000 with maxAheadMs added/ }],
    [{ maxAheadMs: 2 ** 63 }, { code: "INVALID_LAYOUT", message: /at most 3600000 with maxAheadMs added/ }],
    [{ exclude: [1024] }, { code: "INVALID_NODE" }],
    [{ exclude: ["x"] }, { code: "INVALID_NODE" }],
    [{ exclude: 5 }, { name: "TypeError" }],
    [{ exclude: "01" }, { name: "TypeError", message: /an array of nodes, such as \[0, 1\]/ }],
    [
      { exclude: "01", store: new MemoryStore() },
      { name: "TypeError", message: /an array of nodes/ },
    ],
    [{ namespace: "../x" }, { code: "INVALID_NODE" }],
    [
      { node: 5, exclude: [5] },
      { code: "INVALID_NODE", message: /both asked for and excluded/ },
    ],
    [
      { node: 901, clock: () => 0 },
      { name: "TypeError", message: /use new Snowflake\(\{ node, clock \}\)/ },
    ],
    [{ node: 1024 }, { code: "INVALID_NODE" }],
    [{ layout: "twiter" }, { code: "INVALID_LAYOUT" }],
    [{ layout: "baidu" }, { code: "TIME_OVERFLOW" }],
    [{ store: "oracle://localhost" }, { code: "INVALID_STORE" }],
    [{ store: "file:/dev/null/x" }, { code: "STORE_UNAVAILABLE" }],
  ];
  for (const [options, wanted] of cases)
    await assert.rejects(Snowflake.lease(options), wanted, JSON.stringify(options));
  assert.deepEqual(readdirSync(directory), []);
});

test("options that are null are as good as missing", async (t) => {
  slots(t);
  const nothing = { node: null, namespace: null, windowMs: null, exclude: null, onLost: null };
  for (const store of [null, new MemoryStore()]) {
    const gen = await Snowflake.lease({ ...nothing, store });
    assert.equal(gen.node, 0);
    assert.match(gen.status().namespace, /^@/);
    await gen.close();
  }
  assert.equal(new Snowflake({ node: 5 }).node, 5);
});

test("excluded nodes are not leased, and a faulty slot file is skipped and told", async (t) => {
  const directory = slots(t);
  await (await Snowflake.lease()).close();
  writeFileSync(slotOf(directory, 3), "no record");
  const gen = await Snowflake.lease({ exclude: [0, 1n, "2"] });
  assert.equal(gen.node, 4);
  assert.deepEqual(gen.status().skipped, [slotOf(directory, 3)]);
  await gen.close();
});

test("a lease may run ahead of its window's clock by maxAheadMs", async (t) => {
  slots(t);
  const gen = await Snowflake.lease({ windowMs: 1000, maxAheadMs: 5000, sequenceStart: "random" });
  // Four seconds of IDs, which take some ms: without the option `fill` fails when it has waited 100 ms.
  const ids = new BigUint64Array(4096 * 4000);
  const begun = Date.now();
  gen.fill(ids);
  const { timestampMs } = gen.layout.decode(ids.at(-1));
  assert.ok(timestampMs >= begun + 3990 && timestampMs < gen.window.end, `${timestampMs} after ${begun}`);
  await gen.close();
  const next = await answerOf(hold(t, PASSER));
  assert.ok(next.id > ids.at(-1) || next.node !== 0);
});
