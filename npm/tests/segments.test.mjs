// Segments: numbers of a tag, from memory.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { SnowmintError } from "snowmint";
import { Segments } from "snowmint/numbers";
import { MemoryStore } from "snowmint/stores";
import { bytes, fresh, increasing, refusal, text } from "./asserting.mjs";
import { forgetful, killed, PLACES, passing, refused, WAIT } from "./number-places.mjs";
import { exitOf, hasProcesses } from "./support.mjs";

describe("segments over every store", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries(PLACES))
    describe(kind, { concurrency: 1 }, () => {
      test("two processes share a tag, whose first definition stays", async (t) => {
        const at = await place(t);
        const tag = fresh();
        const first = new Segments(await at.store(), tag, { start: 5, step: 10, ...WAIT });
        const second = new Segments(await at.store(), tag, { start: 500n, step: 7, ...WAIT });
        assert.equal(await first.next(), 5n);
        // The second object may find the counter behind a range that the first one has fetched ahead.
        const start = await second.next();
        assert.equal(start % 10n, 5n);
        const all = await Promise.all(Array.from({ length: 300 }, (_, i) => (i % 2 ? first : second).next()));
        assert.equal(new Set([5n, start, ...all]).size, 302);
        await Promise.all([first.close(), second.close()]);
      });

      test("unused numbers go back at the close", async (t) => {
        const store = await (await place(t)).store();
        const tag = fresh();
        const orders = new Segments(store, tag, WAIT);
        assert.equal(await orders.next(), 1n);
        const back = await orders.close();
        const again = new Segments(store, tag, WAIT);
        // The rest of the range, and the next one if it was fetched ahead.
        if (store.lower) assert.ok([999n, 1999n].includes(back), `${back}`);
        else assert.equal(back, 0n);
        assert.equal((await again.next()) === 2n, back > 0n);
        await refused("WINDOW_CLOSED", () => orders.next());
        assert.equal(await orders.close(), 0n);
        await again.close();
      });

      if (kind !== "memory" && hasProcesses(kind))
        test("processes that are killed repeat no number", async (t) => {
          for (const numbers of await killed(t, kind, await place(t), "Segments")) increasing(numbers);
        });
    });
});

test("a definition is the text that every language reads", async () => {
  const store = new MemoryStore();
  await new Segments(store, "a/b", { step: 20 }).next();
  const found = await store.read("segments/a%2Fb");
  assert.equal(text(found.value), "segment 1\nnext=1\nstep=20\ndescription=");
  await store.write("segments/orders", bytes("segment 1\nnext=7\nstep=3\ndescription=of a shop"), 0);
  assert.equal(await new Segments(store, "orders").next(), 7n);
});

test("the keys of names are those of every language", async () => {
  const path = new URL("../../tests/vectors/names.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(path, "utf8"));
  for (const { name, text, key, error } of cases) {
    const store = new MemoryStore();
    if (error) await refused(error, async () => new Segments(store, text).next());
    else await new Segments(store, text).next();
    const listed = (await store.list("segments/")).map(({ name }) => name);
    assert.deepEqual(listed, error ? [] : [key], name);
  }
});

test("a new tag begins after the numbers that a fence skips", async () => {
  const store = new MemoryStore();
  await store.write("fence/floor", bytes("until=1772323200123 skip=1000"), 0);
  assert.equal(await new Segments(store, "orders").next(), 1001n);
});

test("many calls at once get different numbers, and blocks have no gaps", async () => {
  const store = passing(new MemoryStore(), { before: () => new Promise((resolve) => setTimeout(resolve, 2)) });
  const orders = new Segments(store, "orders", { step: 10, ...WAIT });
  const array = new BigUint64Array(777);
  const calls = [
    ...Array.from({ length: 1000 }, () => orders.next().then((number) => [number])),
    ...[1, 25n, 300, "12"].map((count) =>
      orders.nextBlock(count).then(({ start, end }) => {
        assert.equal(end - start, BigInt(count));
        return Array.from({ length: Number(count) }, (_, i) => start + BigInt(i));
      }),
    ),
    orders.fill(array).then((filled) => {
      assert.equal(filled, array);
      increasing(array);
      return [...array];
    }),
  ];
  const numbers = (await Promise.all(calls)).flat();
  assert.equal(numbers.length, 1000 + 1 + 25 + 300 + 12 + 777);
  assert.equal(new Set(numbers).size, numbers.length);
  // One object hands out ascending numbers to calls that come one after the other.
  const later = [];
  for (let i = 0; i < 500; i++) later.push(i % 7 ? await orders.next() : (await orders.nextBlock(3)).start);
  increasing(later);
});

test("a block that no counter has room for leaves the numbers in memory", async () => {
  const orders = new Segments(new MemoryStore(), "orders", { step: 10 });
  assert.equal(await orders.next(), 1n);
  await refused("EXHAUSTED", () => orders.nextBlock(2n ** 63n - 1n));
  assert.equal(await orders.next(), 2n);
});

test("lost answers skip numbers and repeat none", async () => {
  const store = forgetful(new MemoryStore());
  const taken = [];
  for (let i = 0; i < 4; i++) {
    const orders = new Segments(store, "orders", { step: 5, ...WAIT });
    for (let j = 0; j < 60; j++) taken.push(await orders.next());
    await orders.close().catch(() => {});
  }
  assert.equal(new Set(taken).size, taken.length);
});

test("tryNext never waits, and numbers come meanwhile", async () => {
  const orders = new Segments(new MemoryStore(), "orders");
  assert.ok(refusal("EXHAUSTED", () => orders.tryNext()).retryAfterMs > 0);
  assert.equal(await orders.next(), 1n);
  assert.deepEqual([orders.tryNext(), orders.tryNext()], [2n, 3n]);
  await orders.close();
  refusal("WINDOW_CLOSED", () => orders.tryNext());
});

test("the last number of a counter is followed by EXHAUSTED", async () => {
  const orders = new Segments(new MemoryStore(), "orders", { start: 2n ** 63n - 4n });
  assert.deepEqual(
    [await orders.next(), await orders.next(), await orders.next()].map((n) => 2n ** 63n - n),
    [4n, 3n, 2n],
  );
  await refused("EXHAUSTED", () => orders.next());
});

test("a counter that went back ends the numbers", async () => {
  let sum = 0n;
  const records = new MemoryStore();
  const store = { ...passing(records), add: async (_, delta) => (sum += delta) };
  const orders = new Segments(store, "orders", { step: 2 });
  await orders.next();
  sum = 0n;
  const error = await orders.fill(new BigUint64Array(50)).catch((error) => error);
  assert.equal(error.code, "STORE_UNAVAILABLE");
  assert.match(error.message, /went back/);
});

test("a store that is down costs a call its time limit, and then works again", async () => {
  let down = true;
  const store = passing(new MemoryStore(), {
    before: () => {
      if (down) throw new Error("connection refused");
    },
  });
  const orders = new Segments(store, "orders", { maxWaitMs: 1000 });
  const error = await orders.next().catch((error) => error);
  assert.equal(error.code, "STORE_UNAVAILABLE");
  assert.match(error.message, /a store of the test: connection refused/);
  down = false;
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await orders.next(), 1n);
});

