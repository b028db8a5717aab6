// The verbs of every store, against real servers.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { bytes, fresh } from "./asserting.mjs";
import { endpoint } from "./dynamo.mjs";
import { shared } from "./servers.mjs";
import { LEASED, MemoryStore, SERVED, sqliteAt, storeAt } from "./stores.mjs";
import { folder } from "./support.mjs";
import { verbs } from "./verbs.mjs";

/** The shared server of a kind. */
const serverOf = (kind) => shared(LEASED[kind].engine);

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
for (const kind of [...Object.keys(SERVED), "etcd"])
  PLACES[kind] = async (t) => {
    const { url } = await serverOf(kind);
    return [await storeAt(t, kind, url), await storeAt(t, kind, url)];
  };

describe("verbs", { concurrency: 4 }, () => {
  for (const [kind, place] of Object.entries(PLACES))
    describe(kind, { concurrency: 1 }, () => {
      verbs(test, place, { hasClock: kind in SERVED });
    });
});

const PYTHON = new URL("../../.venv/bin/python", import.meta.url).pathname;
const COPY = `
import sys
from snowmint.stores import connect
store, name = connect(sys.argv[1]), sys.argv[2]
value, version = store.read(f"{name}/node")
assert (value, version) == (bytes(range(256)), int(sys.argv[3])), (value, version)
assert store.add(f"{name}/count", 2, 100) == 9, "count"
print(store.write(f"{name}/python", b"\\x00python\\xff", 0), store.write(f"{name}/node", b"taken", version))
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
  for (const kind of ["pg", "mysql2", "redis, RESP3", "etcd"]) {
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
    const first = await store.write(`${name}/node`, bytes("first"), 0);
    const second = await store.write(`${name}/node`, all, first);
    assert.equal(await store.add(`${name}/count`, 2n, 5n), 7n);
    const { stdout } = await run(PYTHON, ["-c", COPY, url, name, `${second}`], { env });
    const [python, taken] = stdout.split(" ").map(Number);
    assert.equal(await store.write(`${name}/node`, bytes("late"), second), null);
    const listed = (await store.list(`${name}/`)).map((each) => [each.name, [...each.value], each.version]).sort();
    assert.deepEqual(listed, [
      ["node", [...bytes("taken")], taken],
      ["python", [0, ...bytes("python"), 255], python],
    ]);
    assert.equal(await store.add(`${name}/count`, 0n, 0n), 9n);
  }
});
