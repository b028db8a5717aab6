// The memory of the wasm modules: what JavaScript drops is freed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exitOf } from "./support.mjs";

/** Seconds of work, which a busy machine does in minutes. */
const LIMIT_MS = 600_000;

/** Defines `bytes()`, which returns the size of all memories of wasm modules. */
const MEMORIES = `const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (...args) {
    const instance = new Instance(...args);
    memories.push(instance.exports.memory);
    return instance;
  };
  WebAssembly.Instance.prototype = Instance.prototype;
  const { Layout } = await import("snowmint");
  const bytes = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);`;

test("20,000 layouts are parsed in the memory of the first ones", async () => {
  const { code, stdout, stderr } = await exitOf(
    `${MEMORIES}
    const parse = (from, to) => { for (let at = from; at < to; at++) Layout.parse(\`time:41,node:10,sequence:12;epoch=\${at}\`); };
    parse(0, 1000);
    const before = bytes();
    parse(1000, 20_000);
    console.log(memories.length, before > 0, bytes() - before);`,
    { SNOWMINT_NO_ADDON: "1" },
    LIMIT_MS,
  );
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "1 true 0\n");
});

test("layouts that decode an ID are freed when they are garbage", async () => {
  const { code, stdout, stderr } = await exitOf(
    `import { setFlagsFromString } from "node:v8";
    import { runInNewContext } from "node:vm";
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc");
    ${MEMORIES}
    let collected;
    const registry = new FinalizationRegistry(() => collected());
    // All layouts of a round are garbage before the collection that finds the mark.
    const collect = async () => {
      registry.register({}, undefined);
      let over = false;
      collected = () => { over = true; };
      while (!over) {
        gc();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const round = async (round) => {
      for (let at = 0; at < 2000; at++)
        Layout.parse(\`time:41,node:10,sequence:12;epoch=\${round * 2000 + at}\`).decode(5n);
      await collect();
    };
    await round(0);
    const before = bytes();
    for (let at = 1; at < 10; at++) await round(at);
    // Nine rounds whose layouts stay would need nine times as much.
    console.log(before > 0, bytes() < 2 * before);`,
    { SNOWMINT_NO_ADDON: "1" },
    LIMIT_MS,
  );
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "true true\n");
});
