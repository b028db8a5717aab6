// The corpus of numbers over a store, tests/vectors/numbers.json.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SnowmintError } from "snowmint";
import { Segments, Tickets, users } from "snowmint/numbers";
import { MemoryStore } from "snowmint/stores";
import { WAIT } from "./number-places.mjs";

const { cases } = JSON.parse(readFileSync(new URL("../../tests/vectors/numbers.json", import.meta.url), "utf8"));

const kinds = {
  segments: (options) => new Segments(new MemoryStore(), "a", { ...options, ...WAIT }),
  tickets: ({ stores }) =>
    new Tickets(
      Array.from({ length: stores }, () => new MemoryStore()),
      "a",
      WAIT,
    ),
  users: (options) => users(new MemoryStore(), "a", { ...options, ...WAIT }),
};

const verbs = {
  next: async (taker, ...user) => String(await taker.next(...user)),
  block: async (taker, count) => {
    const { start, end } = await taker.nextBlock(count);
    return `${start} ${end}`;
  },
  close: async (taker) => {
    await taker.close();
    return null;
  },
};

const codeOf = (error) => {
  if (error instanceof SnowmintError) return error.code;
  throw error;
};

for (const { name, kind, options, calls, error } of cases)
  test(`one client gets these numbers: ${name}`, async () => {
    if (error) {
      assert.throws(() => kinds[kind](options), { name: "SnowmintError", code: error });
      return;
    }
    const taker = kinds[kind](options);
    for (const [call, expected] of calls) {
      const [verb, ...words] = call.split(" ");
      assert.equal(await verbs[verb](taker, ...words).catch(codeOf), expected, call);
    }
  });
