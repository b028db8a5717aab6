// Worker threads. This thread never loads the package itself, so what the addon keeps must outlive every thread that does.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { increasing } from "./support.mjs";

/** Returns the answer of a thread after the thread has ended. */
async function answer(workerData, env = {}) {
  const file = new URL("./minting.worker.mjs", import.meta.url);
  const worker = new Worker(file, { workerData, env: { ...process.env, ...env } });
  const [[message]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
  return message;
}

test("four threads with two handles each on one node mint 200,000 distinct IDs", async () => {
  const batches = await Promise.all(Array.from({ length: 4 }, () => answer({ count: 50_000, options: { node: 1 } })));
  for (const ids of batches) {
    assert.equal(ids.length, 50_000);
    increasing(ids);
  }
  assert.equal(new Set(batches.flatMap((ids) => [...ids])).size, 200_000);
});

test("a thread goes on where one that has ended left off, though it had run ahead of the clock", async () => {
  const options = { layout: "time:41,node:2,sequence:4;epoch=0", node: 2, maxAheadMs: 600_000 };
  const first = await answer({ count: 400_000, options });
  const second = await answer({ count: 1000, options });
  assert.ok(second[0] > first.at(-1));
});

test("without the addon a thread is refused a vouched node, and told why and what to do", async () => {
  const { vouched, scripted, decoded } = await answer({ options: { node: 3 } }, { SNOWMINT_NO_ADDON: "1" });
  assert.equal(vouched.code, "INVALID_NODE");
  assert.match(vouched.message, /node 3 .*addon.* each thread .*: install .*main thread/);
  assert.equal(scripted, "bigint");
  assert.equal(decoded, 32);
});

test("with the addon a thread does all of this", async () => {
  const told = await answer({ options: { node: 4 } });
  assert.deepEqual(told, { vouched: "bigint", scripted: "bigint", decoded: 32 });
});
