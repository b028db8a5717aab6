// Sequences of a store, and ranges by name.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { SnowmintError } from "snowmint";
import { Sequences, sequence } from "snowmint/numbers";
import { MemoryStore } from "snowmint/stores";
import { bytes, fresh, increasing, refusal, text } from "./asserting.mjs";
import { forgetful, killed, PLACES, passing, refused, WAIT } from "./number-places.mjs";
import { hasProcesses } from "./support.mjs";

describe("sequences over every store", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries(PLACES))
    describe(kind, { concurrency: 1 }, () => {
      test("two sessions share a sequence, whose first definition stays", async (t) => {
        const at = await place(t);
        const name = fresh();
        const [first, second] = [new Sequences(await at.store(), WAIT), new Sequences(await at.store(), WAIT)];
        assert.equal(await first.create(name, { start: 3, increment: 2 }), true);
        assert.equal(await second.create(name, { start: 500 }), false);
        // Without a cache values come in the order of calls.
        const values = [];
        for (let i = 0; i < 10; i++) values.push(await (i % 3 ? first : second).next(name));
        assert.deepEqual(values, [3n, 5n, 7n, 9n, 11n, 13n, 15n, 17n, 19n, 21n]);
        const all = await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? first : second).next(name)));
        assert.equal(new Set(all).size, 60);
        assert.equal(await first.set(name, 1001), 1001n);
        assert.equal(await second.next(name), 1003n);
      });

      if (kind !== "memory" && hasProcesses(kind))
        test("processes that are killed repeat no value", async (t) => {
          for (const values of await killed(t, kind, await place(t), "Sequences")) increasing(values);
        });
    });
});