test("an error that a retry cannot cure comes at once", async () => {
  const unsafe = () => {
    throw new SnowmintError("UNSAFE_STORE", "fsync=off");
  };
  const store = passing(new MemoryStore(), { before: (verb) => verb === "add" && unsafe() });
  const orders = new Segments(store, "orders", { maxWaitMs: 2 ** 30 });
  await refused("UNSAFE_STORE", () => orders.next());
  await refused("INVALID_TEXT", () => new Segments(new MemoryStore(), "a\n", { maxWaitMs: 2 ** 30 }).next());
  const garbage = new MemoryStore();
  await garbage.write("segments/orders", bytes("garbage"), 0);
  const error = await new Segments(garbage, "orders", { maxWaitMs: 50 }).next().catch((error) => error);
  assert.equal(error.code, "STORE_UNAVAILABLE");
  assert.equal(error.message, "MemoryStore: segments/orders: the value in the store is not a record of snowmint");
});

test("answers of a wrong type are no numbers", async () => {
  for (const answer of [undefined, null, 5, "5", -1n, 2n ** 64n]) {
    const store = { ...passing(new MemoryStore()), add: async () => answer };
    await refused("STORE_UNAVAILABLE", () => new Segments(store, "orders", { maxWaitMs: 30 }).next());
  }
});

test("wrong arguments are refused with types", async () => {
  const store = new MemoryStore();
  const { add, ...withoutAdd } = passing(store);
  assert.ok(add);
  for (const wrong of [undefined, null, {}, "memory:", withoutAdd])
    assert.throws(() => new Segments(wrong, "orders"), /TypeError.*needs a store with the method/);
  for (const wrong of [undefined, 5, null]) assert.throws(() => new Segments(store, wrong), TypeError);
  for (const wrong of ["", "x".repeat(129)]) refusal("INVALID_TEXT", () => new Segments(store, wrong));
  for (const wrong of [
    { start: -1 },
    { start: 2n ** 63n },
    { start: "" },
    { start: 1.5 },
    { step: 0 },
    { step: 2 ** 31 },
  ])
    refusal("INVALID_ID", () => new Segments(store, "orders", wrong));
  refusal("INVALID_ID", () => new Segments(store, "orders", { maxWaitMs: -1 }));
  assert.throws(() => new Segments(store, "orders", { steps: 1 }), /did you mean step/);
  const orders = new Segments(store, "orders");
  for (const wrong of [-1, 2n ** 63n, 1.5, "x", null, undefined])
    await refused("INVALID_ID", () => orders.nextBlock(wrong));
  for (const wrong of [undefined, [], new Uint8Array(8), new BigInt64Array(8)])
    await assert.rejects(() => orders.fill(wrong), TypeError);
  assert.equal((await orders.fill(new BigUint64Array())).length, 0);
});

test("a process ends while numbers are fetched ahead", async () => {
  const { code, stdout, stderr } = await exitOf(`
    import { Segments } from "snowmint/numbers";
    import { MemoryStore } from "snowmint/stores";
    const records = new MemoryStore();
    let adds = 0;
    const store = {
      read: (key) => records.read(key), write: (...words) => records.write(...words), list: (key) => records.list(key),
      clockMs: async () => null, toString: () => "records",
      // The second fetch, ahead of need, gets no answer.
      add: (...words) => ++adds > 1 ? new Promise(() => {}) : records.add(...words),
    };
    const orders = new Segments(store, "orders", { step: 10 });
    await orders.next();
    console.log(String(await orders.next()), adds);
  `);
  assert.deepEqual([code, stdout], [0, "2 2\n"], stderr);
});
