// Tickets: numbers of several independent stores.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Tickets } from "snowmint/numbers";
import { MemoryStore } from "snowmint/stores";
import { bytes, fresh, increasing, refusal } from "./asserting.mjs";
import { forgetful, killed, PLACES, passing, refused, WAIT } from "./number-places.mjs";
import { hasProcesses } from "./support.mjs";

describe("tickets over every store", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries(PLACES))
    describe(kind, { concurrency: 1 }, () => {
      test("two clients of one store get different tickets, in the order of calls", async (t) => {
        const at = await place(t);
        const name = fresh();
        const [first, second] = [
          new Tickets(await at.store(), name, WAIT),
          new Tickets([await at.store()], name, WAIT),
        ];
        const taken = [];
        for (let i = 0; i < 10; i++) taken.push(await (i % 2 ? first : second).next());
        assert.deepEqual(
          taken,
          Array.from({ length: 10 }, (_, i) => BigInt(i + 1)),
        );
        const all = await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? first : second).next()));
        assert.equal(new Set(all).size, 60);
      });

      if (kind !== "memory" && hasProcesses(kind))
        test("processes that are killed repeat no ticket", async (t) => {
          for (const tickets of await killed(t, kind, await place(t), "Tickets")) increasing(tickets);
        });
    });
});

test("stores take turns, each with its own numbers", async () => {
  const stores = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
  const photos = new Tickets(stores, "photos");
  const taken = [];
  for (let i = 0; i < 9; i++) taken.push(await photos.next());
  assert.deepEqual(taken, [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
});

test("a store that is down costs one part of the time, and then comes last", async () => {
  let down = false;
  let asked = 0;
  const hanging = passing(new MemoryStore(), {
    before: () => {
      asked++;
      return down ? new Promise(() => {}) : undefined;
    },
  });
  const photos = new Tickets([hanging, new MemoryStore()], "photos", { maxWaitMs: 2000 });
  assert.deepEqual([await photos.next(), await photos.next()], [1n, 2n]);
  down = true;
  asked = 0;
  const taken = [];
  for (let i = 0; i < 20; i++) taken.push(await photos.next());
  assert.deepEqual(
    taken,
    Array.from({ length: 20 }, (_, i) => BigInt(2 * i + 4)),
  );
  assert.equal(asked, 1);
});

test("an error names each store that does not answer", async () => {
  const refusing = (why) =>
    passing(new MemoryStore(), {
      before: () => {
        throw new Error(why);
      },
    });
  const photos = new Tickets([refusing("no route"), refusing("reset")], "photos", WAIT);
  const error = await photos.next().catch((error) => error);
  assert.equal(error.code, "STORE_UNAVAILABLE");
  assert.match(error.message, /none of the 2 ticket servers answers: .*no route; .*reset/);
});

test("a store keeps its place, and refuses another", async () => {
  const [first, second] = [new MemoryStore(), new MemoryStore()];
  await new Tickets([first, second], "photos").next();
  await refused("INVALID_ID", () => new Tickets([second, first], "photos").next());
  await refused("INVALID_ID", () => new Tickets([first], "photos").next());
  await first.write("settings/tickets/garbage", bytes("garbage"), 0);
  await refused("STORE_UNAVAILABLE", () => new Tickets(first, "garbage").next());
});

test("a new counter begins after the numbers that a fence skips", async () => {
  const store = new MemoryStore();
  await store.write("fence/floor", bytes("until=1772323200123 skip=1000"), 0);
  assert.equal(await new Tickets(store, "photos").next(), 1001n);
});

test("many calls at once share writes", async () => {
  let adds = 0;
  const store = passing(new MemoryStore(), { before: (verb) => verb === "add" && adds++ });
  const photos = new Tickets(store, "photos", WAIT);
  const taken = await Promise.all(Array.from({ length: 500 }, () => photos.next()));
  assert.equal(new Set(taken).size, 500);
  assert.ok(adds < 10, `${adds} writes`);
});

test("lost answers skip tickets and repeat none", async () => {
  const photos = new Tickets([forgetful(new MemoryStore()), forgetful(new MemoryStore())], "photos", WAIT);
  const taken = [];
  for (let i = 0; i < 100; i++) {
    const ticket = await photos.next().catch((error) => error.code);
    if (ticket !== "STORE_UNAVAILABLE") taken.push(ticket);
  }
  assert.ok(taken.length > 50, `${taken.length} tickets`);
  assert.equal(new Set(taken).size, taken.length);
});

test("wrong arguments are refused with types", async () => {
  const store = new MemoryStore();
  for (const wrong of [undefined, {}, [{}], [store, null]])
    assert.throws(() => new Tickets(wrong, "photos"), /TypeError.*needs a store with the method/);
  for (const wrong of [[], Array.from({ length: 33 }, () => store)])
    refusal("INVALID_ID", () => new Tickets(wrong, "p"));
  for (const wrong of [undefined, 5]) assert.throws(() => new Tickets(store, wrong), TypeError);
  refusal("INVALID_TEXT", () => new Tickets(store, ""));
  assert.throws(() => new Tickets(store, "photos", { wait: 1 }), TypeError);
  await refused("INVALID_TEXT", () => new Tickets(store, "a\n").next());
});
