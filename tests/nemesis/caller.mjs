// A client of services by the protocol of Redis: takes numbers of a key until it is killed, and writes them to a ledger
// (ledger.py has the format).
//
//   node caller.mjs DIRECTORY PACE_MS URL...
import { setTimeout as sleep } from "node:timers/promises";
import { now, require, takes } from "./clients.mjs";

const Redis = require("ioredis");

const KEY = "takes";
const EXPLAINED = /^(ERR (STORE_UNAVAILABLE|EXHAUSTED|WINDOW_CLOSED)|BUSY) /;
// A connection ends after this many commands, so that all services are asked.
const COMMANDS = 50;
const TIMEOUT_MS = 3000;

const [directory, pace, ...urls] = process.argv.slice(2);
const write = takes(directory, "key");

/** Takes one number, or a run of numbers, and returns all of them. */
async function take(client, turn) {
  if (turn % 3 === 0) return [await client.incr(KEY)];
  if (turn % 3 === 1) return [Number(await client.get(KEY))];
  const count = 1 + (turn % 7);
  const last = await client.incrby(KEY, count);
  return Array.from({ length: count }, (_, at) => last - count + 1 + at);
}

/** Tries what in Redis would lead back to numbers that were given. A service refuses it. */
async function setBack(client) {
  const refused = (error) => /, and its numbers never go back: nothing is set$/.test(error.message);
  const answer = await client.set(KEY, 0).catch((error) => {
    if (!refused(error)) throw error;
  });
  if (answer !== undefined) throw new Error(`SET answered ${answer}`);
}

for (let session = 0; ; session++) {
  // A connection that broke stays broken: the next one may lead to another process, whose numbers have no common order.
  const client = new Redis(urls[session % urls.length], {
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
  });
  client.on("error", () => {});
  try {
    // The first number makes the key, if it does not exist.
    for (let turn = 0; turn < COMMANDS; turn++) {
      const call = now();
      const numbers = await take(client, turn);
      write(session, numbers, call, now());
      if (turn === COMMANDS / 2) await setBack(client);
      await sleep(+pace);
    }
  } catch (error) {
    if (error.name === "ReplyError" && !EXPLAINED.test(error.message)) throw error;
    await sleep(20);
  } finally {
    client.disconnect();
  }
}
