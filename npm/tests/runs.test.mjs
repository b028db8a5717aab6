// The runs of IDs that the wasm module's generators take for `nextId` by the system's clock, which these tests set.
import assert from "node:assert/strict";
import { test } from "node:test";

process.env.SNOWMINT_NO_ADDON = "1";
const { Snowflake } = await import("snowmint");
const { freshNode, increasing, refusal } = await import("./support.mjs");

const NOW = 1_772_323_200_000;

test("IDs of one node increase over its generators, calls and batches, while the system's clock steps", ({ mock }) => {
  mock.timers.enable({ apis: ["Date"], now: NOW });
  const options = { node: freshNode(), maxWaitMs: 0, maxAheadMs: 5 };
  const [one, other] = [new Snowflake(options), new Snowflake({ ...options, maxAheadMs: 9 })];
  const ids = [];
  for (const ms of [NOW, NOW, NOW + 1, NOW, NOW + 1, NOW + 2, NOW - 1, NOW + 2]) {
    mock.timers.setTime(ms);
    for (let round = 0; round < 9; round++) {
      ids.push(one.nextId(), one.nextId(), one.nextId(), other.nextId(), ...one.nextIds(2), other.nextId());
    }
  }
  increasing(ids);
});

test("a ms leaves at most half of what it takes unused, and the last IDs of a ms are minted", ({ mock }) => {
  mock.timers.enable({ apis: ["Date"], now: NOW });
  const gen = new Snowflake({
    layout: "time:41,sequence:6,node:10;epoch=0",
    node: freshNode(),
    maxAheadMs: 0,
    maxWaitMs: 0,
  });
  const ids = Array.from({ length: 64 }, () => gen.nextId());
  assert.deepEqual(
    ids.map((id) => gen.layout.decode(id).sequence),
    ids.map((_, place) => place),
  );
  refusal("EXHAUSTED", () => gen.nextId());
  mock.timers.setTime(NOW + 1);
  assert.deepEqual(gen.layout.decode(gen.nextId()).sequence, 0);
});
