// The verbs of a store: the tests that every store passes, in every runtime.
import assert from "node:assert/strict";
import { bytes, fresh, text } from "./asserting.mjs";

const LAST = 2n ** 63n - 1n;
const readable = (found) => found && [text(found.value), found.version];

/**
 * Declares the tests by `test`, which takes a name and a function. `place` resolves with two stores of one place, or twice
 * with the same store if it is in memory; it gets what `test` gives the function.
 */
export function verbs(test, place, { hasClock = true } = {}) {
  test("a record is written only in the place of its version", async (t) => {
    const [store, other] = await place(t);
    const key = `leases/${fresh()}/5`;
    assert.equal(await store.read(key), null);
    assert.equal(await store.write(key, bytes("first"), 1), null);
    const first = await store.write(key, bytes("first"), 0);
    assert.equal(await other.write(key, bytes("again"), 0), null);
    assert.deepEqual(readable(await other.read(key)), ["first", first]);
    const second = await other.write(key, bytes("second"), first);
    assert.equal(await store.write(key, bytes("late"), first), null);
    assert.deepEqual(readable(await store.read(key)), ["second", second]);
    // A version that counts would come back in a restored backup.
    if (store !== other) assert.notEqual(second, first + 1);
  });

  test("a counter is lowered only if it still has its value", async (t) => {
    const [store, other] = await place(t);
    if (!store.lower) return;
    const counter = `segments/${fresh()}`;
    assert.equal(await store.lower(counter, 5n, 1n), false);
    assert.equal(await store.add(counter, 10n, 1n), 11n);
    assert.equal(await other.lower(counter, 10n, 1n), false);
    assert.equal(await other.lower(counter, 11n, 4n), true);
    assert.equal(await store.lower(counter, 11n, 4n), false);
    assert.equal(await store.add(counter, 1n, 1n), 5n);
  });

  test("any bytes come back as they are", async (t) => {
    const [store, other] = await place(t);
    const name = fresh();
    const all = Uint8Array.from({ length: 256 }, (_, at) => at);
    const values = [new Uint8Array(), all, bytes(":".repeat(1024)), bytes("12:34"), all.subarray(13, 40)];
    for (const [at, value] of values.entries()) {
      assert.ok(await store.write(`leases/${name}/${at}`, value, 0));
      const found = await other.read(`leases/${name}/${at}`);
      assert.deepEqual([...found.value], [...value]);
      assert.equal(Object.getPrototypeOf(found.value), Uint8Array.prototype);
    }
  });

  test("a list has what is right under its prefix", async (t) => {
    const [store] = await place(t);
    const name = fresh();
    const versions = {};
    for (const key of ["a/1", "a/2", "a/2/3", "a", "ab/4", "b/5", "a%/6", "a_/7"])
      versions[key] = await store.write(`${name}/${key}`, bytes(key), 0);
    const changed = await store.write(`${name}/a/2`, bytes("changed"), versions["a/2"]);
    const listed = await store.list(`${name}/a/`);
    const rows = listed.map((each) => [each.name, ...readable(each)]).sort();
    assert.deepEqual(rows, [
      ["1", "a/1", versions["a/1"]],
      ["2", "changed", changed],
    ]);
    assert.deepEqual(await store.list(`${name}/none/`), []);
  });

  test("a counter is exact up to its end", async (t) => {
    const [store] = await place(t);
    const name = fresh();
    assert.equal(await store.add(`${name}/a`, 5n, 100n), 105n);
    assert.equal(await store.add(`${name}/a`, 5n, 100n), 110n);
    assert.equal(await store.add(`${name}/b`, 0n, 7n), 7n);
    assert.equal(await store.add(`${name}/b`, LAST - 8n, 7n), LAST - 1n);
    assert.equal(await store.add(`${name}/b`, 1n, 7n), LAST);
    for (const [counter, delta, start] of [
      ["b", 1n, 0n],
      ["c", 1n, LAST],
      ["c", LAST + 1n, 0n],
    ])
      await assert.rejects(store.add(`${name}/${counter}`, delta, start), {
        name: "RangeError",
        message: /no more numbers/,
      });
    await assert.rejects(store.add(`${name}/c`, -1n, 0n), RangeError);
    assert.equal(await store.add(`${name}/b`, 0n, 0n), LAST);
    assert.equal(await store.add(`${name}/c`, 3n, 0n), 3n);
  });

  test("of eight writers at once one wins each version", async (t) => {
    const stores = await place(t);
    const key = `${fresh()}/race`;
    const won = [];
    const race = async (_, number) => {
      const store = stores[number % 2];
      for (let turn = 0; turn < 5; turn++) {
        const found = await store.read(key);
        const written = await store.write(key, bytes("mine"), found?.version ?? 0);
        if (written !== null) won.push(written);
      }
    };
    await Promise.all(Array.from({ length: 8 }, race));
    assert.equal(new Set(won).size, won.length);
    assert.ok(won.length >= 5);
    const [value, version] = readable(await stores[0].read(key));
    assert.ok(value === "mine" && won.includes(version), `${version} of ${won}`);
  });

  test("counts at once are all different", async (t) => {
    const stores = await place(t);
    const name = fresh();
    // Most faults happen while a counter is created.
    for (let counter = 0; counter < 5; counter++) {
      const adding = Array.from({ length: 8 }, (_, at) => stores[at % 2].add(`${name}/${counter}`, 3n, 0n));
      const counts = (await Promise.all(adding)).map(Number).sort((a, b) => a - b);
      assert.deepEqual(counts, [3, 6, 9, 12, 15, 18, 21, 24]);
    }
  });

  test("the clock of a server is near ours", async (t) => {
    const [store] = await place(t);
    const clock = await store.clockMs();
    if (!hasClock) assert.equal(clock, null);
    else assert.ok(Number.isInteger(clock) && Math.abs(clock - Date.now()) < 60_000, `${clock}`);
  });
}
