// Generators that never wait, in the module that mints. A call of the module costs more than all other work of `next`
// but reading the clock. So `next` takes a run of IDs at once, and hands them out until the tick of the run ends.
import { numbersOf, wasmLayout } from "../layout/layout.js";
import { mint, type State, shared, type WasmGenerator } from "../wasm/mint.js";
import type { Cell, CellSpec } from "./options.js";

/** The module's generators by state and options: the generators of a lease are freed with its state. */
const generators = new WeakMap<State, Map<string, WasmGenerator>>();

/** Makes a cell in the wasm module. All generators of a node and a clock in this thread share its state, or all of a lease. */
export function wasmCell({ layout, node, maxAheadMs, start, clock }: CellSpec, leased?: State): Cell {
  const { run } = shared();
  const state = leased ?? vouchedState(`${clockNumber(clock)},${numbersOf(layout)},${node}`);
  const generator = generatorOf(state, `${maxAheadMs},${start}`, () => {
    // An ended layout is refused, but a caller's clock is not read before its time.
    const now = clock ? -Infinity : Date.now();
    return new (mint().Generator)(wasmLayout(layout), node, maxAheadMs, start, shared().seed, now);
  });
  // `Date.now` is looked up at each call, as tests replace it for a while.
  const nowMs = () => (clock ? reading(clock()) : Date.now());
  // With a caller's clock it takes one ID at a time, so that callers can predict each ID.
  const most = clock ? 1 : run.ids.length;
  const { epochMs, tickMs } = layout;
  const isInRun = (now: number): boolean => now >= run.fromMs && now < run.toMs;
  /** Takes 1 ID, then within the same tick 2, 4, up to 256: unused IDs are lost at the end of the tick. */
  const begin = (now: number): void => {
    const isSame = isInRun(now) && state === run.state;
    run.end = generator.run(state, run.ids, isSame ? Math.min(2 * run.end, most) : 1, now);
    run.state = state;
    run.ms = now;
    run.fromMs = now - ((now - epochMs) % tickMs);
    run.toMs = run.fromMs + tickMs;
    run.at = 0;
  };
  return {
    next() {
      // Repeats the code of `nowMs`, because a call of it would take most of the remaining time.
      const now = clock ? reading(clock()) : Date.now();
      // Most calls come in the ms of the run.
      const isOver = now !== run.ms && !isInRun(now);
      if (isOver || run.at === run.end || state !== run.state) begin(now);
      return run.ids[run.at++]!;
    },
    fill(ids, patienceMs) {
      // IDs increase, so the unused IDs of the run, which are lower than the batch, are dropped.
      run.state = undefined;
      return generator.fill(state, ids, nowMs(), patienceMs);
    },
  };
}

function vouchedState(key: string): State {
  const { states } = shared();
  let state = states.get(key);
  if (!state) states.set(key, (state = mint().vouched()));
  return state;
}

function generatorOf(state: State, key: string, make: () => WasmGenerator): WasmGenerator {
  const known = generators.get(state) ?? new Map<string, WasmGenerator>();
  generators.set(state, known);
  let generator = known.get(key);
  if (!generator) known.set(key, (generator = make()));
  return generator;
}

/** Returns the number of a caller's clock in this thread, a part of keys; 0 for the system's clock. */
export function clockNumber(clock: (() => number) | undefined): number {
  if (!clock) return 0;
  const known = shared();
  if (!known.clocks.has(clock)) known.clocks.set(clock, ++known.clockCount);
  return known.clocks.get(clock)!;
}

function reading(ms: number): number {
  if (!Number.isFinite(ms)) throw new TypeError(`a clock gives Unix ms, not ${String(ms)}`);
  return Math.floor(ms);
}
