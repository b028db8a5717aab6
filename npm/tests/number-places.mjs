// Places of durable numbers: stores on real servers, processes that are killed, and stores that lose their answers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SnowmintError } from "snowmint";
import { fresh, until } from "./asserting.mjs";
import { endpoint } from "./dynamo.mjs";
import { shared } from "./servers.mjs";
import { LEASED, MemoryStore, sqliteAt, storeAt } from "./stores.mjs";
import { folder, hold } from "./support.mjs";

/** Options of calls that wait for as long as a busy machine takes. */
export const WAIT = { maxWaitMs: 60_000 };

/** Asserts that a call rejects with a SnowmintError of this code. */
export const refused = (code, call) =>
  assert.rejects(call, (error) => error instanceof SnowmintError && error.code === code);

/** One client of each library. */
const KINDS = ["pg", "mysql2/promise", "ioredis, RESP3", "etcd"];

/** Places: their URL, and a function that makes a store of a separate client there. */
export const PLACES = {
  memory: async () => {
    const store = new MemoryStore();
    return { store: async () => store };
  },
  "better-sqlite3": async (t) => {
    const url = join(folder(t), "ids.db");
    return { url, store: async () => sqliteAt(t, url, { timeoutMs: 30_000 }) };
  },
  dynamodb: async (t) => {
    const url = await endpoint();
    return { url, store: () => storeAt(t, "dynamodb", url) };
  },
  ...Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      async (t) => {
        const { url } = await shared(LEASED[kind].engine);
        return { url, store: () => storeAt(t, kind, url) };
      },
    ]),
  ),
};

const numbersOf = (ledger) => {
  try {
    // The last line may be half written.
    return readFileSync(ledger, "utf8").split("\n").slice(0, -1).map(BigInt);
  } catch {
    return [];
  }
};

/** Sorts numbers that a process took by 20 calls at once: such calls have no order, but the next ones get higher numbers. */
const sorted = (numbers) => {
  const starts = [...numbers.keys()].filter((at) => at % 20 === 0);
  return starts.flatMap((at) => numbers.slice(at, at + 20).sort((a, b) => (a < b ? -1 : 1)));
};

/**
 * Kills processes that take numbers, starts others, and asserts that no number comes twice. `count` processes run at the same time.
 * Returns the numbers of each.
 */
export async function killed(t, kind, { url }, term, { count = 2, rounds = 2 } = {}) {
  const name = fresh();
  const ledgers = [];
  for (let round = 0; round < rounds; round++) {
    const started = Array.from({ length: count }, (_, number) => {
      const ledger = join(folder(t), `${round}-${number}`);
      ledgers.push(ledger);
      return { ledger, child: hold(t, "numbering.mjs", {}, [kind, url, term, name, ledger]) };
    });
    for (const { ledger, child } of started) {
      const ended = child.gone.then(({ stderr }) => Promise.reject(new Error(stderr)));
      await Promise.race([until(() => numbersOf(ledger).length >= 200, "200 numbers"), ended]);
      ended.catch(() => {});
      child.kill("SIGKILL");
    }
    await Promise.all(started.map(({ child }) => child.gone));
  }
  const taken = ledgers.map(numbersOf);
  assert.equal(new Set(taken.flat()).size, taken.flat().length, "a number came twice");
  return taken.map(sorted);
}

/** A store whose calls pass through `before` and `after`, each with the verb and its key. They may throw. */
export function passing(store, { before = () => {}, after = () => {} } = {}) {
  const verbs = ["read", "write", "list", "add", "lower"].map((verb) => [
    verb,
    async (...words) => {
      await before(verb, ...words);
      const answer = await store[verb](...words);
      await after(verb, ...words);
      return answer;
    },
  ]);
  return { ...Object.fromEntries(verbs), clockMs: async () => null, toString: () => "a store of the test" };
}

/** A store of which every third answer is lost: it writes and then throws. */
export function forgetful(store) {
  let calls = 0;
  return passing(store, {
    after: (verb) => {
      if ((verb === "write" || verb === "add") && ++calls % 3 === 0) throw new Error("the answer was lost");
    },
  });
}