test("sessions answer as the databases do", async () => {
  const path = new URL("../../tests/vectors/sequence.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(path, "utf8"));
  const value = (word) => ({ true: true, false: false })[word] ?? word;
  let steps = 0;
  for (const given of cases) {
    const session = new Sequences(new MemoryStore());
    const options = { dialect: given.dialect, ...given.options };
    if (given.error) {
      await refused(given.error, () => session.create("s", options));
      continue;
    }
    assert.equal(await session.create("s", options), true, given.name);
    const answers = {
      nextval: () => session.next("s"),
      currval: () => session.current("s"),
      // MariaDB and TiDB have LASTVAL(s).
      lastval: () => (given.dialect === "pg" ? session.last() : session.current("s")),
      setval: (words) => session.set("s", ...words.map(value)),
    };
    for (const [statement, expected] of given.steps ?? []) {
      const [, verb, words] = /^(\w+)(?:\((.*)\))?$/.exec(statement);
      const answer = await answers[verb](words?.split(",")).catch((error) => error);
      const found = answer instanceof SnowmintError ? answer.code : (answer?.toString() ?? null);
      assert.equal(found, expected, `${given.name}: ${statement}: ${answer}`);
      steps++;
    }
  }
  assert.ok(steps > 100, `${steps} steps`);
});

test("a definition is the text that every language reads", async () => {
  const store = new MemoryStore();
  const session = new Sequences(store);
  await session.create("a b", { start: 5, max: 9n, cycle: true, dialect: "mariadb", cache: "2" });
  const found = await store.read("definitions/a%20b");
  const lines = [
    "sequence 1",
    "dialect=mariadb",
    "kind=bigint",
    "increment=1",
    "cycle=true",
    "max=9",
    "start=5",
    "cache=2",
  ];
  assert.equal(text(found.value), `${lines.join("\n")}\n`);
  await store.write("definitions/down", bytes("sequence 1\ndialect=pg\nkind=bigint\nincrement=-1\ncycle=false\n"), 0);
  assert.deepEqual([await session.next("down"), await session.next("down")], [-1n, -2n]);
});

test("a session knows its last value", async () => {
  const session = new Sequences(new MemoryStore());
  await refused("INVALID_ID", () => session.last());
  await refused("INVALID_ID", () => session.current("a"));
  assert.equal(await session.next("a"), 1n);
  assert.equal(await session.next("b"), 1n);
  assert.equal(await session.next("a"), 2n);
  assert.deepEqual([await session.last(), await session.current("b")], [2n, 1n]);
  assert.equal(await session.set("b", 41, false), 41n);
  assert.equal(await session.next("b"), 41n);
});

test("a new sequence begins after the values that a fence skips", async () => {
  const store = new MemoryStore();
  await store.write("fence/floor", bytes("until=1772323200123 skip=1000"), 0);
  assert.equal(await new Sequences(store).next("orders"), 1001n);
});

test("many calls at once share writes", async () => {
  let writes = 0;
  const store = passing(new MemoryStore(), { before: (verb, key) => verb === "write" && /^seq/.test(key) && writes++ });
  const session = new Sequences(store, WAIT);
  const values = await Promise.all(Array.from({ length: 500 }, () => session.next("orders")));
  assert.deepEqual(
    values,
    Array.from({ length: 500 }, (_, i) => BigInt(i + 1)),
  );
  assert.ok(writes < 5, `${writes} writes`);
});

test("lost answers skip values and repeat none, and a set is done once", async () => {
  const store = forgetful(new MemoryStore());
  const taken = [];
  for (let i = 0; i < 3; i++) {
    const session = new Sequences(store, WAIT);
    for (let j = 0; j < 20; j++) taken.push(await session.next("orders"));
  }
  increasing(taken);
  const session = new Sequences(store, WAIT);
  for (let i = 1; i < 6; i++) {
    assert.equal(await session.set("orders", 1000 * i), BigInt(1000 * i));
    // A value whose write had no answer is skipped.
    const next = await session.next("orders");
    assert.ok(next > 1000 * i && next < 1000 * i + 5, `${next}`);
  }
});

test("a call that is given up holds up no later call, and its answer does nothing", async () => {
  let held;
  let holds = false;
  const store = passing(new MemoryStore(), {
    after: (verb) => {
      if (!holds || verb !== "write") return;
      holds = false;
      return new Promise((resolve) => {
        held = resolve;
      });
    },
  });
  const session = new Sequences(store, { maxWaitMs: 100 });
  assert.equal(await session.next("orders"), 1n);
  holds = true;
  const error = await session.next("orders").catch((error) => error);
  assert.equal(error.message, "a store of the test: no answer within 100 ms");
  const values = [await session.next("orders")];
  held();
  for (let i = 0; i < 5; i++) values.push(await session.next("orders"));
  increasing([1n, ...values]);
});

test("wrong arguments are refused with types", async () => {
  assert.throws(() => new Sequences({}), /TypeError.*needs a store with the method/);
  assert.throws(() => new Sequences(new MemoryStore(), { wait: 1 }), TypeError);
  const session = new Sequences(new MemoryStore());
  for (const wrong of [undefined, null, 5]) await assert.rejects(() => session.next(wrong), TypeError);
  for (const wrong of ["", "x".repeat(129), "a\n"]) await refused("INVALID_TEXT", () => session.next(wrong));
  const wrong = [{ increment: 0 }, { start: 0 }, { min: 5, max: 4 }, { cache: 0 }, { start: 1.5 }, { max: 10n ** 60n }];
  for (const options of wrong) await refused("INVALID_ID", () => session.create("s", options));
  for (const options of [{ dialect: "oracle" }, { kind: "tinyint" }])
    await refused("INVALID_TEXT", () => session.create("s", options));
  for (const options of [{ cycle: 1 }, { steps: 1 }, 5])
    await assert.rejects(() => session.create("s", options), TypeError);
  for (const value of [null, undefined, "x", 2n ** 70n]) await refused("INVALID_ID", () => session.set("s", value));
  await assert.rejects(() => session.set("s", 5, 1), TypeError);
  await refused("INVALID_ID", () => session.set("s", 5, true, 1));
});

test("a range by name lists its numbers as often as it is asked", () => {
  const range = sequence.virtual("seq_1_to_15_step_3");
  for (let i = 0; i < 2; i++) assert.deepEqual([...range], [1n, 4n, 7n, 10n, 13n]);
  assert.equal(range.length, 5n);
  assert.deepEqual([...sequence.virtual("seq_6_to_1_step_2")], [5n, 3n, 1n]);
  const whole = sequence.virtual("seq_0_to_18446744073709551615");
  assert.equal(whole.length, 2n ** 64n);
  const [first, second] = whole;
  assert.deepEqual([first, second], [0n, 1n]);
  for (const wrong of ["seq_1_to_5_step_0", "", undefined, "seq_-1_to_5"])
    refusal("INVALID_TEXT", () => sequence.virtual(wrong));
});
