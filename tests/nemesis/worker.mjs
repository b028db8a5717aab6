// A worker in Node: leases and mints until SIGTERM, and writes windows and IDs to a ledger (ledger.py has the format).
//
//   node worker.mjs STORE NAMESPACE LAYOUT WINDOW_MS MAX_WAIT_MS LEDGER SEED
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { now, require, storeOf } from "./clients.mjs";

const { Snowflake } = require("snowmint");

const EXPLAINED = ["EXHAUSTED", "CLOCK_BACKWARDS", "WINDOW_CLOSED", "NODES_EXHAUSTED", "STORE_UNAVAILABLE"];
const REST_MS = 20;
const LIFE_MS = 1200;
const RUN = 400;

const [url, namespace, layout, ...rest] = process.argv.slice(2);
const [windowMs, maxWaitMs, path, seed] = [+rest[0], +rest[1], rest[2], rest[3]];

let state = [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 1) || 1;
/** A random number from 0 to 1, without 1; the same ones for the same seed. */
function chance() {
  state ^= state << 13;
  state ^= state >>> 17;
  state = (state ^ (state << 5)) >>> 0;
  return state / 2 ** 32;
}

const file = openSync(`${path}.0`, "a");
function append(kind, count, first, second, third, body = Buffer.alloc(0)) {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(kind, 0);
  head.writeUInt32LE(count, 4);
  [first, second, third].forEach((word, at) => head.writeBigInt64LE(BigInt(word), 8 + 8 * at));
  const record = Buffer.concat([head, body]);
  if (writeSync(file, record) !== record.length) throw new Error("the ledger's disk is full");
}

function refuseUnexplained(error) {
  if (!EXPLAINED.includes(error.code)) throw error;
}

let ending = false;
process.on("SIGTERM", () => {
  ending = true;
});

/** Mints until a time, by the monotonic clock, until the lease is lost, or until SIGTERM. */
async function mint(gen, end) {
  let last = "";
  const granted = () => {
    const { node, window } = gen;
    if (!window) return;
    const text = `${node} ${window.start} ${window.end}`;
    if (text === last) return;
    last = text;
    append(2, node, window.start, window.end, now());
  };
  while (performance.now() < end && !ending) {
    granted();
    const verb = Math.floor(chance() * 4);
    const call = now();
    const deadlineMs = verb === 1 ? 0 : maxWaitMs;
    let ids = [];
    let code;
    try {
      if (verb === 0) ids = [gen.nextId()];
      else if (verb === 1) ids = [gen.tryNextId()];
      else if (verb === 2) ids = gen.nextIds(1 + Math.floor(chance() * RUN));
      else ids = [await gen.nextIdAsync()];
    } catch (error) {
      refuseUnexplained(error);
      code = error.code;
    }
    const back = now();
    if (code === undefined) {
      granted();
      append(3, ids.length, call, back, deadlineMs, Buffer.from(BigUint64Array.from(ids).buffer));
    } else {
      append(4, code.length, call, back, deadlineMs, Buffer.from(code));
      if (gen.status().lost !== null) return;
    }
    await sleep(chance() * REST_MS);
  }
}

const store = await storeOf(url);
for (let number = 0; !ending; ) {
  const call = now();
  let gen;
  try {
    gen = await Snowflake.lease({ store, namespace, layout, windowMs, maxWaitMs });
  } catch (error) {
    refuseUnexplained(error);
    await sleep(50);
    continue;
  }
  append(1, process.pid, call, now(), number++);
  await mint(gen, performance.now() + LIFE_MS * (1 + 3 * chance()));
  await gen.close();
}
process.exit(0);
