// A taker in Node: takes numbers of every kind from a store until it is killed, and writes them to ledgers (ledger.py has the format).
//
//   node taker.mjs KIND,... STORE DIRECTORY PACE_MS LIFE_MS
//
// Each kind has a ledger in DIRECTORY.
import { setTimeout as sleep } from "node:timers/promises";
import { now, require, storeOf, takes } from "./clients.mjs";

const { NativeNumbers, Segments, Sequences, Tickets, users } = require("snowmint/numbers");

const EXPLAINED = ["STORE_UNAVAILABLE", "EXHAUSTED", "WINDOW_CLOSED"];
/** Users of every part of a section, of its neighbours, and the last one there can be. */
const USERS = [0n, 1n, 50_000n, 99_999n, 100_000n, 199_999n, 12_345_678n, 2n ** 64n - 1n];

const SOURCES = {
  segment: (store) => new Segments(store, "takes"),
  ticket: (store) => new Tickets(store, "takes"),
  sequence: (store) => new Sequences(store),
  cached: (store) => new Sequences(store),
  native: (store) => new NativeNumbers(store, "takes", { step: 20 }),
  // Does not wait long for users whom another process serves.
  user: (store) => users(store, undefined, { windowMs: 1000, maxWaitMs: 200, step: 50 }),
};

const [kinds, url, directory, pace, life] = process.argv.slice(2);
const store = await storeOf(url);

/** Waits after an error that a fault explains, and throws any other one. */
async function pauseAfter(error) {
  if (!EXPLAINED.includes(error.code)) throw error;
  await sleep(20);
}

async function take(kind) {
  const write = takes(directory, kind);
  for (let session = 0; ; session++) {
    const source = SOURCES[kind](store);
    const end = performance.now() + life * (1 + (session % 4));
    for (let turn = 0; performance.now() < end; turn++) {
      const whose = kind === "user" ? USERS[turn % USERS.length] : session;
      const what = { user: [whose], sequence: ["takes"], cached: ["cached"] }[kind] ?? [];
      const call = now();
      try {
        const number = await source.next(...what);
        write(whose, [number], call, now());
      } catch (error) {
        await pauseAfter(error);
      }
      await sleep(+pace);
    }
    await source.close?.().catch(pauseAfter);
  }
}

await Promise.all(kinds.split(",").map(take));
