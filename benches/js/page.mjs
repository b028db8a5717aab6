// Measures the cost of an ID in a page of a browser. Nothing here needs Node.
import { Snowflake } from "/npm/dist/browser.mjs";
import { BATCH, each, plainWide, tunedDefault, tunedWide, tunedWider, WIDE, WIDER } from "./layouts.mjs";
import { Contender, compare, sustained } from "./turns.mjs";

/** Enough to see differences below a percent, though the clock of a page counts in steps of 5 µs. */
const calls = 65_536;

export function single() {
  const gen = new Snowflake({ layout: WIDE, node: 15 });
  const plain = plainWide();
  const tuned = tunedWide();
  return compare("Chromium: an ID", [
    new Contender("plain JavaScript: nextId()", () => plain.nextId(), { calls }),
    new Contender("plain JavaScript, tuned: nextId()", () => tuned.nextId(), { calls }),
    new Contender("floor: Date.now()", () => Date.now(), { order: "clock", calls }),
    new Contender("snowmint: nextId()", () => gen.nextId(), { calls }),
  ]);
}

export function batches() {
  const gen = new Snowflake({ layout: WIDER, node: 3 });
  const tuned = tunedWider();
  const [ours, theirs] = [new BigUint64Array(BATCH), new BigUint64Array(BATCH)];
  return compare(`Chromium: BigUint64Arrays of ${BATCH} IDs, an ID`, [
    new Contender("plain JavaScript, tuned: fill(array)", () => tuned.fill(theirs), { idsACall: BATCH }),
    new Contender("snowmint: fill(array)", () => gen.fill(ours), { idsACall: BATCH }),
  ]);
}

/** A page cannot block: who wants the next ID now asks again. */
function insisting(mint) {
  for (;;) {
    try {
      return mint();
    } catch (error) {
      if (error.code !== "EXHAUSTED") throw error;
    }
  }
}

export function inALoop() {
  const gen = new Snowflake({ node: 5, maxAheadMs: 0 });
  const tuned = tunedDefault();
  return sustained("Chromium: an ID, sustained, default layout", {
    "plain JavaScript, tuned, spins: nextId()": () => each(() => tuned.nextId()),
    "snowmint: nextId()": () => each(() => insisting(() => gen.nextId())),
    "snowmint: nextIds(512)": () => insisting(() => gen.nextIds(512)),
  });
}
