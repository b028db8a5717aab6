// Claims and renewals that do not come back, or come back when another one has: over stores that hold answers back.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Snowflake } from "snowmint";
import { MemoryStore } from "snowmint/stores";
import { increasing } from "./support.mjs";

// Timers of leases keep no process alive.
const alive = setInterval(() => {}, 1000);
after(() => clearInterval(alive));

/** A promise and what settles it. */
function gate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Records in memory. After `hold` the next write of a lease is stored, but answered only when the gate opens. */
function holdingBack() {
  const records = new MemoryStore();
  let held;
  const begun = gate();
  const store = {
    hold: () => {
      held = gate();
      return { begun: begun.opened, answer: held.open };
    },
    async write(key, ...words) {
      const version = await records.write(key, ...words);
      if (held && key.startsWith("leases/")) {
        const { opened } = held;
        held = undefined;
        begun.open();
        await opened;
      }
      return version;
    },
    read: (key) => records.read(key),
    list: (prefix) => records.list(prefix),
    clockMs: () => records.clockMs(),
    toString: () => "records that answer late",
  };
  return store;
}

/** Time for the answers to arrive. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 20));

test("a renewal that does not come back is made again, and changes nothing when it does", async () => {
  const store = holdingBack();
  const gen = await Snowflake.lease({ store, windowMs: 1000, maxWaitMs: 60_000 });
  const ids = [gen.nextId()];
  const first = gen.window.end;
  const { begun, answer } = store.hold();
  await begun;
  // After the end of the first window, the window of the renewal without an answer is not known.
  for (const since = Date.now(); gen.window.end <= first && Date.now() < since + 20_000; )
    ids.push(await gen.nextIdAsync());
  assert.ok(gen.window.end > first);
  const { node, window } = gen;
  answer();
  await soon();
  assert.ok(gen.window.end >= window.end);
  const goOn = gen.window.end;
  for (const since = Date.now(); gen.window.end <= goOn && Date.now() < since + 20_000; )
    ids.push(await gen.nextIdAsync());
  increasing(ids);
  assert.equal(gen.node, node);
  assert.equal(gen.status().lost, null);
  await gen.close();
  const again = await Snowflake.lease({ store, windowMs: 1000 });
  assert.equal(again.node, node, "it was given back");
  await again.close();
});

test("a claim that does not come back keeps nobody from the next, and both get what came first", async () => {
  const store = holdingBack();
  const { begun, answer } = store.hold();
  const waiting = Snowflake.lease({ store });
  await begun;
  const gen = await Snowflake.lease({ store });
  assert.equal(gen.node, 1, "the node of the first claim is taken");
  answer();
  const late = await waiting;
  assert.equal(late.node, 1);
  increasing([gen.nextId(), late.nextId(), gen.nextId(), late.nextId()]);
  await Promise.all([gen.close(), late.close()]);
});

test("a service is asked for the same claim again, whose late answer changes nothing", async () => {
  const nonces = [];
  const slow = gate();
  const granted = (node) => {
    const serviceMs = Date.now();
    return { node, window: { start: serviceMs, end: serviceMs + 10_000 }, serviceMs, windowMs: 10_000 };
  };
  const store = {
    async claim(_, { nonce }) {
      nonces.push(nonce);
      if (nonces.length > 1) return granted(1);
      await slow.opened;
      return granted(2);
    },
    renew: async (_, node) => granted(node),
    release: async () => {},
  };
  const waiting = Snowflake.lease({ store, namespace: "slow" });
  const gen = await Snowflake.lease({ store, namespace: "slow" });
  assert.deepEqual([gen.node, nonces.length, new Set(nonces).size], [1, 2, 1]);
  slow.open();
  const late = await waiting;
  await soon();
  assert.deepEqual([gen.node, late.node, gen.layout.decode(late.nextId()).node], [1, 1, 1]);
  await Promise.all([gen.close(), late.close()]);
});

test("while a window is over, an error says why it was not renewed, and not any more afterwards", async () => {
  const records = new MemoryStore();
  let away = false;
  const ask =
    (verb) =>
    async (...words) => {
      if (away) throw new Error("nobody is there");
      return records[verb](...words);
    };
  const verbs = ["read", "write", "list", "clockMs"];
  const store = { ...Object.fromEntries(verbs.map((verb) => [verb, ask(verb)])), toString: () => "far records" };
  const gen = await Snowflake.lease({ store, windowMs: 1000, maxWaitMs: 100 });
  away = true;
  // On a busy machine the window may be over before the first renewal fails.
  const isOver = () => gen.window.end <= Date.now() - 5 && gen.status().renewalFailures > 0;
  for (const since = Date.now(); !isOver() && Date.now() < since + 20_000; ) await soon();
  const why = { code: "WINDOW_CLOSED", cause: { code: "STORE_UNAVAILABLE", message: "far records: nobody is there" } };
  const about = ({ code, cause }) => {
    assert.deepEqual({ code, cause: { code: cause?.code, message: cause?.message } }, why);
    return true;
  };
  assert.throws(() => gen.tryNextId(), about);
  assert.throws(() => gen.nextIds(10), about);
  await assert.rejects(gen.nextIdAsync(), about);
  away = false;
  for (let ids = 0; ids < 1; )
    await gen.nextIdAsync().then(
      () => ids++,
      () => {},
    );
  assert.equal(gen.status().renewalFailures, 0);
  await gen.close();
  assert.throws(
    () => gen.nextId(),
    ({ code, cause }) => code === "WINDOW_CLOSED" && cause === undefined,
  );
});
