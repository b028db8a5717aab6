// Generators that never wait, in the module that mints. A call of the module costs more than what else reading the clock leaves to
// do, so `next` takes a run of IDs at once, and hands them out while the clock says the ms of the run.
import { handleOf, numbersOf } from "./layout.js";
import type { Cell, CellSpec } from "./options.js";
import { words } from "./wasm/engine.js";
import { check, core, keep } from "./wasm/mint.js";

/** Makes a cell in the wasm module. All generators of a node and a clock in this realm share its state, or all of a lease. */
export function wasmCell({ layout, node, maxAheadMs, start, clock }: CellSpec, leased?: number): Cell {
  const engine = core();
  const { wasm, clocks } = engine;
  if (clock && !clocks.has(clock)) clocks.set(clock, ++engine.clockCount);
  const state = leased ?? `${clock ? clocks.get(clock) : 0},${numbersOf(layout)},${node}`;
  const cell = leased ?? keep(`words ${state}`, wasm.words);
  // An ended layout is refused, but a caller's clock is not read before its time.
  const now = clock ? -Infinity : Date.now();
  const handle = keep(`generator ${state},${maxAheadMs},${start}`, () =>
    check(wasm.open(handleOf(layout), cell, node, maxAheadMs, start, engine.seed, now)),
  );
  // `Date.now` is looked up at each call, as tests replace it for a while.
  const nowMs = () => (clock ? reading(clock()) : Date.now());
  const { take, drain } = wasm;
  const { run } = engine;
  // Whoever sets a clock wants to know each ID beforehand.
  const most = clock ? 1 : run.ids.length;
  /** Takes 1 ID, and in the same ms 2, 4, up to 256: what a ms leaves of its run is lost. */
  const begin = (now: number): void => {
    const size = now === run.ms && cell === run.cell ? Math.min(2 * run.end, most) : 1;
    let count = take(handle, now, size, 0);
    if (count < 0 && size > 1) count = take(handle, now, 1, 0);
    check(count);
    run.cell = cell;
    run.ms = now;
    run.at = 0;
    run.end = drain();
    run.ids.set(words(engine).subarray(0, run.end));
  };
  return {
    next() {
      // As `nowMs`, whose call would be most of what is left of the price.
      const now = clock ? reading(clock()) : Date.now();
      if (now !== run.ms || run.at === run.end || cell !== run.cell) begin(now);
      return run.ids[run.at++]!;
    },
    fill(ids, patienceMs) {
      // IDs increase: what is left of the run lies below the batch.
      run.cell = 0;
      const count = check(take(handle, nowMs(), ids.length, patienceMs));
      for (let done = 0; done < count; ) {
        const part = drain();
        ids.set(words(engine).subarray(0, part), done);
        done += part;
      }
      return count;
    },
  };
}

function reading(ms: number): number {
  if (!Number.isFinite(ms)) throw new TypeError(`a clock gives Unix ms, not ${String(ms)}`);
  return Math.floor(ms);
}
