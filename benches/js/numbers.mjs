// Measures the cost of a number of `Segments` over a store in memory. The floor is a plain counter behind a promise.
import { Segments } from "../../npm/dist/numbers.node.mjs";
import { MemoryStore } from "../../npm/dist/stores.node.mjs";

const ROUNDS = 101;
const CALLS = 8192;

/** A simple counter, for one process. */
class Plain {
  #next = 1n;

  async next() {
    return this.#next++;
  }
}

async function turn(numbers, last) {
  const started = performance.now();
  for (let call = 0; call < CALLS; call++) {
    const number = await numbers.next();
    // A measurement of something that repeats is worth nothing.
    if (!(number > last)) throw new Error(`${number} after ${last}`);
    last = number;
  }
  return { ns: ((performance.now() - started) * 1e6) / CALLS, last };
}

const contenders = [
  { name: "floor: a plain counter behind a promise", numbers: new Plain() },
  { name: "snowmint/numbers: await segments.next()", numbers: new Segments(new MemoryStore(), "orders", { step: 100_000 }) },
].map((each) => ({ ...each, ns: [], last: 0n }));

for (let round = 0; round < ROUNDS; round++)
  for (let i = 0; i < contenders.length; i++) {
    // Each goes first in turn.
    const each = contenders[(round + i) % contenders.length];
    const { ns, last } = await turn(each.numbers, each.last);
    each.ns.push(ns);
    each.last = last;
  }

const percentile = (values, part) => [...values].sort((a, b) => a - b)[Math.floor(part * (values.length - 1))];
// Until then the compilers were at work.
const settled = (values) => values.slice(Math.floor(ROUNDS / 10));
const floor = settled(contenders[0].ns);
const rows = contenders.map(({ name, ns }) => {
  const times = settled(ns);
  const ratio = percentile(times.map((each, turn) => each / floor[turn]), 0.5);
  const [p10, median, p90] = [0.1, 0.5, 0.9].map((part) => percentile(times, part));
  return { name, p10, median, p90, ratio };
});
console.log(JSON.stringify({ title: "Node: a number from memory", unit: "ns", rows }));
