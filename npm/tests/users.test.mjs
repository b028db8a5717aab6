// A sequence for each user.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { users } from "snowmint/numbers";
import { MemoryStore } from "snowmint/stores";
import { bytes, fresh, increasing, refusal, until } from "./asserting.mjs";
import { forgetful, killed, PLACES, passing, refused, WAIT } from "./number-places.mjs";

const upTo = (count) => Array.from({ length: count }, (_, i) => BigInt(i + 1));

describe("users over every store", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries(PLACES))
    describe(kind, { concurrency: 1 }, () => {
      test("each user has a sequence, which a successor continues above", async (t) => {
        const at = await place(t);
        const set = fresh();
        const first = users(await at.store(), set, { ...WAIT, label: "one" });
        assert.deepEqual([await first.next(7), await first.next(7), await first.next(8)], [1n, 2n, 1n]);
        assert.equal(await first.next(2n ** 64n - 1n), 1n);
        assert.deepEqual(await Promise.all(Array.from({ length: 300 }, () => first.next(9))), upTo(300));
        const second = users(await at.store(), set, { maxWaitMs: 10_000, label: "two" });
        await assert.rejects(second.next(7), { code: "WINDOW_CLOSED", message: /users 0 to 99999 .* one$/ });
        await first.close();
        await refused("WINDOW_CLOSED", () => first.next(7));
        const third = users(await at.store(), set, WAIT);
        assert.ok((await third.next(7)) > 2n);
        await third.close();
        await second.close();
      });

      if (kind === "pg")
        test("the numbers of a user increase over kills of allocators", async (t) => {
          const taken = await killed(t, kind, await place(t), "users", { count: 1, rounds: 3 });
          increasing(taken.flat());
        });
    });
});

test("allocators that lose answers repeat nothing", async () => {
  const messages = users(forgetful(new MemoryStore()), "messages", { step: 10, ...WAIT });
  const taken = [];
  for (let i = 0; i < 100; i++) taken.push(await messages.next(7));
  increasing(taken);
  await messages.close();
});

test("an allocator that another one has replaced gives no number", async () => {
  let hidden = false;
  const store = new MemoryStore();
  const cut = passing(store, {
    before: () => {
      if (hidden) throw new Error("no route");
    },
  });
  const first = users(cut, "messages", { windowMs: 1000, maxWaitMs: 300 });
  const taken = [await first.next(7)];
  hidden = true;
  const second = users(store, "messages", { windowMs: 1000, ...WAIT });
  taken.push(await second.next(7));
  await refused("STORE_UNAVAILABLE", () => first.next(7));
  hidden = false;
  await refused("WINDOW_CLOSED", () => first.next(7));
  taken.push(await second.next(7));
  increasing(taken);
  await second.close();
  await first.close();
});

test("a machine that has slept asks the store before the next number", async (t) => {
  let writes = 0;
  const store = passing(new MemoryStore(), { before: (verb) => verb === "write" && writes++ });
  const messages = users(store, "messages", WAIT);
  assert.deepEqual([await messages.next(7), await messages.next(7)], [1n, 2n]);
  const before = writes;
  const now = Date.now;
  t.after(() => {
    Date.now = now;
  });
  // Only the wall clock steps; the monotonic clock does not.
  Date.now = () => now() + 3_600_000;
  assert.equal(await messages.next(7), 3n);
  assert.equal(writes, before + 1);
  await messages.close();
});

test("sections without requests make room for others", async () => {
  const store = new MemoryStore();
  const messages = users(store, "messages", { size: 1, ...WAIT });
  // The most sections.
  const first = await Promise.all(Array.from({ length: 10_000 }, (_, user) => messages.next(user)));
  assert.ok(first.every((number) => number === 1n));
  await until(async () => {
    const number = await messages.next(10_000).catch((error) => error);
    if (number === 1n) return true;
    assert.deepEqual([number.code, number.retryAfterMs], ["EXHAUSTED", 5000]);
  }, "room");
  await messages.close();
});

test("the end of an await using closes", async () => {
  const store = new MemoryStore();
  const messages = users(store, "messages");
  assert.equal(await messages.next(7), 1n);
  await messages[Symbol.asyncDispose]();
  assert.ok((await users(store, "messages").next(7)) > 1n);
});

test("a set keeps the size of its sections", async () => {
  const store = new MemoryStore();
  await users(store, "messages", { size: 10 }).next(7);
  await assert.rejects(users(store, "messages", { size: 11, ...WAIT }).next(7), { code: "INVALID_ID", message: /10/ });
  assert.equal(await users(store, "others", { size: 11 }).next(7), 1n);
});

test("a new section begins after the numbers that a fence skips", async () => {
  const store = new MemoryStore();
  await store.write("fence/floor", bytes("until=1772323200123 skip=1000"), 0);
  assert.equal(await users(store).next(7), 1001n);
});

test("a record that is none is refused", async () => {
  const store = new MemoryStore();
  await store.write("sections/users/0", bytes("garbage"), 0);
  await refused("STORE_UNAVAILABLE", () => users(store).next(7));
});

test("wrong arguments are refused with types", async () => {
  const store = new MemoryStore();
  const messages = users(store);
  for (const wrong of [-1, 2n ** 64n, -(2n ** 200n), 1.5, "x", undefined, null])
    await refused("INVALID_ID", () => messages.next(wrong));
  await messages.close();
  const wrong = [{ size: 0 }, { size: 1_000_001 }, { size: -1 }, { step: 0 }, { step: 2 ** 31 }, { windowMs: 999 }];
  for (const options of wrong) refusal("INVALID_ID", () => users(store, "a", options));
  for (const set of ["", "x".repeat(129)]) refusal("INVALID_TEXT", () => users(store, set));
  for (const set of ["a\nb", "e\u0301"]) await refused("INVALID_TEXT", () => users(store, set).next(7));
  assert.throws(() => users(store, 5), TypeError);
  for (const options of [{ label: 5 }, { wait: 1 }, 5]) assert.throws(() => users(store, "a", options), TypeError);
  assert.throws(() => users({}), /TypeError.*needs a store with the method/);
});
