// The verbs of every store, against real servers.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { endpoint } from "./dynamo.mjs";
import { shared } from "./servers.mjs";
import { bytes, MemoryStore, SERVED, sqliteAt, storeAt, text } from "./stores.mjs";
import { folder } from "./support.mjs";

const LAST = 2n ** 63n - 1n;
const readable = (found) => found && [text(found.value), found.version];

/** The shared server of a kind. */
const serverOf = (kind) => shared(SERVED[kind].engine);

let numbers = 0;
/** A namespace that no other test has. */
const fresh = () => `test-${process.pid}-${numbers++}`;

/** Two stores of one place, or twice the same where it is in memory. */
const PLACES = {
  memory: async () => {
    const store = new MemoryStore();
    return [store, store];
  },
  "better-sqlite3": async (t) => {
    const path = join(folder(t), "ids.db");
    return [sqliteAt(t, path), sqliteAt(t, path)];
  },
};
PLACES.dynamodb = async (t) => {
  const url = await endpoint();
  return [await storeAt(t, "dynamodb", url), await storeAt(t, "dynamodb", url)];
};
for (const kind of Object.keys(SERVED))
  PLACES[kind] = async (t) => {
    const { url } = await serverOf(kind);
    return [await storeAt(t, kind, url), await storeAt(t, kind, url)];
  };

describe("verbs", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries(PLACES))
    describe(kind, { concurrency: 1 }, () => {
      test("a record is written only in the place of its version", async (t) => {
        const [store, other] = await place(t);
        const key = `leases/${fresh()}/5`;
        assert.equal(await store.read(key), null);
        assert.equal(await store.write(key, bytes("first"), 1), null);
        assert.equal(await store.write(key, bytes("first"), 0), 1);
        assert.equal(await other.write(key, bytes("again"), 0), null);
        assert.deepEqual(readable(await other.read(key)), ["first", 1]);
        assert.equal(await other.write(key, bytes("second"), 1), 2);
        assert.equal(await store.write(key, bytes("late"), 1), null);
        assert.deepEqual(readable(await store.read(key)), ["second", 2]);
      });

      test("any bytes come back as they are", async (t) => {
        const [store, other] = await place(t);
        const name = fresh();
        const all = Uint8Array.from({ length: 256 }, (_, at) => at);
        const values = [new Uint8Array(), all, bytes(":".repeat(1024)), bytes("12:34"), all.subarray(13, 40)];
        for (const [at, value] of values.entries()) {
          assert.equal(await store.write(`leases/${name}/${at}`, value, 0), 1);
          const found = await other.read(`leases/${name}/${at}`);
          assert.deepEqual([...found.value], [...value]);
          assert.equal(Object.getPrototypeOf(found.value), Uint8Array.prototype);
        }
      });

      test("a list has what is right under its prefix", async (t) => {
        const [store] = await place(t);
        const name = fresh();
        for (const key of ["a/1", "a/2", "a/2/3", "a", "ab/4", "b/5", "a%/6", "a_/7"])
          await store.write(`${name}/${key}`, bytes(key), 0);
        await store.write(`${name}/a/2`, bytes("changed"), 1);
        const listed = await store.list(`${name}/a/`);
        const rows = listed.map((each) => [each.name, ...readable(each)]).sort();
        assert.deepEqual(rows, [
          ["1", "a/1", 1],
          ["2", "changed", 2],
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
        won.sort((a, b) => a - b);
        assert.deepEqual(
          won,
          won.map((_, at) => at + 1),
        );
        assert.ok(won.length >= 5);
        assert.deepEqual(readable(await stores[0].read(key)), ["mine", won.length]);
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
        if (["memory", "better-sqlite3", "dynamodb"].includes(kind)) assert.equal(clock, null);
        else assert.ok(Number.isInteger(clock) && Math.abs(clock - Date.now()) < 60_000, `${clock}`);
      });
    });
});

const PYTHON = new URL("../../.venv/bin/python", import.meta.url).pathname;
const COPY = `
import sys
from snowmint.stores import connect
store, name = connect(sys.argv[1]), sys.argv[2]
assert store.read(f"{name}/node") == (bytes(range(256)), 2), store.read(f"{name}/node")
assert store.add(f"{name}/count", 2, 100) == 9, "count"
assert store.write(f"{name}/python", b"\\x00python\\xff", 0) == 1
assert store.write(f"{name}/node", b"taken", 2) == 3
`;
const hasPython = () => {
  if (!existsSync(PYTHON)) return false;
  try {
    execFileSync(PYTHON, ["-c", "import snowmint.stores"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test("Python's stores have the same records and counters", { skip: !hasPython() && "not built" }, async (t) => {
  const path = join(folder(t), "ids.db");
  const places = [[`sqlite:${path}`, sqliteAt(t, path)]];
  for (const kind of ["pg", "mysql2", "redis, RESP3"]) {
    const { url } = await serverOf(kind);
    places.push([url, await storeAt(t, kind, url)]);
  }
  const table = encodeURIComponent(await endpoint());
  places.push([
    `dynamodb://eu-west-1/snowmint?endpoint_url=${table}`,
    await storeAt(t, "dynamodb", decodeURIComponent(table)),
  ]);
  // The server of DynamoDB is in this process, so it must not wait for the other one.
  const run = promisify(execFile);
  const env = { ...process.env, AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
  for (const [url, store] of places) {
    const name = fresh();
    const all = Uint8Array.from({ length: 256 }, (_, at) => at);
    await store.write(`${name}/node`, bytes("first"), 0);
    await store.write(`${name}/node`, all, 1);
    assert.equal(await store.add(`${name}/count`, 2n, 5n), 7n);
    await run(PYTHON, ["-c", COPY, url, name], { env });
    assert.equal(await store.write(`${name}/node`, bytes("late"), 2), null);
    const listed = (await store.list(`${name}/`)).map((each) => [each.name, [...each.value], each.version]).sort();
    assert.deepEqual(listed, [
      ["node", [...bytes("taken")], 3],
      ["python", [0, ...bytes("python"), 255], 1],
    ]);
    assert.equal(await store.add(`${name}/count`, 0n, 0n), 9n);
  }
});
