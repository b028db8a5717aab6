// Contenders that take turns in one realm, so that other load of the machine slows all of them alike. Nothing here
// needs Node.

const ROUNDS = 151;
/**
 * The calls of a turn. The clock of a page counts in steps of 5 µs, and an ID of an array can take less than 1 ns, so a
 * turn needs many arrays.
 */
const CALLS_A_TURN = { singly: 8192, arrays: 64 };

/**
 * A function that mints. `mint` returns an ID, or an array of `idsACall` IDs. Each ID must be above the last one. With
 * `order: "clock"` it may be equal, with `order: "none"` it must be new in its turn, and with `order: "told"` the table
 * reports wrong IDs. `read` converts an ID into a value that compares. `calls` is the number of calls in a turn.
 */
export class Contender {
  constructor(name, mint, { idsACall = 1, order = "increasing", read = (id) => id, calls } = {}) {
    Object.assign(this, { name, mint, idsACall, order, read, ns: [], wrong: 0, checked: 0 });
    // Keeps each result; otherwise a compiler could leave out the work for it.
    this.kept = new Array(calls ?? (idsACall === 1 ? CALLS_A_TURN.singly : CALLS_A_TURN.arrays)).fill(undefined);
    // A separate loop for each contender, as in a program that uses only one of them. In a shared loop a compiler could
    // not foresee which function is called.
    this.loop = new Function("mint", "kept", "for (let i = 0; i < kept.length; i++) kept[i] = mint();");
  }

  /** Measures a turn, and checks it. */
  turn() {
    const started = performance.now();
    this.loop(this.mint, this.kept);
    this.ns.push(((performance.now() - started) * 1e6) / (this.kept.length * this.idsACall));
    // Each call overwrites a buffer, so only its last content is checked.
    const ids = this.idsACall === 1 ? this.kept.map(this.read) : Array.from(this.kept.at(-1), this.read);
    const expected = this.idsACall === 1 ? this.kept.length : this.idsACall;
    if (ids.length !== expected) throw new Error(`${this.name}: ${ids.length} IDs`);
    this.check(ids);
  }

  // A measurement of something that repeats is worth nothing.
  check(ids) {
    const repeated = this.order === "clock" ? 0 : ids.length - new Set(ids).size;
    let below = 0;
    for (let i = 0, last = this.last; i < ids.length; last = ids[i++]) if (last > ids[i] || last === ids[i]) below++;
    if (this.order === "clock") below = ids.at(-1) < ids[0] ? 1 : 0;
    if (this.order === "none") below = 0;
    this.last = ids.at(-1);
    this.checked += ids.length;
    this.wrong += Math.max(repeated, below);
    if (this.wrong && this.order !== "told")
      throw new Error(`${this.name}: ${repeated} repeated, ${below} out of order`);
  }
}

/** The 10th, 50th and 90th percentile. */
function deciles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.1, 0.5, 0.9].map((part) => sorted[Math.floor(part * (sorted.length - 1))]);
}

function row(name, values, more) {
  const [p10, median, p90] = deciles(values);
  return { name, p10, median, p90, ...more };
}

/** A table: ns an ID, and the ratio to the first contender's, turn by turn. `benches/run.py` reads it. */
export function compare(title, contenders) {
  for (let round = 0; round < ROUNDS; round++) {
    // Each goes first in turn.
    for (let i = 0; i < contenders.length; i++) contenders[(round + i) % contenders.length].turn();
  }
  // The first tenth of the turns is for the compilers.
  const settled = (ns) => ns.slice(Math.floor(ROUNDS / 10));
  const first = settled(contenders[0].ns);
  const rows = contenders.map(({ name, ns, wrong, checked }) => {
    const times = settled(ns);
    const ratio = deciles(times.map((each, turn) => each / first[turn]))[1];
    const note = wrong && `${((100 * wrong) / checked).toFixed(1)} % repeated or out of order`;
    return row(name, times, { ratio, ...(note && { note }) });
  });
  return { title, unit: "ns", rows };
}

const SUSTAINED_MS = 250;
const REPEATS = 11;

/** A table: the time an ID over whole ms. The contenders mint arrays, and their layouts have 4,096 IDs a ms. */
export function sustained(title, contenders) {
  const found = Object.entries(contenders).map(([name, mint]) => ({ name, mint, ns: [] }));
  for (let repeat = 0; repeat < REPEATS; repeat++) for (const each of found) each.ns.push(sustainedNs(each));
  const ceiling = row("floor: 4,096 IDs a ms", [1e6 / 4096]);
  return { title, unit: "ns", rows: [ceiling, ...found.map(({ name, ns }) => row(name, ns))] };
}

function sustainedNs({ name, mint }) {
  const parts = [];
  const end = performance.now() + SUSTAINED_MS;
  while (performance.now() < end) parts.push(mint());
  const ids = parts.flatMap((part) => Array.from(part));
  for (let i = 1; i < ids.length; i++)
    if (!(ids[i] > ids[i - 1])) throw new Error(`${name}: ${ids[i]} after ${ids[i - 1]}`);
  const ticks = ids.map((id) => Number(id >> 22n));
  // The first and the last ms are cut off by the measurement.
  const whole = ticks.filter((tick) => tick > ticks[0] && tick < ticks.at(-1)).length;
  return (1e6 * (ticks.at(-1) - ticks[0] - 1)) / whole;
}
