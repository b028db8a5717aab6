// The Node program of the demonstration: `demo.mjs mint|threads PACKAGE LEDGER`. `mint` appends 20 IDs each millisecond
// to a file in the directory LEDGER, until its input ends. `threads` mints 50,000 IDs in each of four worker threads.
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, threadId, Worker } from "node:worker_threads";
import { Snowflake } from "../npm/dist/node.mjs";

const require = createRequire(new URL("../.cache/demo/package.json", import.meta.url));
const packages = {
  async snowmint() {
    // A busy machine may renew a window late.
    const generator = await Snowflake.lease({ maxWaitMs: 20_000 });
    return () => generator.nextId();
  },
  "@sapphire/snowflake"() {
    const { DiscordSnowflake } = require("@sapphire/snowflake");
    return () => DiscordSnowflake.generate();
  },
  "flake-idgen"() {
    const generator = new (require("flake-idgen"))();
    return () => generator.next().readBigUInt64BE();
  },
};

const [verb, name, ledger] = process.argv.slice(2);
const append = (next, count) => {
  const lines = Array.from({ length: count }, () => `${next()}\n`);
  appendFileSync(join(ledger, isMainThread ? `${process.pid}` : `thread ${threadId}`), lines.join(""));
};

if (!isMainThread) {
  const next = await packages[name]();
  parentPort.postMessage("ready");
  await once(parentPort, "message");
  // Less at once than the 4,096 IDs that a millisecond has, where some counters begin again.
  for (let round = 0; round < 25; round++, await sleep(2)) append(next, 2000);
  parentPort.close();
} else if (verb === "threads") {
  const workers = Array.from({ length: 4 }, () => new Worker(new URL(import.meta.url), { argv: [verb, name, ledger] }));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  for (const worker of workers) worker.postMessage("go");
  await Promise.all(workers.map((worker) => once(worker, "exit")));
  console.log("ready");
} else {
  const next = await packages[name]();
  const timer = setInterval(() => append(next, 20), 1);
  append(next, 20);
  console.log("ready");
  process.stdin.resume().once("end", () => clearInterval(timer));
}
